#include "http/server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "http/listener.hpp"
#include "http/worker.hpp"

namespace tidegate::http {

namespace asio = boost::asio;

class server::impl {
public:
  impl(server_options options, const std::vector<asio::io_context*>& contexts,
       std::shared_ptr<handler> what)
    : core_(
      std::make_shared<server_core>(std::move(options), std::move(what))) {
    for (auto context : contexts)
      workers_.push_back(std::make_shared<worker>(*context, core_));
    listener_ = std::make_shared<listener>(workers_);
  }

  std::optional<std::string> start() {
    return listener_->open(core_->options.address, core_->options.port);
  }

  std::uint16_t port() const {
    return listener_->port();
  }

  std::size_t connections() const {
    return core_->connections.value();
  }

  void stop(std::function<void()> stopped) {
    auto first = workers_.front();
    asio::post(first->context, [listener = listener_, workers = workers_,
                                core = core_, stopped = std::move(stopped)] {
      listener->close();
      // What was accepted before is on its way to its worker already, ahead of
      // this.
      for (const auto& x : workers)
        asio::post(x->context, [x] { x->drain(); });
      auto where = &workers.front()->context;
      core->connections.when_none([where, stopped] {
        if (stopped)
          asio::post(*where, stopped);
      });
    });
  }

  void abort() {
    for (const auto& x : workers_)
      asio::post(x->context, [x] { x->abort(); });
    asio::post(workers_.front()->context,
               [listener = listener_] { listener->close(); });
  }

private:
  std::shared_ptr<server_core> core_;
  std::vector<std::shared_ptr<worker>> workers_;
  std::shared_ptr<listener> listener_;
};

server::server(server_options options, std::vector<asio::io_context*> contexts,
               std::shared_ptr<handler> what)
  : impl_(
    std::make_shared<impl>(std::move(options), contexts, std::move(what))) {
  // nop
}

server::~server() {
  impl_->abort();
}

std::optional<std::string> server::start() {
  return impl_->start();
}

std::uint16_t server::port() const {
  return impl_->port();
}

std::size_t server::connections() const {
  return impl_->connections();
}

void server::stop(std::function<void()> stopped) {
  impl_->stop(std::move(stopped));
}

void server::abort() {
  impl_->abort();
}

} // namespace tidegate::http
