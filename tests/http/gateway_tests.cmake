tidegate_add_test(http_gateway_test
  SOURCES gateway_pull_test.cpp
          gateway_test.cpp
  LIBRARIES tidegate_http nlohmann_json::nlohmann_json)

# What operators see, as text.
tidegate_add_test(http_figures_test
  SOURCES event_stream_test.cpp
          metrics_test.cpp
  LIBRARIES tidegate_http nlohmann_json::nlohmann_json)
