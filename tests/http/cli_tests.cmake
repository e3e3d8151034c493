tidegate_add_test(http_cli_test
  SOURCES
    cli_text_test.cpp
    codec_cli_changes_test.cpp
    codec_cli_explain_test.cpp
    codec_cli_test.cpp
    key_commands_test.cpp
    printable_test.cpp
    sse_reader_test.cpp
  LIBRARIES tidegate_http_cli tidegate_http_api tidegate_http_client)
