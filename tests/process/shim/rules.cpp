#include "rules.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace tidegate::shim {

namespace {

// The calls of libc are what this library takes the place of.

int open_file(const std::string& name, int flags) {
  return static_cast<int>(
    syscall(SYS_openat, AT_FDCWD, name.c_str(), flags | O_CLOEXEC, 0600));
}

void close_file(int fd) {
  syscall(SYS_close, fd);
}

std::string control_file() {
  auto name = std::getenv("FAULTS_CONTROL");
  return name == nullptr ? std::string{} : std::string{name};
}

std::string read_file(const std::string& name) {
  std::string text(1024, '\0');
  auto fd = open_file(name, O_RDONLY);
  if (fd < 0)
    return {};
  auto size = syscall(SYS_read, fd, text.data(), text.size());
  close_file(fd);
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return text;
}

std::string_view name_of(kind what) {
  switch (what) {
    case kind::write:
      return "write";
    case kind::sync:
      return "sync";
    case kind::checkpoint:
      return "checkpoint";
    case kind::send_out:
      return "send_out";
    default:
      return "send_in";
  }
}

constexpr std::pair<std::string_view, action> actions[] = {
  {"kill_before", action::kill_before},
  {"kill_after", action::kill_after},
  {"full", action::full},
  {"fail", action::fail},
  {"tear", action::tear},
  {"lie", action::lie},
  {"slow", action::slow},
};

action parse_action(std::string_view name) {
  for (const auto& [each, what] : actions)
    if (each == name)
      return what;
  // A test that misspells a rule must not pass.
  std::abort();
}

std::string_view name_of(action what) {
  for (const auto& [name, each] : actions)
    if (each == what)
      return name;
  return "pass";
}

bool concerns(const rule& r, kind what) {
  if (r.kind == "disk")
    return what != kind::send_out && what != kind::send_in;
  return r.kind == name_of(what);
}

/// Returns whether the rule is broken by this call, which it counts.
bool strikes(rule& r) {
  ++r.seen;
  return r.seen >= r.first && (r.count == 0 || r.seen < r.first + r.count);
}

} // namespace

action rule_book::judge(kind what) {
  std::lock_guard guard{mutex_};
  reload();
  for (auto& r : rules_)
    if (concerns(r, what) && strikes(r)) {
      note(r, what);
      return r.what;
    }
  return action::pass;
}

void rule_book::die() {
  std::lock_guard guard{mutex_};
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;)
    pause();
}

void rule_book::reload() {
  auto text = read_file(control_file());
  if (text == text_)
    return;
  text_ = text;
  rules_.clear();
  std::istringstream lines{text};
  std::string name;
  rule r;
  while (lines >> name >> r.kind >> r.first >> r.count) {
    r.what = parse_action(name);
    rules_.push_back(r);
  }
}

void rule_book::note(const rule& broken, kind what) {
  auto fd = open_file(control_file() + ".hits", O_WRONLY | O_CREAT | O_APPEND);
  if (fd < 0)
    std::abort();
  std::string line{name_of(broken.what)};
  line += ' ';
  line += name_of(what);
  line += '\n';
  syscall(SYS_write, fd, line.data(), line.size());
  close_file(fd);
}

rule_book& rules() {
  // Never destroyed: calls are made until the process has ended.
  static auto& book = *new rule_book;
  return book;
}

} // namespace tidegate::shim
