// Reads the query of a request as strictly as its body.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "http/problem.hpp"
#include "http/routes.hpp"

namespace tidegate::http {

/// Reads the parameters of a query, each of which has a name in the API and may
/// be given once.
class query_reader {
public:
  /// `fields` must outlive this object.
  explicit query_reader(const std::vector<query_field>& fields);

  /// Returns the value of `name`, if it is there.
  std::optional<std::string_view> find(std::string_view name);

  /// Says that `value` is not what `name` wants.
  void complain(std::string_view name, std::string_view wanted,
                std::string_view value);

  /// Returns all that is wrong, parameters that nobody asked for included.
  complaints finish();

private:
  const std::vector<query_field>& fields_;
  std::vector<bool> known_;
  complaints out_;
};

} // namespace tidegate::http
