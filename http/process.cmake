# The program: gateways, scheduler, and the process around them.
add_library(tidegate_http
  asio_scheduler.cpp
  event_stream.cpp
  first_key.cpp
  gateway_actor.cpp
  gateway_pull.cpp
  log.cpp
  metrics.cpp
  metrics_printer.cpp
  process.cpp
  process_figures.cpp
  request_log.cpp)
target_link_libraries(tidegate_http
  PUBLIC tidegate_http_server tidegate_http_client tidegate_actors
  PRIVATE spdlog::spdlog OpenSSL::Crypto ${PROMETHEUS_CPP_CORE})

set(commit_header ${CMAKE_CURRENT_BINARY_DIR}/generated/commit.hpp)
add_custom_target(tidegate_commit
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}
          -DHEADER=${commit_header} -P ${CMAKE_CURRENT_SOURCE_DIR}/commit.cmake
  BYPRODUCTS ${commit_header})

add_executable(tidegate main.cpp version.cpp)
add_dependencies(tidegate tidegate_commit)
set_source_files_properties(version.cpp PROPERTIES
  INCLUDE_DIRECTORIES ${CMAKE_CURRENT_BINARY_DIR}/generated)
target_link_libraries(tidegate
  PRIVATE tidegate_http tidegate_http_cli tidegate_storage tidegate_config)
set_target_properties(tidegate PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_compile_definitions(tidegate PRIVATE
  TIDEGATE_VERSION="${PROJECT_VERSION}"
  TIDEGATE_LIBRARIES="CAF ${CAF_VERSION}, Boost ${Boost_VERSION_STRING}, OpenSSL ${OPENSSL_VERSION}, SQLite ${SQLite3_VERSION}")
