// A client on a thread of its own, and deliveries to give to it.

#pragma once

#include <future>
#include <memory>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "http/client.hpp"

namespace tidegate::http::testing {

/// Returns options under which loopback may be called.
inline client_options loopback_allowed() {
  client_options result;
  result.targets =
    target_policy{{*parse_ip_network("127.0.0.0/8"), *parse_ip_network("::1")}};
  return result;
}

/// Returns a delivery to `url` with a deadline that only a failing test meets.
inline delivery make_delivery(std::string url,
                              duration timeout = std::chrono::seconds{30}) {
  delivery result;
  result.job = {{1}, {2}, 3};
  result.queue_name = "emails";
  result.payload = payload{R"({"to":"a@b.com"})"};
  result.url = std::move(url);
  result.timeout = timeout;
  result.secrets = {"whsec_test_secret"};
  return result;
}

/// A deadline that a test means to meet.
inline constexpr duration soon = std::chrono::milliseconds{300};

/// Runs a client. Everything has ended when it is destroyed.
class running_client {
public:
  explicit running_client(client_options options = loopback_allowed()) {
    options.contexts = {&context_};
    client_ = std::move(*client::make(std::move(options)));
    thread_ = std::thread{[this] { context_.run(); }};
  }

  ~running_client() {
    client_->stop();
    guard_.reset();
    thread_.join();
  }

  client& operator*() {
    return *client_;
  }

  client* operator->() {
    return client_.get();
  }

  /// Starts a delivery; the reply comes by the future.
  std::future<delivery_reply> start(delivery what) {
    auto promise = std::make_shared<std::promise<delivery_reply>>();
    call = client_->post(std::move(what), [promise](delivery_reply reply) {
      promise->set_value(std::move(reply));
    });
    return promise->get_future();
  }

  /// Makes a delivery and returns what came of it.
  delivery_reply post(delivery what) {
    return start(std::move(what)).get();
  }

  delivery_reply post(const std::string& url) {
    return post(make_delivery(url));
  }

  /// The delivery that was started last.
  std::shared_ptr<transport::call> call;

private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    guard_{context_.get_executor()};
  std::unique_ptr<client> client_;
  std::thread thread_;
};

} // namespace tidegate::http::testing
