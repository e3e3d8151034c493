#include "storage/sqlite_access.hpp"

#include <string>

#include "storage/api_key_table.hpp"
#include "storage/guarded.hpp"
#include "storage/schema.hpp"

namespace tidegate {

namespace {

error naming(const sqlite_options& options, const error& reason) {
  return {reason.code, options.file.string() + ": " + reason.message};
}

std::optional<error> require_file(const sqlite_options& options) {
  std::error_code failed;
  if (std::filesystem::exists(options.file, failed))
    return std::nullopt;
  return error{errc::storage_unavailable,
               options.file.string() + " does not exist"};
}

// A connection beside that of a server, if there is one: no claim on the file.
result<sqlite::connection> connect(const sqlite_options& options) {
  auto db = sqlite::connection::open(options.file, sqlite::access::read_write,
                                     options.vfs);
  if (!db)
    return db;
  db->busy_timeout(options.busy_timeout);
  db->checkpoint_on_close(false);
  if (auto reason = refuse_foreign(*db))
    return *reason;
  db->checkpoint_on_close(true);
  if (auto reason = db->execute("PRAGMA synchronous = FULL"))
    return *reason;
  return db;
}

// Opens the file in the present version. To create it or to bring it there is
// what a server does at its start, with a claim on the file.
result<sqlite::connection> open_present(const sqlite_options& options) {
  if (!require_file(options)) {
    auto db = connect(options);
    if (!db)
      return db;
    auto version = db->integer("PRAGMA user_version");
    if (!version)
      return version.reason();
    if (*version == schema_version)
      return db;
  }
  auto made = open_sqlite_store(options);
  if (!made)
    return made.reason();
  made->reset();
  return connect(options);
}

// Runs `step` on the keys in one transaction that is synced when it is done.
template <class T, class F>
result<T> change(const sqlite_options& options, F step) {
  return guarded([&]() -> result<T> {
    auto db = open_present(options);
    if (!db)
      return db.reason();
    sqlite::transaction changes{*db, sqlite::transaction::kind::write};
    if (changes.failure())
      return *changes.failure();
    api_key_table keys{*db};
    T answer{};
    if (auto reason = step(keys, answer))
      return *reason;
    if (auto reason = changes.commit())
      return *reason;
    return answer;
  });
}

} // namespace

result<api_key_id> create_api_key(const sqlite_options& options,
                                  const api_key_record& key) {
  auto done = change<api_key_id>(options, [&](auto& keys, auto& id) {
    return keys.insert(key, id);
  });
  return done ? done : naming(options, done.reason());
}

result<std::vector<api_key_record>>
list_api_keys(const sqlite_options& options) {
  using keys = std::vector<api_key_record>;
  if (auto reason = require_file(options))
    return *reason;
  auto done = guarded([&]() -> result<keys> {
    auto db = open_present(options);
    if (!db)
      return db.reason();
    return api_key_table{*db}.load();
  });
  return done ? done : naming(options, done.reason());
}

result<bool> revoke_api_key(const sqlite_options& options, api_key_id id) {
  if (auto reason = require_file(options))
    return *reason;
  auto done = change<bool>(options, [&](auto& keys, auto& was_there) {
    return keys.remove(id, was_there);
  });
  return done ? done : naming(options, done.reason());
}

} // namespace tidegate
