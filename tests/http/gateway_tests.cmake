tidegate_add_test(http_gateway_test
  SOURCES gateway_pull_test.cpp
          gateway_test.cpp
  LIBRARIES tidegate_http nlohmann_json::nlohmann_json)
