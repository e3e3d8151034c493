// A server for tests whose handler does as it is told.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/server.hpp"

/// Lets every request in and answers with method, path parameter and body; what
/// is special stands in the path. See `admit` and `handle`.
class echo_handler : public tidegate::http::handler {
public:
  /// Refuses `/v1/queues/locked` with 401 and `/v1/queues/forbidden` with 403,
  /// which says who asked for what. Everything that is no route is 404.
  std::variant<tidegate::http::admission, tidegate::http::refusal>
  admit(const tidegate::http::request_head& head) override;

  /// Keeps the responders of `/v1/queues/slow…` and of `/v1/queue/consume`,
  /// where the body `wait` stands for a call that waits; drops those of
  /// `/v1/queues/dropped`, answers everything else at once.
  void handle(tidegate::http::request what,
              tidegate::http::responder respond) override;

  /// Keeps what is told of it.
  void refused(const tidegate::http::refused_request& what) override;

  /// Returns what was told of refused requests: id, status and route.
  std::vector<std::string> refusals();

  /// Waits until `n` responders are kept.
  void await_kept(std::size_t n);

  /// Answers the kept request number `i`, from the calling thread.
  void answer(std::size_t i, std::string body);

  /// Answers it with `what`.
  void answer(std::size_t i, tidegate::http::response what);

  /// Whether the client of the kept request number `i` is known to be gone.
  bool is_gone(std::size_t i);

  std::size_t kept();

  /// Lets go of the responders that are kept.
  void forget();

  /// Requests that were handled.
  std::atomic<int> handled = 0;

  /// Bytes of bodies that arrived here.
  std::atomic<std::size_t> body_bytes = 0;

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<tidegate::http::responder> kept_;
  std::vector<std::shared_ptr<tidegate::http::client_watch>> watches_;
  std::vector<std::string> refusals_;
};

/// A running server with threads of its own.
class test_server {
public:
  explicit test_server(tidegate::http::server_options options = {},
                       std::size_t threads = 1);

  ~test_server();

  std::uint16_t port() const;

  tidegate::http::server& get();

  echo_handler& requests();

  /// Waits until `condition` holds, at most a few seconds. Returns whether it
  /// does.
  static bool eventually(const std::function<bool()>& condition);

  /// The same, for as long as `most`.
  static bool eventually_within(std::chrono::milliseconds most,
                                const std::function<bool()>& condition);

private:
  class impl;

  std::unique_ptr<impl> impl_;
};

/// Returns a GET of `/v1/queues/<name>`.
std::string get(const std::string& name, const std::string& headers = {});

/// Returns a POST of `/v1/queue/consume` with `body`.
std::string consume(const std::string& body, const std::string& headers = {});

/// Returns a POST of `/v1/queues/<name>/jobs` with `body`.
std::string post(const std::string& name, const std::string& body,
                 const std::string& headers = {});
