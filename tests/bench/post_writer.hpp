// Writes the requests of a benchmark.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidegate::bench {

/// Makes `POST` requests to one path of a server on 127.0.0.1.
class post_writer {
public:
  post_writer(std::uint16_t port, std::string_view path, std::string_view key)
    : head_("POST " + std::string{path}
            + " HTTP/1.1\r\nhost: 127.0.0.1:" + std::to_string(port)
            + "\r\nauthorization: Bearer " + std::string{key}
            + "\r\ncontent-type: application/json\r\ncontent-length: ") {
    // nop
  }

  std::string write(std::string_view body) const {
    auto result = head_ + std::to_string(body.size()) + "\r\n\r\n";
    result += body;
    return result;
  }

private:
  std::string head_;
};

} // namespace tidegate::bench
