// Reads the fields of one JSON object of a plan.

#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/codec_fields.hpp"
#include "tests/sim/plan.hpp"

namespace tidegate::sim {

/// An object whose fields are known. What is wrong with them goes to the
/// complaints, and the value is the one that it has where the field is missing.
class object_reader {
public:
  /// `path`: what goes before the names in complaints; empty for the whole
  /// plan. `token` is a JSON text and outlives the reader.
  object_reader(std::string path, std::string_view token,
                std::initializer_list<std::string_view> names,
                http::complaints& out);

  bool has(std::string_view name) const {
    return !raw(name).empty();
  }

  /// Returns the JSON text of a field, empty where it is missing.
  std::string_view raw(std::string_view name) const;

  std::string path_of(std::string_view name) const;

  http::complaints& complaints() {
    return out_;
  }

  /// Complains where the field is missing.
  void require(std::string_view name);

  /// 1 to 120 characters, none of which only controls.
  std::string text(std::string_view name, std::string fallback);

  duration seconds(std::string_view name, duration fallback, double min,
                   double max);

  double number(std::string_view name, double fallback, double min, double max);

  std::uint64_t integer(std::string_view name, std::uint64_t fallback,
                        std::uint64_t min, std::uint64_t max);

  bool flag(std::string_view name, bool fallback);

  /// Reads one of `choices`.
  template <class T, std::size_t N>
  T word(std::string_view name, T fallback, const std::array<T, N>& choices) {
    if (!has(name))
      return fallback;
    return http::read_word(path_of(name), raw(name), choices, out_)
      .value_or(fallback);
  }

  /// Returns the elements of an array of at most `max`, each with its path.
  std::vector<std::pair<std::string, std::string_view>>
  elements(std::string_view name, std::size_t max);

private:
  std::string path_;
  std::vector<std::string_view> names_;
  std::vector<std::string_view> slots_;
  http::complaints& out_;
};

/// Reads the `arrivals` of a plan that lasts `length`.
std::vector<stream> read_arrivals(object_reader& top, duration length,
                                  const std::filesystem::path& folder);

/// Reads the `downstream` of a plan.
downstream_plan read_downstream(object_reader& top);

/// Reads instants, one a line in seconds and in order; lines that are empty or
/// begin with `#` are passed over.
std::vector<duration> read_trace(const std::string& path,
                                 const std::filesystem::path& file,
                                 duration length, http::complaints& out);

/// Returns the content of a file, or nothing where it cannot be read or is
/// longer than `bytes_max`.
std::optional<std::string> read_file(const std::filesystem::path& file,
                                     std::size_t bytes_max);

} // namespace tidegate::sim
