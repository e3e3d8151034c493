#include "http/process.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <future>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <openssl/rand.h>

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "http/asio_scheduler.hpp"
#include "http/client.hpp"
#include "http/codec_alert.hpp"
#include "http/gateway_actor.hpp"
#include "http/metrics_printer.hpp"
#include "http/out_of_memory.hpp"
#include "http/problem.hpp"
#include "http/request_log.hpp"
#include "http/server_tls.hpp"
#include "http/signature.hpp"
#include "tidegate/service.hpp"

namespace tidegate::http {

namespace {

/// What the events that a stream can go back to take in memory.
constexpr std::size_t event_bytes_max = std::size_t{16} * 1024 * 1024;

/// Most changes that may wait for the disk, which take some 2 KiB each beside
/// their payloads.
constexpr std::uint64_t backlog_max = 30'000;

/// How long clients get to read their last answers.
constexpr auto close_timeout = std::chrono::seconds{5};

/// Draws many at once: a call to OpenSSL costs more than the bytes.
std::uint64_t draw_random() {
  thread_local std::array<std::uint64_t, 128> drawn;
  thread_local std::size_t left = 0;
  if (left == 0) {
    if (RAND_bytes(reinterpret_cast<unsigned char*>(drawn.data()),
                   static_cast<int>(sizeof(drawn)))
        != 1)
      throw std::runtime_error("the system's random source failed");
    left = drawn.size();
  }
  return drawn[--left];
}

/// One thread for each `io_context`, from construction to destruction.
class thread_pool {
public:
  explicit thread_pool(std::uint32_t size) {
    for (std::uint32_t i = 0; i < size; ++i) {
      contexts_.push_back(std::make_unique<boost::asio::io_context>(1));
      guards_.emplace_back(contexts_.back()->get_executor());
    }
    for (auto& context : contexts_)
      threads_.emplace_back([&context] { context->run(); });
  }

  ~thread_pool() {
    guards_.clear();
    for (auto& thread : threads_)
      thread.join();
  }

  std::vector<boost::asio::io_context*> contexts() const {
    std::vector<boost::asio::io_context*> result;
    for (const auto& context : contexts_)
      result.push_back(context.get());
    return result;
  }

private:
  using guard =
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  std::vector<std::unique_ptr<boost::asio::io_context>> contexts_;
  std::vector<guard> guards_;
  std::vector<std::thread> threads_;
};

/// Stands between the server's sessions and the gateways.
class gateway_handler : public handler {
public:
  gateway_handler(std::shared_ptr<const key_ring> keys, api_options options,
                  std::vector<gateway_actor> gateways, log& out)
    : keys_(std::move(keys)), options_(std::move(options)),
      gateways_(std::move(gateways)), log_(out) {
    // nop
  }

  std::variant<admission, refusal> admit(const request_head& head) override {
    return http::admit(head, *keys_, read_clocks());
  }

  void refused(const refused_request& what) override {
    write_refusal(log_, what);
  }

  void handle(request what, responder respond) override {
    if (log_.writes(log_severity::debug))
      respond = with_line(log_, what, std::move(respond));
    auto key = what.who.key;
    auto parsed = read(what);
    if (auto refused = std::get_if<response>(&parsed)) {
      respond(std::move(*refused));
      return;
    }
    if (auto events = std::get_if<events_call>(&std::get<call>(parsed)))
      events->may_read = [keys = keys_, key] {
        return keys->still_opens(key, read_clocks().wall);
      };
    if (auto warning = warning_about(std::get<call>(parsed)))
      log_.write(log_severity::warn, *warning);
    auto c = std::make_shared<pending_call>(
      pending_call{std::get<call>(std::move(parsed)), std::move(respond)});
    caf::anon_send(gateways_[next_++ % gateways_.size()], std::move(c));
  }

private:
  /// Reads the call. Where there is no memory for it the client is told so.
  std::variant<call, response> read(request& what) const {
    try {
      excusable_allocations excused;
      return read_call(what, options_);
    } catch (const std::bad_alloc&) {
      return make_problem(problem::overloaded, "There is no memory for it",
                          family_of(what.route.route->path));
    }
  }

  std::shared_ptr<const key_ring> keys_;
  api_options options_;
  std::vector<gateway_actor> gateways_;
  log& log_;
  std::atomic<std::size_t> next_ = 0;
};

event_listener::behavior_type make_event_log(event_listener::pointer,
                                             log* out) {
  return {[out](const service_event& event) { out->write(event); }};
}

/// Waits for SIGTERM or SIGINT, from construction on. The first one asks to
/// stop; after it they end the process at once. Calls `reload` at each SIGHUP,
/// on a thread of its own: files may be slow, and a stop does not wait for
/// them.
class stop_request {
public:
  explicit stop_request(std::function<void()> reload)
    : signals_(stops_, SIGTERM, SIGINT), hangups_(reloads_, SIGHUP),
      reload_(std::move(reload)) {
    await_hangup();
    signals_.async_wait([this](auto, int) {
      signals_.clear();
      asked_.set_value();
    });
    for (auto* context : {&stops_, &reloads_})
      threads_.emplace_back([context] { context->run(); });
  }

  ~stop_request() {
    stops_.stop();
    reloads_.stop();
    for (auto& thread : threads_)
      thread.join();
  }

  void wait() {
    asked_.get_future().wait();
  }

private:
  void await_hangup() {
    hangups_.async_wait([this](auto failure, int) {
      if (failure)
        return;
      reload_();
      await_hangup();
    });
  }

  boost::asio::io_context stops_{1};
  boost::asio::io_context reloads_{1};
  boost::asio::signal_set signals_;
  boost::asio::signal_set hangups_;
  std::function<void()> reload_;
  std::promise<void> asked_;
  std::vector<std::thread> threads_;
};

/// The actors and everything that they need, in the order of their making.
class running_server {
public:
  running_server(process_options options, log& out)
    : options_(std::move(options)), log_(out), threads_(options_.threads),
      config_(threads_.contexts()), system_(std::in_place, config_),
      keys_(std::make_shared<key_ring>(std::move(options_.keys),
                                       options_.request_rate_max)) {
    // nop
  }

  /// Returns why it cannot run.
  std::optional<std::string> start();

  void stop();

private:
  std::optional<std::string> start_client();
  std::optional<std::string> start_service();
  std::optional<std::string> start_server();
  void start_printer();
  void stop_printer();
  server_figures read_figures() const;
  void close_server();

  process_options options_;
  log& log_;
  thread_pool threads_;
  asio_config config_;
  std::optional<caf::actor_system> system_;
  std::shared_ptr<key_ring> keys_;
  std::shared_ptr<client> client_;
  std::optional<service> service_;
  event_listener event_log_;
  std::vector<gateway_actor> gateways_;
  metrics_printer printer_;
  std::optional<http::server> server_;

  /// Connections that are open; the server's own number, for the printer.
  std::atomic<const http::server*> counted_ = nullptr;
};

std::optional<std::string> running_server::start() {
  if (auto wrong = start_client())
    return wrong;
  if (auto wrong = start_service())
    return wrong;
  return start_server();
}

std::optional<std::string> running_server::start_client() {
  client_options options;
  options.contexts = threads_.contexts();
  options.targets = options_.targets;
  options.trusted_ca_file = options_.trusted_ca_file;
  options.dns_servers = options_.dns_servers;
  auto made = client::make(std::move(options));
  if (!made)
    return made.reason().message;
  client_ = std::move(*made);
  return std::nullopt;
}

std::optional<std::string> running_server::start_service() {
  event_log_ = system_->spawn(make_event_log, &log_);
  service_options options;
  options.store = std::move(options_.store);
  options.transport = client_;
  options.random = draw_random;
  options.in_flight_max = options_.in_flight_max;
  options.backlog_max = backlog_max;
  options.make_secret = make_signing_secret;
  options.listener = event_log_;
  if (log_.writes(log_severity::debug))
    options.on_delivery = [&out = log_](const auto& account) {
      out.write(account);
    };
  options.events.bytes_max = event_bytes_max;
  options.alerts = std::move(options_.alerts);
  if (options.alerts) {
    options.alerts->encode = [](const alert& what) {
      return payload{encode(what)};
    };
    options.alerts->read_since = [](const payload& encoded) {
      return read_since(encoded.bytes());
    };
  }
  options.on_api_keys = [keys = keys_](const auto& list) {
    keys->replace(list);
  };
  service_.emplace(*system_, std::move(options));
  if (auto wrong = service_->start_and_wait())
    return wrong->message;
  return std::nullopt;
}

void running_server::start_printer() {
  metrics_sources sources;
  sources.metrics = service_->metrics();
  sources.server = [this] { return read_figures(); };
  sources.queues_max = options_.metrics_queues;
  printer_ = system_->spawn<caf::detached>(make_metrics_printer,
                                           std::move(sources));
}

server_figures running_server::read_figures() const {
  server_figures result;
  result.process = read_process_figures();
  if (auto counted = counted_.load())
    result.connections = counted->connections();
  result.data_bytes = size_of_file(options_.data_file);
  result.wal_bytes = size_of_file(options_.data_file.string() + "-wal");
  return result;
}

std::optional<std::string> running_server::start_server() {
  start_printer();
  for (std::uint32_t i = 0; i < options_.threads; ++i)
    gateways_.push_back(system_->spawn(
      make_gateway,
      gateway_peers{service_->registry(), service_->operations(),
                    service_->access(), service_->events(), printer_}));
  api_options api;
  api.now = [] { return read_clocks().wall; };
  api.publish_price = options_.publish_price;
  api.complaint_about_target =
    [targets = options_.targets](const std::string& url) {
      return complaint_about_webhook(targets, url);
    };
  server_.emplace(options_.server, threads_.contexts(),
                  std::make_shared<gateway_handler>(keys_, std::move(api),
                                                    gateways_, log_));
  counted_ = &*server_;
  if (auto wrong = server_->start())
    return wrong;
  options_.on_listening(server_->port());
  return std::nullopt;
}

/// It reads what is taken down next, so it is waited for.
void running_server::stop_printer() {
  if (!printer_)
    return;
  caf::anon_send_exit(printer_, caf::exit_reason::user_shutdown);
  caf::scoped_actor self{*system_};
  self->wait_for(printer_);
  printer_ = nullptr;
}

void running_server::close_server() {
  auto closed = std::make_shared<std::promise<void>>();
  server_->stop([closed] { closed->set_value(); });
  if (closed->get_future().wait_for(close_timeout) != std::future_status::ready)
    log_.write(log_severity::warn, "some clients did not read their answers");
  server_->abort();
}

void running_server::stop() {
  if (service_ && server_ && !service_->drain(options_.drain_timeout))
    log_.write(log_severity::warn,
               "deliveries still under way are aborted; they will be repeated");
  if (server_)
    close_server();
  for (auto& gateway : gateways_)
    caf::anon_send_exit(gateway, caf::exit_reason::user_shutdown);
  gateways_.clear();
  stop_printer();
  server_.reset();
  service_.reset();
  if (client_)
    client_->stop();
  if (event_log_)
    caf::anon_send_exit(event_log_, caf::exit_reason::user_shutdown);
  event_log_ = nullptr;
  system_->await_all_actors_done();
  system_.reset();
}

} // namespace

namespace {

/// Reads the certificate again, where there is one.
void reload(server_tls* tls, log& out) {
  if (!tls)
    out.write(log_severity::info, "SIGHUP: there is nothing to read again");
  else if (auto wrong = tls->reload())
    out.write(log_severity::error,
              "the certificate stays as it was: " + wrong->message);
  else
    out.write(log_severity::info, "new connections get the new certificate");
}

} // namespace

int run_process(process_options options, log& out) {
  stop_request stop{
    [tls = options.server.tls, &out] { reload(tls.get(), out); }};
  running_server server{std::move(options), out};
  auto wrong = server.start();
  if (wrong) {
    out.write(log_severity::error, *wrong);
  } else {
    out.write(log_severity::info, "started");
    stop.wait();
    out.write(log_severity::info, "stopping");
  }
  server.stop();
  return wrong ? 1 : 0;
}

} // namespace tidegate::http
