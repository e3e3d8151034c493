#include "tidegate/actor_transport.hpp"

#include <atomic>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/courier_actor.hpp"

namespace tidegate {

namespace {

class courier_call : public transport::call {
public:
  courier_call(courier_actor courier, std::uint64_t id)
    : courier_(std::move(courier)), id_(id) {
    // nop
  }

  void abort() override {
    caf::anon_send(courier_, abort_errand{id_});
  }

private:
  courier_actor courier_;
  std::uint64_t id_;
};

} // namespace

struct actor_transport::impl {
  std::function<moment()> now;
  courier_actor courier;
  std::atomic<std::uint64_t> last{0};
};

actor_transport::actor_transport(caf::actor_system& system, job_handler handler,
                                 std::function<moment()> now)
  : impl_(new impl{std::move(now), {}}) {
  impl_->courier = system.spawn(make_courier, std::move(handler), impl_->now);
}

actor_transport::~actor_transport() {
  caf::anon_send_exit(impl_->courier, caf::exit_reason::user_shutdown);
}

void actor_transport::use(job_handler handler) {
  caf::anon_send(impl_->courier, use_handler{std::move(handler)});
}

std::shared_ptr<transport::call> actor_transport::post(delivery what,
                                                       callback done) {
  auto id = impl_->last.fetch_add(1, std::memory_order_relaxed) + 1;
  errand e{id, std::move(what), std::move(done), impl_->now().steady};
  caf::anon_send(impl_->courier,
                 start_errand{std::make_shared<errand>(std::move(e))});
  return std::make_shared<courier_call>(impl_->courier, id);
}

} // namespace tidegate
