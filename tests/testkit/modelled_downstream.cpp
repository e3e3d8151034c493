#include "tests/testkit/modelled_downstream.hpp"

#include <algorithm>
#include <utility>

namespace tidegate::testkit {

/// One delivery under way.
class modelled_downstream::exchange : public transport::call {
public:
  exchange(modelled_downstream& owner, response said, moment now,
           callback on_end)
    : answer(std::move(said)), generation(owner.generation_),
      started(now.steady), done(std::move(on_end)), owner_(owner) {
    // nop
  }

  void abort() override {
    if (ended)
      return;
    ended = true;
    if (generation == owner_.generation_)
      --owner_.in_flight_;
    delivery_reply reply;
    reply.error_code = delivery_errc::aborted;
    reply.error = "aborted";
    done(std::move(reply));
  }

  duration took() const {
    return owner_.system_.now().steady - started;
  }

  response answer;

  /// What is reported on; nothing where nothing is.
  std::optional<delivery> what;

  std::uint64_t generation;
  steady_time started;
  callback done;
  bool ended = false;

private:
  modelled_downstream& owner_;
};

modelled_downstream::modelled_downstream(virtual_system& system,
                                         decision decide)
  : system_(system), decide_(std::move(decide)) {
  // nop
}

std::shared_ptr<transport::call> modelled_downstream::post(delivery what,
                                                           callback done) {
  auto now = system_.now();
  auto x = std::make_shared<exchange>(*this, decide_(what, now), now,
                                      std::move(done));
  auto latency = x->answer.latency;
  if (latency > what.timeout)
    x->answer.status = 0;
  if (x->answer.report)
    x->what = what;
  system_.after(std::min(latency, what.timeout), [this, x] {
    if (x->generation == generation_ && !x->ended)
      finish(*x);
  });
  arrivals_.push_back({std::move(what), now});
  in_flight_max_ = std::max(in_flight_max_, ++in_flight_);
  return x;
}

void modelled_downstream::finish(exchange& x) {
  auto& answer = x.answer;
  --in_flight_;
  ++answered_[answer.status];
  x.ended = true;
  delivery_reply reply;
  reply.took = x.took();
  if (answer.status == 0) {
    reply.error_code = delivery_errc::connection_reset;
    reply.error = "the connection broke";
  } else {
    reply.http_status = answer.status;
    if (!answer.retry_after.empty())
      reply.retry_after = {answer.retry_after};
  }
  x.done(std::move(reply));
  if (answer.status != 0 && answer.report)
    report_later(*x.what, *answer.report);
}

void modelled_downstream::report_later(const delivery& what,
                                       const worker_report& said) {
  system_.after(said.after, [this, said, what, g = generation_] {
    if (g == generation_ && report_)
      report_(what, said);
  });
}

void modelled_downstream::remember(const modelled_downstream& before) {
  arrivals_ = before.arrivals_;
  answered_ = before.answered_;
  in_flight_max_ = before.in_flight_max_;
}

void modelled_downstream::forget() {
  arrivals_.clear();
  answered_.clear();
  in_flight_max_ = in_flight_;
}

response acked(duration after) {
  response result;
  result.report = worker_report{callback_kind::ack, after, true, {}, {}};
  return result;
}

response nacked(duration after, bool retryable) {
  response result;
  result.report = worker_report{callback_kind::nack, after, retryable, {}, {}};
  return result;
}

response deferred(duration after, duration wait,
                  std::optional<defer_scope> scope) {
  response result;
  result.report = worker_report{callback_kind::defer, after, true, wait, scope};
  return result;
}

modelled_downstream::decision always(response answer) {
  return [answer](const delivery&, moment) { return answer; };
}

modelled_downstream::decision in_turn(std::vector<response> answers) {
  auto next = std::make_shared<std::size_t>(0);
  return [answers = std::move(answers), next](const delivery&, moment) {
    auto i = *next;
    *next = std::min(i + 1, answers.size() - 1);
    return answers[i];
  };
}

modelled_downstream::decision outage(duration length, std::string retry_after,
                                     response otherwise) {
  auto ends = std::make_shared<std::optional<steady_time>>();
  return [=](const delivery&, moment now) {
    if (!*ends)
      *ends = now.steady + length;
    if (now.steady < **ends)
      return response{429, retry_after, otherwise.latency};
    return otherwise;
  };
}

} // namespace tidegate::testkit
