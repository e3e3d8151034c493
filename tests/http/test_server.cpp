#include "test_server.hpp"

#include <chrono>
#include <stdexcept>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "http/problem.hpp"

using namespace tidegate::http;
using namespace std::chrono_literals;

namespace asio = boost::asio;

std::variant<admission, refusal> echo_handler::admit(const request_head& head) {
  auto found = find_route(head.method, head.target);
  auto match = std::get_if<route_match>(&found);
  if (!match)
    return refusal{make_problem(problem::not_found)};
  if (match->param == "locked")
    return refusal{make_problem(problem::unauthenticated)};
  admission result{std::move(*match), {}, {}};
  if (result.route.param == "forbidden")
    return refusal{make_problem(problem::forbidden), std::move(result)};
  return result;
}

void echo_handler::handle(request what, responder respond) {
  ++handled;
  body_bytes += what.body.size();
  const auto& name = what.route.param;
  if (name == "dropped")
    return;
  if (what.watch)
    what.watch->wanted = what.body == "wait" || what.route.route->streams;
  if (name.starts_with("slow") || what.watch) {
    std::lock_guard guard{mutex_};
    kept_.push_back(std::move(respond));
    watches_.push_back(std::move(what.watch));
    changed_.notify_all();
    return;
  }
  respond({200, {}, name + ":" + what.body});
}

void echo_handler::refused(const refused_request& what) {
  std::string text{what.id};
  text += ' ' + std::to_string(what.answer.status);
  if (what.asked != nullptr)
    text.append(" ").append(what.asked->route.route->capability);
  std::lock_guard guard{mutex_};
  refusals_.push_back(std::move(text));
}

std::vector<std::string> echo_handler::refusals() {
  std::lock_guard guard{mutex_};
  return refusals_;
}

void echo_handler::await_kept(std::size_t n) {
  std::unique_lock guard{mutex_};
  if (!changed_.wait_for(guard, 10s, [&] { return kept_.size() >= n; }))
    throw std::runtime_error{"no request came"};
}

void echo_handler::answer(std::size_t i, std::string body) {
  answer(i, response{200, {}, std::move(body)});
}

void echo_handler::answer(std::size_t i, response what) {
  std::lock_guard guard{mutex_};
  kept_.at(i)(std::move(what));
}

bool echo_handler::is_gone(std::size_t i) {
  std::lock_guard guard{mutex_};
  return watches_.at(i)->gone;
}

void echo_handler::forget() {
  std::vector<responder> kept;
  std::lock_guard guard{mutex_};
  kept.swap(kept_);
}

std::size_t echo_handler::kept() {
  std::lock_guard guard{mutex_};
  return kept_.size();
}

class test_server::impl {
public:
  impl(server_options options, std::size_t threads)
    : requests(std::make_shared<echo_handler>()) {
    options.port = 0;
    std::vector<asio::io_context*> pointers;
    for (std::size_t i = 0; i < threads; ++i) {
      contexts.push_back(std::make_unique<asio::io_context>(1));
      guards.push_back(asio::make_work_guard(*contexts.back()));
      pointers.push_back(contexts.back().get());
    }
    what = std::make_unique<server>(std::move(options), pointers, requests);
    if (auto complaint = what->start())
      throw std::runtime_error{*complaint};
    for (auto& context : contexts)
      runners.emplace_back([&context] { context->run(); });
  }

  ~impl() {
    what.reset();
    guards.clear();
    for (auto& context : contexts)
      context->stop();
    for (auto& runner : runners)
      runner.join();
    // They hold their connections, which hold whoever keeps them.
    requests->forget();
  }

  std::vector<std::unique_ptr<asio::io_context>> contexts;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>>
    guards;
  std::shared_ptr<echo_handler> requests;
  std::unique_ptr<server> what;
  std::vector<std::thread> runners;
};

test_server::test_server(server_options options, std::size_t threads)
  : impl_(std::make_unique<impl>(std::move(options), threads)) {
  // nop
}

test_server::~test_server() = default;

std::uint16_t test_server::port() const {
  return impl_->what->port();
}

server& test_server::get() {
  return *impl_->what;
}

echo_handler& test_server::requests() {
  return *impl_->requests;
}

bool test_server::eventually(const std::function<bool()>& condition) {
  return eventually_within(10s, condition);
}

bool test_server::eventually_within(std::chrono::milliseconds most,
                                    const std::function<bool()>& condition) {
  auto end = std::chrono::steady_clock::now() + most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

std::string get(const std::string& name, const std::string& headers) {
  return "GET /v1/queues/" + name + " HTTP/1.1\r\nHost: a\r\n" + headers
         + "\r\n";
}

std::string consume(const std::string& body, const std::string& headers) {
  return "POST /v1/queue/consume HTTP/1.1\r\nHost: a\r\n" + headers
         + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string post(const std::string& name, const std::string& body,
                 const std::string& headers) {
  return "POST /v1/queues/" + name + "/jobs HTTP/1.1\r\nHost: a\r\n" + headers
         + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
