#include "http/problem.hpp"

#include <algorithm>

#include "http/json_writer.hpp"
#include "http/problem_table.hpp"

namespace tidegate::http {

namespace {

/// Prints each field once, with all that is said about it.
void write_fields(json_writer& out, std::vector<field_error> fields) {
  fields.resize(std::min(fields.size(), fields_told_max));
  out.begin_object();
  for (auto i = fields.begin(); i != fields.end();) {
    auto same = [name = i->field](const field_error& x) {
      return x.field == name;
    };
    auto end = std::stable_partition(i, fields.end(), same);
    out.key(i->field).begin_array();
    for (; i != end; ++i)
      out.value(i->message);
    out.end_array();
  }
  out.end_object();
}

void write_forms(json_writer& out, const complaints& what) {
  out.key("formErrors").begin_array();
  for (const auto& message : what.form)
    out.value(message);
  out.end_array();
}

std::string_view sentence_of(problem what, std::string_view sentence) {
  return sentence.empty() ? row_of(what).sentence : sentence;
}

// -- jobs ---------------------------------------------------------------------

/// Prints the members of the object that tells of `what`.
void write_complaints(json_writer& out, const complaints& what) {
  out.key("error").begin_object();
  write_forms(out, what);
  out.key("fieldErrors");
  write_fields(out, what.fields);
  out.end_object().member("code", code_of(problem::validation_failed));
}

void write_sentence(json_writer& out, problem what, std::string_view sentence) {
  out.member("error", sentence_of(what, sentence))
    .member("code", code_of(what));
}

// -- messages -----------------------------------------------------------------

/// Says in one line what is wrong.
std::string sum_up(const complaints& what) {
  constexpr std::size_t told_max = 5;
  std::string result;
  std::size_t told = 0;
  auto add = [&](std::string_view name, std::string_view text) {
    if (++told > told_max)
      return;
    result.append(result.empty() ? "" : "; ").append(name);
    result.append(name.empty() ? "" : " ").append(text);
  };
  for (const auto& message : what.form)
    add({}, message);
  for (const auto& x : what.fields)
    add(x.field, x.message);
  if (told > told_max)
    result.append("; and ").append(std::to_string(told - told_max) + " more");
  return result;
}

/// Prints the object that stands under `error`.
void write_message_error(json_writer& out, problem what,
                         std::string_view sentence, const complaints& details) {
  out.begin_object()
    .member("code", row_of(what).message_code)
    .member("message", sentence_of(what, sentence))
    .key("details")
    .begin_object();
  if (!details.form.empty())
    write_forms(out, details);
  if (!details.fields.empty()) {
    out.key("fieldErrors");
    write_fields(out, details.fields);
  }
  out.end_object().end_object();
}

// -- both ---------------------------------------------------------------------

/// Makes a response whose body `write` prints, one for each family.
template <class Jobs, class Messages>
response
respond(problem what, api_family family, Jobs write_jobs, Messages write) {
  auto result = head_of(what);
  json_writer out;
  if (family == api_family::messages) {
    result.shape = body_shape::error;
    write(out);
  } else {
    out.begin_object();
    write_jobs(out);
    out.end_object();
  }
  result.body = out.take();
  return result;
}

/// The same for an entry of a batch.
template <class Jobs, class Messages>
std::string
refuse_entry(api_family family, Jobs write_jobs, Messages write_messages) {
  json_writer out;
  out.begin_object().member("ok", false);
  if (family == api_family::messages)
    write_messages(out.key("error"));
  else
    write_jobs(out);
  out.end_object();
  return out.take();
}

} // namespace

std::string_view code_of(problem what) {
  return row_of(what).code;
}

response make_problem(problem what, std::string_view sentence,
                      api_family family) {
  return respond(
    what, family,
    [&](json_writer& out) { write_sentence(out, what, sentence); },
    [&](json_writer& out) { write_message_error(out, what, sentence, {}); });
}

response method_not_allowed(std::string allow, api_family family) {
  auto result = make_problem(problem::method_not_allowed, {}, family);
  result.headers.emplace_back("allow", std::move(allow));
  return result;
}

response make_problem(const complaints& what, api_family family) {
  constexpr auto why = problem::validation_failed;
  return respond(
    why, family, [&](json_writer& out) { write_complaints(out, what); },
    [&](json_writer& out) {
      write_message_error(out, why, sum_up(what), what);
    });
}

response make_problem(const error& reason, api_family family) {
  auto what = problem_of(reason.code);
  if (what == problem::validation_failed && family == api_family::jobs)
    return make_problem(complaints{{reason.message}, {}});
  return make_problem(what, reason.message, family);
}

std::string refused_entry(const complaints& what, api_family family) {
  return refuse_entry(
    family, [&](json_writer& out) { write_complaints(out, what); },
    [&](json_writer& out) {
      write_message_error(out, problem::validation_failed, sum_up(what), what);
    });
}

std::string refused_entry(const error& reason, api_family family) {
  auto what = problem_of(reason.code);
  if (what == problem::validation_failed && family == api_family::jobs)
    return refused_entry(complaints{{reason.message}, {}});
  return refuse_entry(
    family,
    [&](json_writer& out) { write_sentence(out, what, reason.message); },
    [&](json_writer& out) {
      write_message_error(out, what, reason.message, {});
    });
}

} // namespace tidegate::http
