# The commands that call the API of a server: `tidegate queues list` and others.
add_library(tidegate_http_cli
  cli_bodies.cpp
  cli_client.cpp
  cli_commands.cpp
  cli_dead_letters.cpp
  cli_hints.cpp
  cli_jobs.cpp
  cli_operations.cpp
  cli_pull.cpp
  cli_queues.cpp
  cli_session.cpp
  cli_tail.cpp
  cli_text.cpp
  codec_cli_answers.cpp
  codec_cli_changes.cpp
  codec_cli_event.cpp
  codec_cli_explain.cpp
  codec_cli_lists.cpp
  codec_cli_pull.cpp
  codec_cli_read.cpp
  codec_cli_secrets.cpp
  codec_cli_show.cpp
  key_commands.cpp
  sse_reader.cpp)
target_link_libraries(tidegate_http_cli
  PUBLIC tidegate_core
  PRIVATE tidegate_http_api tidegate_http_client nlohmann_json::nlohmann_json)
target_compile_definitions(tidegate_http_cli
  PRIVATE TIDEGATE_VERSION="${PROJECT_VERSION}")
