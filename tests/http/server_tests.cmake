tidegate_add_test(http_api_test
  SOURCES
    api_pull_test.cpp
    api_test.cpp
    codec_commands_test.cpp
    codec_publish_test.cpp
    codec_pull_test.cpp
    codec_reports_test.cpp
    codec_settings_test.cpp
    codec_write_pull_test.cpp
    codec_write_test.cpp
    cursor_test.cpp
    dashboard_test.cpp
    discovery_test.cpp
    iso8601_test.cpp
    json_scan_test.cpp
    json_writer_test.cpp
    key_commands_test.cpp
    keys_test.cpp
    openapi_test.cpp
    problem_test.cpp
    routes_test.cpp
    test_certificates.cpp
    trace_context_test.cpp
  LIBRARIES tidegate_http_api tidegate_http_client nlohmann_json::nlohmann_json)

tidegate_add_test(http_server_test
  SOURCES
    pipeline_test.cpp
    raw_client.cpp
    request_reader_test.cpp
    response_writer_test.cpp
    server_ending_test.cpp
    server_limits_test.cpp
    server_test.cpp
    server_waits_test.cpp
    test_server.cpp
  LIBRARIES tidegate_http_server tidegate_http_client)
