// API keys in a data file, for a program that is no server.

#pragma once

#include <vector>

#include "tidegate/sqlite_store.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Adds a key to the data file and returns its number. A server that uses the
/// file notices. Where there is no file it is created, and a file of an earlier
/// version is brought to the present one, unless a server is using it.
result<api_key_id> create_api_key(const sqlite_options& options,
                                  const api_key_record& key);

/// Returns the keys in the data file, oldest first. The file must exist.
result<std::vector<api_key_record>>
list_api_keys(const sqlite_options& options);

/// Removes a key from the data file, which must exist. Returns whether it was
/// there.
result<bool> revoke_api_key(const sqlite_options& options, api_key_id id);

} // namespace tidegate
