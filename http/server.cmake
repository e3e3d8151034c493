# The incoming side: the API as pure functions, and the server around it.
add_library(tidegate_http_api
  api.cpp
  api_answer.cpp
  api_answer_pull.cpp
  api_query.cpp
  api_read_access.cpp
  api_read_events.cpp
  api_read_pull.cpp
  api_read_queue.cpp
  codec_backoff.cpp
  codec_fields.cpp
  codec_commands.cpp
  codec_publish.cpp
  codec_pull_fields.cpp
  codec_pull_messages.cpp
  codec_pull_settings.cpp
  codec_pull_subscription.cpp
  codec_pull_work.cpp
  codec_recovery.cpp
  codec_reports.cpp
  codec_settings.cpp
  codec_settings_reader.cpp
  codec_write_access.cpp
  codec_write_alert.cpp
  codec_write_event.cpp
  codec_write_job.cpp
  codec_write_message.cpp
  codec_write_pull.cpp
  codec_write_queue.cpp
  cursor.cpp
  dashboard.cpp
  discovery.cpp
  json_scan.cpp
  keys.cpp
  request_meter.cpp
  message.cpp
  openapi.cpp
  openapi_pull.cpp
  openapi_pull_schemas.cpp
  openapi_queues.cpp
  openapi_routes.cpp
  openapi_schemas.cpp
  problem.cpp
  problem_table.cpp
  query_reader.cpp
  routes.cpp
  routes_table.cpp
  trace_context.cpp)
target_link_libraries(tidegate_http_api
  PUBLIC tidegate_core
  PRIVATE tidegate_http_client nlohmann_json::nlohmann_json OpenSSL::Crypto)
target_compile_definitions(tidegate_http_api
  PRIVATE TIDEGATE_VERSION="${PROJECT_VERSION}")

set(dashboard_files ${CMAKE_CURRENT_BINARY_DIR}/generated/dashboard_files.cpp)
add_custom_target(tidegate_dashboard
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/dashboard
          -DOUTPUT=${dashboard_files}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/dashboard.cmake
  BYPRODUCTS ${dashboard_files})
add_dependencies(tidegate_http_api tidegate_dashboard)
target_sources(tidegate_http_api PRIVATE ${dashboard_files})

add_library(tidegate_http_server
  body_stream.cpp
  listener.cpp
  body_room.cpp
  pipeline.cpp
  out_of_memory.cpp
  request_reader.cpp
  response_writer.cpp
  server.cpp
  server_tls.cpp
  session.cpp
  session_room.cpp
  session_ends.cpp
  worker.cpp)
target_link_libraries(tidegate_http_server
  PUBLIC tidegate_http_api
  PRIVATE tidegate_http_client OpenSSL::Crypto)
