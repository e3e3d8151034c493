// SQLite with RAII and errors as values: a connection, prepared statements, a
// transaction guard. Knows nothing of what is stored.

#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "tidegate/error.hpp"
#include "tidegate/time.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace tidegate::sqlite {

/// Returns `value` as SQLite can keep it: numbers are signed there, so that
/// everything above 2^63 - 1 is stored as 2^63 - 1.
constexpr std::int64_t saturate(std::uint64_t value) {
  constexpr auto most = static_cast<std::uint64_t>(INT64_MAX);
  return static_cast<std::int64_t>(value < most ? value : most);
}

// -- connection ---------------------------------------------------------------

enum class access { read_only, read_write };

/// An open database. Used by one thread at a time.
class connection {
public:
  /// Opens the database in an existing file.
  /// @param vfs name of SQLite's file layer; empty: the default.
  static result<connection> open(const std::filesystem::path& file, access mode,
                                 const std::string& vfs);

  /// Runs statements that answer nothing, separated by semicolons.
  std::optional<error> execute(const std::string& sql);

  /// Returns the first column of the first row, 0 where there is no row.
  result<std::int64_t> integer(const std::string& sql);

  /// Returns how many rows the last `INSERT`, `UPDATE` or `DELETE` changed.
  std::int64_t changes() const;

  /// Makes a failing call wait for another connection's lock this long.
  void busy_timeout(std::chrono::milliseconds wait);

  /// Says whether closing the last connection may move the write-ahead log into
  /// the file. On by default.
  void checkpoint_on_close(bool enabled);

  /// Returns what SQLite says about the last call that failed.
  error failure(std::string_view what) const;

  sqlite3* handle() const noexcept {
    return handle_.get();
  }

private:
  struct closer {
    void operator()(sqlite3* db) const noexcept;
  };

  std::unique_ptr<sqlite3, closer> handle_;
};

// -- statement ----------------------------------------------------------------

/// One use of a prepared statement: bind every parameter in order, step, take
/// the columns in order. Resets the statement at the end of its life, so that
/// it never keeps a read transaction open.
class execution {
public:
  explicit execution(sqlite3* db, sqlite3_stmt* stmt, int status);
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;
  ~execution();

  // -- parameters -------------------------------------------------------------

  template <class T>
  requires std::integral<T> || std::is_enum_v<T> execution& bind(T value) {
    if constexpr (std::same_as<T, std::uint64_t>)
      return bind_integer(saturate(value));
    else
      return bind_integer(static_cast<std::int64_t>(value));
  }

  execution& bind(duration value) {
    return bind_integer(value.count());
  }

  execution& bind(wall_time value) {
    return bind_integer(value.time_since_epoch().count());
  }

  execution& bind(double value);

  /// Binds any bytes as text. They must outlive the execution.
  execution& bind(std::string_view value);

  /// Binds any bytes as text and keeps a copy of its own.
  execution& bind_copy(std::string_view value);

  /// Binds any bytes as a blob. They must outlive the execution.
  execution& bind_blob(std::string_view value);

  execution& bind_null();

  template <class T>
  execution& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }

  // -- rows -------------------------------------------------------------------

  /// Moves to the next row. Returns false when there is none, or on an error.
  bool next();

  /// Runs a statement whose rows do not matter.
  std::optional<error> run();

  /// Returns why `next` returned false, nothing where the rows had ended.
  std::optional<error> failure() const;

  // -- columns of the present row ---------------------------------------------

  template <class T>
  requires std::integral<T> || std::is_enum_v<T> execution& take(T& value) {
    value = static_cast<T>(take_integer());
    return *this;
  }

  execution& take(duration& value) {
    value = duration{take_integer()};
    return *this;
  }

  execution& take(wall_time& value) {
    value = wall_time{duration{take_integer()}};
    return *this;
  }

  execution& take(double& value);

  /// Takes the bytes of a text or a blob; null counts as empty.
  execution& take(std::string& value);

  template <class T>
  execution& take(std::optional<T>& value) {
    value.reset();
    if (null_ahead())
      return skip();
    return take(value.emplace());
  }

  /// Returns whether the next column is null.
  bool null_ahead() const;

  /// Passes over `n` columns.
  execution& skip(int n = 1) {
    column_ += n;
    return *this;
  }

private:
  execution& bind_integer(std::int64_t value);
  std::int64_t take_integer();
  execution& bound(int status);

  sqlite3* db_;
  sqlite3_stmt* stmt_;
  int status_;
  int parameter_ = 0;
  int column_ = 0;
};

/// A statement that is prepared when it is first started, and then kept. Must
/// not be started again while an execution of it lives, nor outlive its
/// connection.
class statement {
public:
  statement(const connection& db, std::string sql);

  /// Begins a use. Where the statement cannot be prepared, the execution fails
  /// with that error when it is stepped.
  execution start();

private:
  struct finalizer {
    void operator()(sqlite3_stmt* stmt) const noexcept;
  };

  sqlite3* db_;
  std::string sql_;
  std::unique_ptr<sqlite3_stmt, finalizer> stmt_;
};

// -- transaction --------------------------------------------------------------

/// A transaction that is rolled back unless it was committed.
class transaction {
public:
  enum class kind { read, write };

  /// Begins one; `failure` says whether that worked. The connection must
  /// outlive it.
  transaction(connection& db, kind what);
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  ~transaction();

  /// Returns why the transaction could not begin, nothing where it has.
  const std::optional<error>& failure() const noexcept {
    return failure_;
  }

  /// Makes everything since the beginning durable. After an error it is not
  /// known what has reached the disk; nothing of it is seen by connections
  /// that are open.
  std::optional<error> commit();

private:
  connection& db_;
  std::optional<error> failure_;
};

} // namespace tidegate::sqlite
