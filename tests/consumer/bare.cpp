// The least that an embedder links: the actors, with a store and a transport of
// its own.

#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>

#include <tidegate/service.hpp>

using namespace std::chrono_literals;
using namespace tidegate;

namespace {

/// What was published, as long as the program runs.
struct contents {
  std::mutex mutex;
  std::map<job_seq, job> jobs;
};

class own_reader : public store_reader {
public:
  explicit own_reader(std::shared_ptr<contents> kept) : kept_(std::move(kept)) {
    // nop
  }

  result<std::vector<job>> load(queue_id, std::span<const job_seq> seqs,
                                std::size_t) override {
    std::lock_guard guard{kept_->mutex};
    std::vector<job> found;
    for (auto seq : seqs)
      if (auto i = kept_->jobs.find(seq); i != kept_->jobs.end())
        found.push_back(i->second);
    return found;
  }

  result<std::optional<job_record>> find(job_id) override {
    return std::optional<job_record>{};
  }

  result<std::optional<job_record>> find_message(job_seq,
                                                 std::uint64_t) override {
    return std::optional<job_record>{};
  }

  result<std::optional<job>> find_by_key(queue_id,
                                         const std::string&) override {
    return std::optional<job>{};
  }

  result<job_page> list(const job_page_query&) override {
    return job_page{};
  }

  result<std::uint64_t> count_dead_letters(queue_id,
                                           const job_filter&) override {
    return std::uint64_t{0};
  }

  result<std::uint64_t> count_dead_messages(queue_id,
                                            const job_filter&) override {
    return std::uint64_t{0};
  }

  result<std::vector<job_id>> removable(wall_time, std::size_t) override {
    return std::vector<job_id>{};
  }

  result<std::vector<operation_record>> operations() override {
    return std::vector<operation_record>{};
  }

  result<std::vector<api_key_record>> api_keys() override {
    return std::vector<api_key_record>{};
  }

  result<std::uint64_t> api_keys_version() override {
    return std::uint64_t{0};
  }

  result<std::vector<usage_record>> usage(const std::string&, std::int64_t,
                                          std::int64_t) override {
    return std::vector<usage_record>{};
  }

private:
  std::shared_ptr<contents> kept_;
};

class own_store : public store {
public:
  result<std::vector<commit_answer>>
  commit(std::span<const record> batch) override {
    std::lock_guard guard{kept_->mutex};
    for (const auto& each : batch)
      if (auto what = std::get_if<insert_job>(&each))
        kept_->jobs.emplace(what->job.id.seq, what->job);
    return std::vector<commit_answer>(batch.size());
  }

  std::optional<error> reopen() override {
    return std::nullopt;
  }

  result<std::vector<queue_snapshot>> load_queues() override {
    return std::vector<queue_snapshot>{};
  }

  result<job_seq> last_job_seq() override {
    return job_seq{};
  }

  result<queue_id> last_queue_id() override {
    return queue_id{};
  }

  result<operation_id> last_operation_id() override {
    return operation_id{};
  }

  result<std::unique_ptr<store_reader>> open_reader() override {
    return std::unique_ptr<store_reader>{std::make_unique<own_reader>(kept_)};
  }

private:
  std::shared_ptr<contents> kept_ = std::make_shared<contents>();
};

class own_transport : public transport {
public:
  std::shared_ptr<call> post(delivery what, callback done) override {
    arrived.set_value(what.payload.bytes());
    delivery_reply reply;
    reply.http_status = 200;
    done(std::move(reply));
    return nullptr;
  }

  std::promise<std::string> arrived;
};

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << why << '\n';
  std::exit(EXIT_FAILURE);
}

} // namespace

int main() {
  caf::actor_system_config config;
  caf::actor_system system{config};
  auto door = std::make_shared<own_transport>();
  service_options options;
  options.store = std::make_unique<own_store>();
  options.transport = door;
  service jobs{system, std::move(options)};
  if (auto wrong = jobs.start_and_wait())
    give_up(wrong->message);
  auto refused = [](const caf::error& reason) {
    give_up(from_caf(reason).message);
  };
  caf::scoped_actor self{system};
  queue_settings settings;
  settings.webhook_url = "http://nowhere.invalid/";
  self->request(jobs.registry(), 10s, create_queue{"q", settings})
    .receive([](put_queue_result&) {}, refused);
  queue_actor queue;
  self->request(jobs.registry(), 10s, find_queue{"q"})
    .receive([&](queue_actor& found) { queue = found; }, refused);
  publish first;
  first.payload = payload{"\"hello\""};
  self->request(queue, 10s, first).receive([](publish_result&) {}, refused);
  auto arrival = door->arrived.get_future();
  if (arrival.wait_for(20s) != std::future_status::ready)
    give_up("nothing arrived");
  std::cout << "arrived: " << arrival.get() << '\n';
  return jobs.drain(10s) ? EXIT_SUCCESS : EXIT_FAILURE;
}
