#include "http/client.hpp"

#include <atomic>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "http/client_exchange.hpp"
#include "http/client_lane.hpp"
#include "http/webhook_request.hpp"

namespace tidegate::http {

namespace {

// A delivery that ended before it began.
class ended_call final : public transport::call {
public:
  void abort() override {
    // nop
  }
};

std::shared_ptr<transport::call> end(delivery_errc code, std::string why,
                                     const transport::callback& done) {
  delivery_reply reply;
  reply.error_code = code;
  reply.error = std::move(why);
  done(std::move(reply));
  return std::make_shared<ended_call>();
}

} // namespace

struct client::state {
  std::shared_ptr<client_shared> shared;
  std::vector<std::shared_ptr<client_lane>> lanes;
  std::atomic<std::size_t> turn = 0;
  std::atomic<bool> stopped = false;

  const std::shared_ptr<client_lane>& pick() {
    for (const auto& lane : lanes)
      if (lane->executor().running_in_this_thread())
        return lane;
    return lanes[turn.fetch_add(1, std::memory_order_relaxed) % lanes.size()];
  }
};

result<std::unique_ptr<client>> client::make(client_options options) {
  if (options.contexts.empty())
    return error{errc::validation_failed, "the client needs an I/O context"};
  auto trust = client_trust::make(options.trusted_ca_file);
  if (!trust)
    return trust.reason();
  if (!options.resolver.lookup) {
    auto dns = dns_client::make({options.dns_servers});
    if (!dns)
      return dns.reason();
    options.resolver.lookup = [dns = *dns](const std::string& host,
                                           lookup_callback done) {
      dns->look_up(host, std::move(done));
    };
  }
  auto content = std::make_unique<state>();
  content->shared = std::make_shared<client_shared>(std::move(options),
                                                    std::move(*trust));
  for (auto* context : content->shared->options.contexts)
    content->lanes.push_back(
      std::make_shared<client_lane>(*context, content->shared));
  return std::unique_ptr<client>{new client(std::move(content))};
}

client::client(std::unique_ptr<state> content) : state_(std::move(content)) {
  // nop
}

client::~client() {
  stop();
}

std::shared_ptr<transport::call> client::post(delivery what, callback done) {
  auto started = net_clock::now();
  if (state_->stopped)
    return end(delivery_errc::aborted, "the client has been stopped", done);
  auto url = parse_webhook_url(what.url);
  if (!url)
    return end(delivery_errc::invalid_url, url.reason().message, done);
  outgoing_request request{std::move(*url), {}, started, what.timeout, {}};
  if (request.url.tls) {
    auto trust = state_->shared->trust->of(what);
    if (!trust)
      return end(delivery_errc::tls_failed, "tlsCa " + trust.reason().message,
                 done);
    request.trust = std::move(*trust);
    request.url.origin += request.trust->mark;
  }
  request.bytes = webhook_request(what, request.url);
  auto lane = state_->pick();
  auto exchange = std::make_shared<client_exchange>(lane, std::move(request),
                                                    std::move(done));
  auto deadline = started + what.timeout;
  asio::dispatch(lane->executor(),
                 [lane, exchange, deadline] { lane->run(exchange, deadline); });
  return exchange;
}

void client::stop() {
  if (state_->stopped.exchange(true))
    return;
  state_->shared->resolver.stop();
  for (const auto& lane : state_->lanes)
    asio::post(lane->executor(), [lane] { lane->stop(); });
}

} // namespace tidegate::http
