#include "http/asio_scheduler.hpp"

#include <future>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <caf/detail/set_thread_name.hpp>
#include <caf/detail/thread_safe_actor_clock.hpp>
#include <caf/execution_unit.hpp>
#include <caf/logger.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

namespace tidegate::http {

namespace {

/// How many messages an actor handles before others get their turn.
constexpr std::size_t messages_in_a_row = 64;

class coordinator;

/// What one context is to CAF.
class unit : public caf::execution_unit {
public:
  unit(caf::actor_system* system, coordinator& owner,
       boost::asio::io_context& context)
    : caf::execution_unit(system), owner_(owner), context_(context) {
    // nop
  }

  /// Runs `job` on this unit's thread, soon. Takes over one reference to it.
  void run_later(caf::resumable* job);

  void exec_later(caf::resumable* job) override;

  /// Waits until this unit's thread has let go of the system's logger, which
  /// every thread that spawns an actor holds on to.
  void release_logger();

private:
  void run(caf::resumable* job);

  coordinator& owner_;
  boost::asio::io_context& context_;
};

class coordinator : public caf::scheduler::abstract_coordinator {
public:
  using super = caf::scheduler::abstract_coordinator;

  explicit coordinator(caf::actor_system& system) : super(system) {
    const auto& config = static_cast<const asio_config&>(system.config());
    for (auto context : config.contexts())
      units_.push_back(std::make_unique<unit>(&system, *this, *context));
  }

  static caf::actor_system::module* make(caf::actor_system& system,
                                         caf::detail::type_list<>) {
    return new coordinator(system);
  }

  void enqueue(caf::resumable* job) override {
    auto id = static_cast<caf::scheduled_actor*>(job)->id();
    units_[id % units_.size()]->run_later(job);
  }

  caf::actor_clock& clock() noexcept override {
    return clock_;
  }

protected:
  void start() override {
    timer_ = std::thread{[this] {
      caf::detail::set_thread_name("tidegate.clock");
      clock_.run_dispatch_loop();
    }};
    super::start();
  }

  void stop() override {
    stop_actors();
    clock_.cancel_dispatch_loop();
    timer_.join();
    for (auto& u : units_)
      u->release_logger();
  }

private:
  std::vector<std::unique_ptr<unit>> units_;
  caf::detail::thread_safe_actor_clock clock_;
  std::thread timer_;
};

void unit::run_later(caf::resumable* job) {
  boost::asio::post(context_, [this, job] { run(job); });
}

void unit::exec_later(caf::resumable* job) {
  owner_.enqueue(job);
}

void unit::release_logger() {
  std::promise<void> released;
  boost::asio::post(context_, [&released] {
    caf::logger::set_current_actor_system(nullptr);
    released.set_value();
  });
  released.get_future().wait();
}

void unit::run(caf::resumable* job) {
  switch (job->resume(this, messages_in_a_row)) {
    case caf::resumable::resume_later:
      run_later(job);
      break;
    case caf::resumable::done:
    case caf::resumable::awaiting_message:
    case caf::resumable::shutdown_execution_unit:
      caf::intrusive_ptr_release(job);
      break;
  }
}

} // namespace

asio_config::asio_config(std::vector<boost::asio::io_context*> contexts)
  : contexts_(std::move(contexts)) {
  load<coordinator>();
}

} // namespace tidegate::http
