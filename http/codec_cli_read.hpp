// Members of a JSON document by name, none being an error. Part of the codec of
// the command line.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tidegate/error.hpp"
#include "tidegate/time.hpp"

namespace tidegate::http {

/// Reads a document that has to be an object.
result<nlohmann::json> read_object(std::string_view body);

/// Returns the member of an object, or a null where there is none, or where
/// `object` is something else.
const nlohmann::json& member_of(const nlohmann::json& object, const char* name);

/// Returns what stands in the member of an object, byte for byte; empty where
/// there is none. So nobody's numbers are rounded.
std::string_view raw_member(std::string_view object, std::string_view name);

/// The same for all elements of an array.
std::vector<std::string_view> raw_elements(std::string_view array);

/// Returns a string as it is, other values as JSON, and nothing for null.
std::string text_of(const nlohmann::json& value);

/// The same with `-` for what is empty.
std::string cell_of(const nlohmann::json& value);

/// Returns a number that is not negative, else 0.
std::uint64_t count_of(const nlohmann::json& value);

/// Returns an instant, nothing where there is none.
std::optional<wall_time> time_of(const nlohmann::json& value);

/// Prints how long ago an instant is; `-` where there is none.
std::string age_cell(const nlohmann::json& value, wall_time now);

/// Says of a queue or limit key whether its gate is open, and if not, what it
/// waits for: `open`, `held (28 s)`, `probing`.
std::string gate_cell(const nlohmann::json& gate, wall_time now);

/// What everyone says who reads something else.
error not_tidegate();

} // namespace tidegate::http
