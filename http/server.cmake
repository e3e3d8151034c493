# The incoming side: the API as pure functions, and the server around it.
add_library(tidegate_http_api
  api.cpp
  codec_backoff.cpp
  codec_fields.cpp
  codec_publish.cpp
  codec_settings.cpp
  codec_write.cpp
  cursor.cpp
  json_scan.cpp
  json_writer.cpp
  keys.cpp
  message.cpp
  problem.cpp
  query_reader.cpp
  routes.cpp
  utf8.cpp)
target_link_libraries(tidegate_http_api
  PUBLIC tidegate_core
  PRIVATE tidegate_http_client nlohmann_json::nlohmann_json OpenSSL::Crypto)

add_library(tidegate_http_server
  listener.cpp
  pipeline.cpp
  request_reader.cpp
  response_writer.cpp
  server.cpp
  session.cpp
  worker.cpp)
target_link_libraries(tidegate_http_server
  PUBLIC tidegate_http_api
  PRIVATE tidegate_http_client OpenSSL::Crypto)
