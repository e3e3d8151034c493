#include "http/codec_backoff.hpp"

#include <array>

#include "http/codec_fields.hpp"

namespace tidegate::http {

namespace {

using kind = backoff_settings::kind;

/// Fields of a backoff, in the order of `names`.
enum field : std::size_t {
  type,
  delay,
  factor,
  max_delay,
  jitter,
  steps,
  field_count,
};

constexpr std::array<std::string_view, field_count> names = {
  "type", "delay", "factor", "maxDelay", "jitter", "steps"};

std::string full_name(field what) {
  return std::string{"backoff."}.append(names[what]);
}

/// Tells whether backoffs of this type have the field.
bool belongs(field what, kind to) {
  switch (what) {
    case delay:
      return to != kind::ladder;
    case factor:
    case max_delay:
      return to == kind::exponential;
    case steps:
      return to == kind::ladder;
    default:
      return true;
  }
}

bool is_required(field what, kind of) {
  return (what == delay && of == kind::fixed)
         || (what == steps && of == kind::ladder);
}

/// Reads the fields of one backoff.
class backoff_reader {
public:
  backoff_reader(std::span<const std::string_view> slots, sent_numbers& sent,
                 complaints& out)
    : slots_(slots), sent_(sent), out_(out) {
    // nop
  }

  std::optional<kind> read_type() {
    if (slots_[type].empty()) {
      out_.add(full_name(type), "is required");
      return std::nullopt;
    }
    auto word = read_string(full_name(type), slots_[type], out_);
    if (!word)
      return std::nullopt;
    if (*word == "exponential")
      return kind::exponential;
    if (*word == "fixed")
      return kind::fixed;
    if (*word == "ladder")
      return kind::ladder;
    out_.add(full_name(type), "must be exponential, fixed or ladder, got '"
                                + shorten(*word) + "'");
    return std::nullopt;
  }

  backoff_settings read_rest(kind of) {
    backoff_settings result;
    result.type = of;
    if (of != kind::exponential)
      result.jitter = 0;
    read_number_to(delay, result.delay, of);
    read_number_to(factor, result.factor, of);
    read_number_to(max_delay, result.max_delay, of);
    read_number_to(jitter, result.jitter, of);
    if (is_there(steps, of))
      read_steps(result.steps);
    return result;
  }

private:
  /// Tells whether there is something to read. Complains where that is wrong.
  bool is_there(field what, kind of) {
    auto given = !slots_[what].empty();
    if (!given && is_required(what, of))
      out_.add(full_name(what), "is required");
    if (!given || belongs(what, of))
      return given;
    out_.add(full_name(what), "does not belong to this type of backoff");
    return false;
  }

  void read_number_to(field what, double& target, kind of) {
    if (!is_there(what, of))
      return;
    auto name = full_name(what);
    if (auto value = read_number(name, slots_[what], out_))
      target = *value;
    sent_.emplace(std::move(name), slots_[what]);
  }

  void read_steps(std::vector<double>& target) {
    auto name = full_name(steps);
    auto parts = read_parts(name, slots_[steps], json_kind::array, out_);
    if (!parts)
      return;
    for (const auto& part : *parts) {
      auto step = read_number(name, part.value, out_);
      if (!step)
        return;
      target.push_back(*step);
    }
  }

  std::span<const std::string_view> slots_;
  sent_numbers& sent_;
  complaints& out_;
};

} // namespace

std::optional<backoff_settings>
read_backoff(std::string_view token, sent_numbers& sent, complaints& out) {
  auto parts = read_parts("backoff", token, json_kind::object, out);
  if (!parts)
    return std::nullopt;
  auto complaints_before = out.fields.size();
  std::array<std::string_view, field_count> slots;
  assign_fields(*parts, names, slots, "backoff.", out);
  backoff_reader reader{slots, sent, out};
  auto of = reader.read_type();
  if (!of)
    return std::nullopt;
  auto result = reader.read_rest(*of);
  if (out.fields.size() != complaints_before)
    return std::nullopt;
  return result;
}

} // namespace tidegate::http
