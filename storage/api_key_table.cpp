#include "storage/api_key_table.hpp"

namespace tidegate {

api_key_table::api_key_table(sqlite::connection& db)
  : db_(db),
    draw_(db,
          "UPDATE meta SET last_api_key = last_api_key + 1, "
          "api_keys_version = api_keys_version + 1 RETURNING last_api_key"),
    insert_(db,
            "INSERT INTO api_keys (id, digest, project, scopes, name, "
            "created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)"),
    remove_(db, "DELETE FROM api_keys WHERE id = ?"),
    mark_(db, "UPDATE meta SET api_keys_version = api_keys_version + 1"),
    select_(db,
            "SELECT id, digest, project, scopes, name, created_at, expires_at "
            "FROM api_keys ORDER BY id"),
    version_(db, "SELECT api_keys_version FROM meta") {
  // nop
}

std::optional<error> api_key_table::insert(const api_key_record& what,
                                           api_key_id& drawn) {
  auto number = draw_.start();
  if (!number.next()) {
    auto reason = number.failure();
    return reason ? reason
                  : error{errc::storage_unavailable, "meta has no row"};
  }
  number.take(drawn.value);
  if (auto reason = number.run())
    return reason;
  auto row = insert_.start();
  row.bind(drawn.value)
    .bind_blob(what.digest)
    .bind(what.project)
    .bind(what.scopes)
    .bind(what.name)
    .bind(what.created_at)
    .bind(what.expires_at);
  return row.run();
}

std::optional<error> api_key_table::remove(api_key_id id, bool& was_there) {
  auto row = remove_.start();
  row.bind(id.value);
  if (auto reason = row.run())
    return reason;
  was_there = db_.changes() == 1;
  return was_there ? mark_.start().run() : std::nullopt;
}

result<std::vector<api_key_record>> api_key_table::load() {
  std::vector<api_key_record> all;
  auto row = select_.start();
  while (row.next()) {
    auto& key = all.emplace_back();
    row.take(key.id.value)
      .take(key.digest)
      .take(key.project)
      .take(key.scopes)
      .take(key.name)
      .take(key.created_at)
      .take(key.expires_at);
  }
  if (auto reason = row.failure())
    return *reason;
  return all;
}

result<std::uint64_t> api_key_table::version() {
  auto row = version_.start();
  std::uint64_t number = 0;
  if (row.next())
    row.take(number);
  if (auto reason = row.failure())
    return *reason;
  return number;
}

} // namespace tidegate
