tidegate_add_test(http_client_test
  SOURCES client_faults_test.cpp
          client_resolver_test.cpp
          client_response_test.cpp
          client_test.cpp
          client_tls_test.cpp
          client_trust_test.cpp
          dns_test.cpp
          name_server.cpp
          scripted_server.cpp
          signature_test.cpp
          target_policy_test.cpp
          temporary_file.cpp
          test_certificates.cpp
          webhook_request_test.cpp
  LIBRARIES tidegate_http_client)
target_compile_definitions(http_client_test
  PRIVATE TIDEGATE_VERSION="${PROJECT_VERSION}")
