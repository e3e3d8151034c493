// A wall clock that is set while a server runs. The clock that only goes on is
// the machine's.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>

#define FAULTY extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::int64_t second_us = 1'000'000;

/// The file that $FAULTS_CLOCK names: 8 bytes, by how many microseconds the
/// wall clock is ahead. Null where the variable is not set.
const std::atomic<std::int64_t>* map_file() {
  auto name = std::getenv("FAULTS_CLOCK");
  if (name == nullptr)
    return nullptr;
  auto fd = open(name, O_RDONLY | O_CLOEXEC);
  auto where = mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, fd,
                    0);
  // A test whose clock does not move must not pass.
  if (fd < 0 || where == MAP_FAILED)
    std::abort();
  return static_cast<const std::atomic<std::int64_t>*>(where);
}

std::int64_t ahead_us() {
  static const auto* file = map_file();
  return file == nullptr ? 0 : file->load();
}

bool is_wall(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

timespec moved(const timespec& by_machine) {
  auto us = ahead_us();
  auto ns = by_machine.tv_nsec + us % second_us * 1000;
  auto result = timespec{by_machine.tv_sec + us / second_us, ns};
  if (result.tv_nsec < 0) {
    result.tv_nsec += second_us * 1000;
    --result.tv_sec;
  } else if (result.tv_nsec >= second_us * 1000) {
    result.tv_nsec -= second_us * 1000;
    ++result.tv_sec;
  }
  return result;
}

timespec wall_now() {
  static auto real = reinterpret_cast<decltype(&::clock_gettime)>(
    dlsym(RTLD_NEXT, "clock_gettime"));
  timespec now{};
  real(CLOCK_REALTIME, &now);
  return moved(now);
}

} // namespace

FAULTY int clock_gettime(clockid_t clock, timespec* now) {
  static auto real = reinterpret_cast<decltype(&::clock_gettime)>(
    dlsym(RTLD_NEXT, "clock_gettime"));
  auto result = real(clock, now);
  if (result == 0 && is_wall(clock))
    *now = moved(*now);
  return result;
}

FAULTY int gettimeofday(timeval* now, void*) noexcept {
  auto wall = wall_now();
  *now = {wall.tv_sec, wall.tv_nsec / 1000};
  return 0;
}

FAULTY time_t time(time_t* now) noexcept {
  auto wall = wall_now();
  if (now != nullptr)
    *now = wall.tv_sec;
  return wall.tv_sec;
}
