#include "actors/reader_actor.hpp"

#include <utility>

#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "tidegate/protocol.hpp"

namespace tidegate {

namespace {

/// Most bytes of payload that one answer carries, unless one job has more.
constexpr std::size_t payload_bytes_max = 1024 * 1024;

/// Puts what was read into the message that answers, or says why it cannot.
template <class Answer, class T>
caf::result<Answer> answer_with(result<T>&& read) {
  if (!read)
    return to_caf(read.reason());
  return Answer{std::move(*read)};
}

} // namespace

reader_state::reader_state() {
  // nop
}

void reader_state::open(std::unique_ptr<store_reader> door) {
  door_ = std::move(door);
}

caf::result<jobs_read> reader_state::handle(const read_jobs& request) {
  return answer_with<jobs_read>(
    door_->load(request.queue, request.seqs, payload_bytes_max));
}

caf::result<job_record> reader_state::handle(const find_job& request) {
  auto found = door_->find(request.id);
  if (!found)
    return to_caf(found.reason());
  if (!*found)
    return to_caf({errc::job_not_found, "Job not found"});
  return std::move(**found);
}

caf::result<job_by_key> reader_state::handle(const find_job_by_key& request) {
  return answer_with<job_by_key>(
    door_->find_by_key(request.queue, request.key));
}

caf::result<message_found> reader_state::handle(const find_message& request) {
  return answer_with<message_found>(
    door_->find_message(request.id.seq, request.id.tag));
}

caf::result<job_page> reader_state::handle(const job_page_query& request) {
  return answer_with<job_page>(door_->list(request));
}

caf::result<dead_letter_count>
reader_state::handle(const count_dead_letters& request) {
  if (request.messages)
    return answer_with<dead_letter_count>(
      door_->count_dead_messages(request.queue, request.filter));
  return answer_with<dead_letter_count>(
    door_->count_dead_letters(request.queue, request.filter));
}

caf::result<removable_jobs>
reader_state::handle(const find_removable& request) {
  return answer_with<removable_jobs>(
    door_->removable(request.now, request.limit));
}

caf::result<operations_read> reader_state::handle(read_operations) {
  return answer_with<operations_read>(door_->operations());
}

caf::result<api_keys_read> reader_state::handle(const read_api_keys& request) {
  // The version first: a key that comes between the two reads is seen by the
  // next one again, not missed.
  auto version = door_->api_keys_version();
  if (!version)
    return to_caf(version.reason());
  if (request.known == *version)
    return api_keys_read{*version, std::nullopt};
  auto keys = door_->api_keys();
  if (!keys)
    return to_caf(keys.reason());
  return api_keys_read{*version, std::move(*keys)};
}

caf::result<usage_list> reader_state::handle(const get_usage& request) {
  return answer_with<usage_list>(
    door_->usage(request.project, request.from_day, request.to_day));
}

reader_actor::behavior_type
make_reader(reader_actor::stateful_pointer<reader_state> self,
            std::shared_ptr<std::unique_ptr<store_reader>> door) {
  auto& state = self->state;
  state.open(std::move(*door));
  return {
    [&state](const read_jobs& x) { return state.handle(x); },
    [&state](const find_job& x) { return state.handle(x); },
    [&state](const find_job_by_key& x) { return state.handle(x); },
    [&state](const find_message& x) { return state.handle(x); },
    [&state](const job_page_query& x) { return state.handle(x); },
    [&state](const count_dead_letters& x) { return state.handle(x); },
    [&state](const find_removable& x) { return state.handle(x); },
    [&state](read_operations x) { return state.handle(x); },
    [&state](const read_api_keys& x) { return state.handle(x); },
    [&state](const get_usage& x) { return state.handle(x); },
  };
}

} // namespace tidegate
