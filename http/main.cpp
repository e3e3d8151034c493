// The program `tidegate`: joins the layers.

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/command_line.hpp"
#include "config/config_file.hpp"
#include "config/settings.hpp"
#include "http/cli_commands.hpp"
#include "http/client_trust.hpp"
#include "http/first_key.hpp"
#include "http/key_commands.hpp"
#include "http/log.hpp"
#include "http/out_of_memory.hpp"
#include "http/printable.hpp"
#include "http/process.hpp"
#include "http/server_tls.hpp"
#include "http/version.hpp"
#include "storage/sqlite_access.hpp"
#include "storage/sqlite_process.hpp"
#include "tidegate/sqlite_backup.hpp"
#include "tidegate/sqlite_store.hpp"

namespace {

using namespace tidegate;

constexpr int exit_failure = 1;
constexpr int exit_usage = 2;

/// Connections in and out are files to the system.
void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

/// Lets large blocks go back to the system when they are freed. glibc would
/// keep them after the first ones.
void return_large_blocks() {
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);
}

http::log_severity to_severity(config::log_level level) {
  switch (level) {
    case config::log_level::error:
      return http::log_severity::error;
    case config::log_level::warn:
      return http::log_severity::warn;
    case config::log_level::info:
      return http::log_severity::info;
    case config::log_level::debug:
      return http::log_severity::debug;
  }
  return http::log_severity::info;
}

result<http::target_policy>
make_target_policy(const std::vector<std::string>& allowed) {
  std::vector<http::ip_network> networks;
  for (const auto& text : allowed) {
    auto network = http::parse_ip_network(text);
    if (!network)
      return network.reason();
    networks.push_back(*network);
  }
  return http::target_policy{std::move(networks)};
}

int fail(http::log& log, const std::string& why) {
  log.write(http::log_severity::error, why);
  return exit_failure;
}

int refuse(const std::string& why) {
  std::cerr << "tidegate: " << why << '\n';
  return exit_usage;
}

/// Where a server whose data is in `data` keeps everything.
sqlite_options store_in(const std::filesystem::path& data) {
  sqlite_options storage;
  storage.file = data / "tidegate.db";
  return storage;
}

/// Returns nothing where no alerts are told.
result<std::optional<alert_options>>
make_alert_options(const config::settings& with,
                   const http::target_policy& targets) {
  if (with.alert_url.empty())
    return std::optional<alert_options>{};
  if (auto wrong = http::complaint_about_webhook(targets, with.alert_url))
    return error{errc::validation_failed, *wrong};
  alert_options result;
  result.webhook_url = with.alert_url;
  result.settings = {with.alert_dead, with.alert_held, with.alert_depth,
                     with.alert_age, with.alert_window};
  return std::optional{std::move(result)};
}

/// Returns what is wrong with the files that are named.
std::optional<std::string>
complaint_about_certificates(const config::settings& with) {
  if (!with.tls_cert.empty())
    if (auto own = http::server_tls::load(with.tls_cert.string(),
                                          with.tls_key.string());
        !own)
      return own.reason().message;
  if (!with.trusted_ca.empty())
    if (auto trust = http::client_trust::make(with.trusted_ca.string()); !trust)
      return trust.reason().message;
  return std::nullopt;
}

int run(const config::serve& command) {
  http::end_when_out_of_memory();
  const auto& with = command.with;
  http::log log{
    {to_severity(with.log_level), with.log_format == config::log_format::json}};
  auto targets = make_target_policy(with.allow_target);
  if (!targets)
    return refuse("--allow-target: " + targets.reason().message);
  auto alerts = make_alert_options(with, *targets);
  if (!alerts)
    return refuse("--alert-url: " + alerts.reason().message);
  std::shared_ptr<http::server_tls> tls;
  if (!with.tls_cert.empty()) {
    auto loaded = http::server_tls::load(with.tls_cert.string(),
                                         with.tls_key.string());
    if (!loaded)
      return fail(log, loaded.reason().message);
    tls = std::move(*loaded);
  }
  allow_many_files();
  return_large_blocks();
  std::error_code failed;
  std::filesystem::create_directories(with.data, failed);
  if (failed)
    return fail(log,
                "cannot make " + with.data.string() + ": " + failed.message());
  skip_sqlite_memory_statistics();
  auto store = open_sqlite_store(store_in(with.data));
  if (!store)
    return fail(log, store.reason().message);
  auto key = http::first_key(config::process_environment("TIDEGATE_API_KEY"),
                             with.data / "api-key", std::cerr,
                             isatty(STDERR_FILENO) == 1);
  if (!key)
    return fail(log, key.reason().message);
  http::process_options options;
  options.keys.add(*key, http::scope_set::all());
  options.request_rate_max = with.max_request_rate;
  options.server.address = with.listen_host;
  options.server.port = with.listen_port;
  options.server.tls = tls;
  options.server.body_bytes_max = with.max_body;
  options.threads = with.threads != 0
                      ? with.threads
                      : std::max(1u, std::thread::hardware_concurrency());
  options.targets = std::move(*targets);
  options.dns_servers = with.dns_server;
  options.trusted_ca_file = with.trusted_ca.string();
  options.drain_timeout = with.drain_timeout;
  options.in_flight_max = with.max_in_flight;
  options.alerts = std::move(*alerts);
  options.publish_price = with.publish_price;
  options.data_file = store_in(with.data).file;
  options.metrics_queues = with.metrics_queues;
  options.store = std::move(*store);
  options.on_listening = [&with](std::uint16_t port) {
    auto literal = with.listen_host.find(':') == std::string::npos
                     ? with.listen_host
                     : "[" + with.listen_host + "]";
    const auto* scheme = with.tls_cert.empty() ? "http" : "https";
    std::cout << "listening " << scheme << "://" << literal << ':' << port
              << std::endl;
  };
  return http::run_process(std::move(options), log);
}

wall_time now() {
  auto since = std::chrono::system_clock::now().time_since_epoch();
  return wall_time{std::chrono::duration_cast<duration>(since)};
}

int fail(const std::string& why) {
  std::cerr << "tidegate: " << why << '\n';
  return exit_failure;
}

int run(const config::create_key& command) {
  auto made = http::make_key(
    {command.project, command.scopes, command.name, command.expires_at}, now());
  if (!made)
    return refuse(made.reason().message);
  std::error_code failed;
  std::filesystem::create_directories(command.data, failed);
  if (failed)
    return fail("cannot make " + command.data.string() + ": "
                + failed.message());
  auto store = store_in(command.data);
  auto was_there = std::filesystem::exists(store.file, failed);
  auto id = create_api_key(store, made->record);
  if (!id)
    return fail(id.reason().message);
  if (!was_there)
    std::cerr << "tidegate: there was no data in "
              << http::printable(command.data.string())
              << ": a new store has been made there\n";
  made->record.id = *id;
  std::cout << http::print_created(*made);
  return EXIT_SUCCESS;
}

int run(const config::list_keys& command) {
  auto keys = list_api_keys(store_in(command.data));
  if (!keys)
    return fail(keys.reason().message);
  std::cout << (command.json ? http::print_key_json(*keys)
                             : http::print_key_table(*keys));
  return EXIT_SUCCESS;
}

int run(const config::revoke_key& command) {
  auto id = parse_api_key_id(command.id);
  if (!id)
    return refuse("ID must be that of a key, such as key_3, got \"" + command.id
                  + '"');
  auto done = revoke_api_key(store_in(command.data), *id);
  if (!done)
    return fail(done.reason().message);
  if (!*done)
    return fail("there is no " + command.id);
  std::cout << "revoked " << command.id << '\n';
  return EXIT_SUCCESS;
}

int run(const config::backup& command) {
  if (auto reason = back_up(store_in(command.data), command.file))
    return fail(reason->message);
  std::cout << "copied to " << command.file.string() << '\n';
  return EXIT_SUCCESS;
}

int run(const config::call_api& command) {
  http::cli_world world{
    std::cin,  std::cout,
    std::cerr, isatty(STDOUT_FILENO) == 1,
    now,       [](duration span) {
                          std::this_thread::sleep_for(span); }};
  return http::run_cli({{command.url, command.key, command.tls_ca},
                        command.json,
                        command.group,
                        command.verb,
                        command.words},
                       world);
}

int run(const config::check_config& command) {
  auto checked = config::check_file(command.file);
  auto& wrong = checked.problems;
  auto targets = make_target_policy(checked.with.allow_target);
  if (!targets)
    wrong.push_back(command.file.string()
                    + ": allow_target: " + targets.reason().message);
  else if (auto alerts = make_alert_options(checked.with, *targets); !alerts)
    wrong.push_back(command.file.string()
                    + ": alert_url: " + alerts.reason().message);
  if (auto problem = complaint_about_certificates(checked.with);
      problem && wrong.empty())
    wrong.push_back(command.file.string() + ": " + *problem);
  for (const auto& line : wrong)
    std::cout << line << '\n';
  return wrong.empty() ? EXIT_SUCCESS : exit_failure;
}

int run(const config::show_version&) {
  std::cout << http::version_text();
  return EXIT_SUCCESS;
}

int run(const config::show_help& command) {
  std::cout << command.text;
  return EXIT_SUCCESS;
}

} // namespace

int main(int argc, char** argv) {
  auto command = config::parse_command_line({argv + 1, argv + argc},
                                            config::process_environment);
  if (!command)
    return refuse(command.reason().message);
  auto code = std::visit([](const auto& what) { return run(what); }, *command);
  // What nobody has seen was not said: a key is shown this once. A server has
  // its log.
  std::cout.flush();
  if (code == EXIT_SUCCESS && !std::cout
      && !std::holds_alternative<config::serve>(*command))
    return fail("the output could not be written");
  return code;
}
