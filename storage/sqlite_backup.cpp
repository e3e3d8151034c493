#include "tidegate/sqlite_backup.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sqlite3.h>
#include <string>
#include <system_error>
#include <unistd.h>

#include "storage/data_file.hpp"
#include "storage/guarded.hpp"
#include "storage/schema.hpp"
#include "storage/sqlite.hpp"

namespace tidegate {

namespace {

namespace fs = std::filesystem;

error refusal(const std::string& what, const fs::path& file) {
  auto why = std::generic_category().message(errno);
  return {errc::storage_unavailable, what + " " + file.string() + ": " + why};
}

error taken(const fs::path& copy) {
  return {errc::storage_unavailable,
          copy.string() + " exists already and is not overwritten"};
}

/// A new file with a name of its own, gone at the end of its life unless it was
/// renamed.
class partial_file {
public:
  explicit partial_file(const fs::path& copy) : name_(copy) {
    name_ += ".partial-" + std::to_string(::getpid());
  }

  partial_file(const partial_file&) = delete;
  partial_file& operator=(const partial_file&) = delete;

  ~partial_file() {
    if (made_)
      ::unlink(name_.c_str());
  }

  const fs::path& name() const {
    return name_;
  }

  std::optional<error> make() {
    auto fd = ::open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                     S_IRUSR | S_IWUSR);
    if (fd < 0)
      return refusal("cannot create", name_);
    ::close(fd);
    made_ = true;
    return std::nullopt;
  }

  std::optional<error> sync() const {
    auto fd = ::open(name_.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0)
      return refusal("cannot open", name_);
    auto status = ::fsync(fd);
    auto reason = refusal("cannot sync", name_);
    ::close(fd);
    if (status != 0)
      return reason;
    return std::nullopt;
  }

  /// Gives it its name, if nothing has that name.
  std::optional<error> rename(const fs::path& copy) {
    auto status = ::renameat2(AT_FDCWD, name_.c_str(), AT_FDCWD, copy.c_str(),
                              RENAME_NOREPLACE);
    if (status == 0) {
      made_ = false;
      return std::nullopt;
    }
    // Not every file system can do that; where it cannot, a second name can
    // take no other's place either.
    if (errno == EINVAL || errno == ENOSYS)
      status = ::link(name_.c_str(), copy.c_str());
    if (status != 0 && errno == EEXIST)
      return taken(copy);
    if (status != 0)
      return refusal("cannot create", copy);
    return std::nullopt;
  }

private:
  fs::path name_;
  bool made_ = false;
};

/// Opens the data file beside a server, if there is one: no claim on the file.
result<sqlite::connection> open_source(const sqlite_options& options) {
  auto db = sqlite::connection::open(options.file, sqlite::access::read_only,
                                     options.vfs);
  if (!db)
    return db;
  db->busy_timeout(options.busy_timeout);
  if (auto reason = refuse_foreign(*db))
    return *reason;
  return db;
}

/// Copies page by page.
/// @pre `from` is in a transaction, so that all pages are of one moment
std::optional<error> copy_pages(sqlite::connection& from,
                                sqlite::connection& to) {
  auto* run = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  if (run == nullptr)
    return to.failure("cannot begin the copy");
  sqlite3_backup_step(run, -1);
  if (sqlite3_backup_finish(run) != SQLITE_OK)
    return to.failure("cannot copy");
  return std::nullopt;
}

std::optional<error> copy_into(sqlite::connection& from, const fs::path& file) {
  auto to = sqlite::connection::open(file, sqlite::access::read_write,
                                     std::string{});
  if (!to)
    return to.reason();
  // Nobody reads it before it is whole, and it is synced then.
  if (auto reason =
        to->execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"))
    return reason;
  sqlite::transaction moment{from, sqlite::transaction::kind::read};
  if (moment.failure())
    return moment.failure();
  // The transaction sees what is there at its first read.
  if (auto first = from.integer("SELECT count(*) FROM sqlite_schema"); !first)
    return first.reason();
  return copy_pages(from, *to);
}

std::optional<error> copy_file(const sqlite_options& options,
                               const fs::path& copy) {
  auto from = open_source(options);
  if (!from)
    return from.reason();
  partial_file partial{copy};
  if (auto reason = partial.make())
    return reason;
  if (auto reason = copy_into(*from, partial.name()))
    return reason;
  if (auto reason = partial.sync())
    return reason;
  if (auto reason = partial.rename(copy))
    return reason;
  return sync_directory_of(copy);
}

} // namespace

std::optional<error> back_up(const sqlite_options& options,
                             const fs::path& copy) {
  std::error_code failed;
  if (!fs::exists(options.file, failed))
    return error{errc::storage_unavailable,
                 options.file.string() + " does not exist"};
  if (fs::exists(fs::symlink_status(copy, failed)))
    return taken(copy);
  auto done = guarded([&]() -> result<bool> {
    if (auto reason = copy_file(options, copy))
      return *reason;
    return true;
  });
  if (!done)
    return done.reason();
  return std::nullopt;
}

} // namespace tidegate
