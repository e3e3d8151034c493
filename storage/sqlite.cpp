#include "storage/sqlite.hpp"

#include <cassert>
#include <sqlite3.h>

namespace tidegate::sqlite {

namespace {

/// Returns as much of a statement as tells which one it is.
std::string shorten(std::string_view what) {
  constexpr std::size_t shown_max = 60;
  if (what.size() <= shown_max)
    return std::string{what};
  return std::string{what.substr(0, shown_max)} + "...";
}

error failure_of(sqlite3* db, std::string_view what) {
  auto code = sqlite3_extended_errcode(db);
  return {errc::storage_unavailable, shorten(what) + ": " + sqlite3_errmsg(db)
                                       + " (SQLite " + std::to_string(code)
                                       + ")"};
}

} // namespace

// -- connection ---------------------------------------------------------------

void connection::closer::operator()(sqlite3* db) const noexcept {
  sqlite3_close_v2(db);
}

result<connection> connection::open(const std::filesystem::path& file,
                                    access mode, const std::string& vfs) {
  auto flags = SQLITE_OPEN_NOMUTEX
               | (mode == access::read_only ? SQLITE_OPEN_READONLY
                                            : SQLITE_OPEN_READWRITE);
  sqlite3* db = nullptr;
  auto status = sqlite3_open_v2(file.c_str(), &db, flags,
                                vfs.empty() ? nullptr : vfs.c_str());
  connection opened;
  opened.handle_.reset(db);
  if (db == nullptr)
    return error{errc::storage_unavailable, "no memory for SQLite"};
  if (status != SQLITE_OK)
    return opened.failure("cannot open it");
  sqlite3_extended_result_codes(db, 1);
  return opened;
}

std::optional<error> connection::execute(const std::string& sql) {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr)
      != SQLITE_OK)
    return failure(sql);
  return std::nullopt;
}

result<std::int64_t> connection::integer(const std::string& sql) {
  statement query{*this, sql};
  auto rows = query.start();
  std::int64_t value = 0;
  if (rows.next())
    rows.take(value);
  else if (auto reason = rows.failure())
    return *reason;
  return value;
}

std::int64_t connection::changes() const {
  return sqlite3_changes64(handle());
}

void connection::busy_timeout(std::chrono::milliseconds wait) {
  sqlite3_busy_timeout(handle(), static_cast<int>(wait.count()));
}

void connection::checkpoint_on_close(bool enabled) {
  sqlite3_db_config(handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, enabled ? 0 : 1,
                    nullptr);
}

error connection::failure(std::string_view what) const {
  return failure_of(handle(), what);
}

// -- execution ----------------------------------------------------------------

execution::execution(sqlite3* db, sqlite3_stmt* stmt, int status)
  : db_(db), stmt_(stmt), status_(status) {
  // nop
}

execution::~execution() {
  sqlite3_reset(stmt_);
}

execution& execution::bound(int status) {
  if (status_ == SQLITE_OK)
    status_ = status;
  return *this;
}

execution& execution::bind_integer(std::int64_t value) {
  return bound(sqlite3_bind_int64(stmt_, ++parameter_, value));
}

execution& execution::bind(double value) {
  return bound(sqlite3_bind_double(stmt_, ++parameter_, value));
}

execution& execution::bind(std::string_view value) {
  // A null pointer would bind null, even with a length.
  auto* bytes = value.data() == nullptr ? "" : value.data();
  return bound(sqlite3_bind_text64(stmt_, ++parameter_, bytes, value.size(),
                                   SQLITE_STATIC, SQLITE_UTF8));
}

execution& execution::bind_copy(std::string_view value) {
  auto* bytes = value.data() == nullptr ? "" : value.data();
  return bound(sqlite3_bind_text64(stmt_, ++parameter_, bytes, value.size(),
                                   SQLITE_TRANSIENT, SQLITE_UTF8));
}

execution& execution::bind_blob(std::string_view value) {
  auto* bytes = value.data() == nullptr ? "" : value.data();
  return bound(sqlite3_bind_blob64(stmt_, ++parameter_, bytes, value.size(),
                                   SQLITE_STATIC));
}

execution& execution::bind_null() {
  return bound(sqlite3_bind_null(stmt_, ++parameter_));
}

bool execution::next() {
  if (status_ != SQLITE_OK && status_ != SQLITE_ROW)
    return false;
  assert(parameter_ == sqlite3_bind_parameter_count(stmt_));
  column_ = 0;
  status_ = sqlite3_step(stmt_);
  return status_ == SQLITE_ROW;
}

std::optional<error> execution::run() {
  while (next()) {
    // nop
  }
  return failure();
}

std::optional<error> execution::failure() const {
  if (status_ == SQLITE_OK || status_ == SQLITE_ROW || status_ == SQLITE_DONE)
    return std::nullopt;
  auto* sql = stmt_ ? sqlite3_sql(stmt_) : "cannot prepare a statement";
  return failure_of(db_, sql);
}

std::int64_t execution::take_integer() {
  return sqlite3_column_int64(stmt_, column_++);
}

execution& execution::take(double& value) {
  value = sqlite3_column_double(stmt_, column_++);
  return *this;
}

execution& execution::take(std::string& value) {
  auto* bytes = static_cast<const char*>(sqlite3_column_blob(stmt_, column_));
  auto size = static_cast<std::size_t>(sqlite3_column_bytes(stmt_, column_));
  value.assign(bytes ? bytes : "", size);
  ++column_;
  return *this;
}

bool execution::null_ahead() const {
  return sqlite3_column_type(stmt_, column_) == SQLITE_NULL;
}

// -- statement ----------------------------------------------------------------

void statement::finalizer::operator()(sqlite3_stmt* stmt) const noexcept {
  sqlite3_finalize(stmt);
}

statement::statement(const connection& db, std::string sql)
  : db_(db.handle()), sql_(std::move(sql)) {
  // nop
}

execution statement::start() {
  auto status = SQLITE_OK;
  if (stmt_ == nullptr) {
    sqlite3_stmt* prepared = nullptr;
    status = sqlite3_prepare_v3(db_, sql_.c_str(),
                                static_cast<int>(sql_.size()),
                                SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
    stmt_.reset(prepared);
  }
  return execution{db_, stmt_.get(), status};
}

// -- transaction --------------------------------------------------------------

transaction::transaction(connection& db, kind what)
  : db_(db),
    failure_(db.execute(what == kind::write ? "BEGIN IMMEDIATE" : "BEGIN")) {
  // nop
}

transaction::~transaction() {
  // SQLite itself rolls back on some errors; then there is nothing left to do.
  if (sqlite3_get_autocommit(db_.handle()) == 0)
    sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

std::optional<error> transaction::commit() {
  return db_.execute("COMMIT");
}

} // namespace tidegate::sqlite
