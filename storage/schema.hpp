// The tables and how a file of an earlier version becomes one of this version.

#pragma once

#include <optional>

#include "storage/sqlite.hpp"
#include "tidegate/error.hpp"

namespace tidegate {

/// Version of the tables that this build reads and writes: the number of
/// migrations. Stored as `user_version`.
extern const int schema_version;

/// Says why `db` must not be used: it is no database, belongs to another
/// program, or was written by a newer Tidegate. Writes nothing.
std::optional<error> refuse_foreign(sqlite::connection& db);

/// Brings `db` from whatever version it has to `schema_version`, each step in a
/// transaction of its own: a crash leaves the file at some version in between,
/// and the next call goes on from there.
/// @pre `refuse_foreign` had nothing against it
std::optional<error> migrate(sqlite::connection& db);

} // namespace tidegate
