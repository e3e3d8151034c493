// One event in one line.

#include <nlohmann/json.hpp>

#include "http/codec_cli.hpp"
#include "http/codec_cli_read.hpp"

namespace tidegate::http {

result<std::string> show_event(std::string_view data) {
  auto event = read_object(data);
  if (!event)
    return event.reason();
  auto at = time_of(member_of(*event, "time"));
  if (!at || !member_of(*event, "type").is_string())
    return not_tidegate();
  auto line = print_instant(*at) + "  " + cell_of(member_of(*event, "type"))
              + "  " + cell_of(member_of(*event, "queue"));
  const auto& details = member_of(*event, "data");
  if (details.is_object())
    for (const auto& [name, value] : details.items()) {
      if (value.is_null())
        continue;
      auto time = time_of(value);
      line += "  " + name + '='
              + (time ? print_instant(*time) : text_of(value));
    }
  return printable(line);
}

} // namespace tidegate::http
