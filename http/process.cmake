# The program: gateways, scheduler, and the process around them.
add_library(tidegate_http
  asio_scheduler.cpp
  first_key.cpp
  gateway_actor.cpp
  log.cpp
  process.cpp)
target_link_libraries(tidegate_http
  PUBLIC tidegate_http_server tidegate_http_client tidegate_actors
  PRIVATE spdlog::spdlog OpenSSL::Crypto)

add_executable(tidegate main.cpp)
target_link_libraries(tidegate
  PRIVATE tidegate_http tidegate_storage tidegate_config)
set_target_properties(tidegate PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_compile_definitions(tidegate
  PRIVATE TIDEGATE_VERSION="${PROJECT_VERSION}")
