// Small answers, and what is said about those that are no success.

#include <nlohmann/json.hpp>

#include "http/codec_cli.hpp"
#include "http/codec_cli_read.hpp"

namespace tidegate::http {

namespace {

using nlohmann::json;

constexpr std::size_t sentence_max = 500;

/// Adds what is wrong with fields: `delay must be 0 to 9, got 10; priority
/// ...`.
void add_field_errors(const json& fields, std::string& to) {
  if (!fields.is_object())
    return;
  for (const auto& [name, sentences] : fields.items())
    if (sentences.is_array())
      for (const auto& sentence : sentences)
        to += (to.empty() ? "" : "; ") + name + ' ' + text_of(sentence);
}

void add_form_errors(const json& sentences, std::string& to) {
  if (sentences.is_array())
    for (const auto& sentence : sentences)
      to += (to.empty() ? "" : "; ") + text_of(sentence);
}

/// Returns what an answer of pull queues has in its envelope, others as they
/// are.
const json& content_of(const json& answer) {
  const auto& data = member_of(answer, "data");
  return data.is_object() ? data : answer;
}

/// Returns what a refusal says in either of its two shapes, or nothing.
std::string sentence_of(const json& body) {
  const auto& said = member_of(body, "error");
  if (said.is_string())
    return text_of(said);
  auto sentence = text_of(member_of(said, "message"));
  if (!sentence.empty())
    return sentence;
  add_form_errors(member_of(said, "formErrors"), sentence);
  add_field_errors(member_of(said, "fieldErrors"), sentence);
  return sentence;
}

} // namespace

result<cli_operation> read_operation(std::string_view body) {
  auto operation = read_object(body);
  if (!operation)
    return operation.reason();
  cli_operation result{text_of(member_of(*operation, "id")),
                       text_of(member_of(*operation, "state")),
                       count_of(member_of(*operation, "done")),
                       count_of(member_of(*operation, "total")),
                       text_of(member_of(*operation, "error"))};
  if (result.id.empty() || result.state.empty())
    return not_tidegate();
  return result;
}

result<cli_published> read_published(std::string_view body) {
  auto answer = read_object(body);
  if (!answer)
    return answer.reason();
  const auto& what = content_of(*answer);
  cli_published result{text_of(member_of(what, "id")),
                       text_of(member_of(what, "status")),
                       member_of(what, "duplicate") == true,
                       member_of(what, "payloadMismatch") == true};
  if (result.id.empty())
    result.id = text_of(member_of(what, "message_id"));
  if (result.id.empty())
    return not_tidegate();
  return result;
}

result<std::uint64_t> read_count(std::string_view body, const char* member) {
  auto answer = read_object(body);
  if (!answer)
    return answer.reason();
  const auto& count = member_of(content_of(*answer), member);
  if (!count.is_number_unsigned())
    return not_tidegate();
  return count_of(count);
}

result<std::string> read_queue_of(std::string_view job) {
  auto document = read_object(job);
  if (!document)
    return document.reason();
  auto name = text_of(member_of(*document, "queue"));
  if (name.empty())
    return not_tidegate();
  return name;
}

std::string refusal_of(unsigned status, std::string_view body) {
  auto sentence = sentence_of(json::parse(body, nullptr, false));
  if (sentence.empty())
    return "the server answered " + std::to_string(status);
  return printable(sentence, sentence_max);
}

std::string code_of_refusal(std::string_view body) {
  auto answer = json::parse(body, nullptr, false);
  auto code = text_of(member_of(answer, "code"));
  if (code.empty())
    code = text_of(member_of(member_of(answer, "error"), "code"));
  for (auto& c : code)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return code;
}

} // namespace tidegate::http
