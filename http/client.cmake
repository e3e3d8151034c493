# The outgoing side: deliveries to webhooks. Also owns the one file in which
# Asio and Beast are compiled.
add_library(tidegate_http_client
  base64.cpp
  beast_impl.cpp
  certificates.cpp
  client.cpp
  client_connection.cpp
  client_connector.cpp
  client_exchange.cpp
  client_lane.cpp
  client_resolver.cpp
  client_response.cpp
  client_tls.cpp
  client_trust.cpp
  codec_write.cpp
  dns.cpp
  ip_address.cpp
  iso8601.cpp
  json_writer.cpp
  message_json.cpp
  printable.cpp
  signature.cpp
  target_policy.cpp
  utf8.cpp
  webhook_request.cpp
  webhook_url.cpp)
target_link_libraries(tidegate_http_client
  PUBLIC tidegate_core Boost::headers OpenSSL::SSL OpenSSL::Crypto
         Threads::Threads
  PRIVATE ${CARES})
target_compile_definitions(tidegate_http_client
  PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
         BOOST_BEAST_SEPARATE_COMPILATION
  PRIVATE TIDEGATE_VERSION="${PROJECT_VERSION}")
