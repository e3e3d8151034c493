#include "actors/reader_actor.hpp"

#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "tidegate/protocol.hpp"

namespace tidegate {

namespace {

/// Most bytes of payload that one answer carries, unless one job has more.
constexpr std::size_t payload_bytes_max = 1024 * 1024;

} // namespace

reader_state::reader_state() {
  // nop
}

reader_actor::behavior_type
make_reader(reader_actor::stateful_pointer<reader_state> self,
            std::shared_ptr<std::unique_ptr<store_reader>> door) {
  auto& state = self->state;
  state.door = std::move(*door);
  return {
    [&state](const read_jobs& request) -> caf::result<jobs_read> {
      auto jobs = state.door->load(request.queue, request.seqs,
                                   payload_bytes_max);
      if (!jobs)
        return to_caf(jobs.reason());
      return jobs_read{std::move(*jobs)};
    },
    [&state](const find_job& request) -> caf::result<job_record> {
      auto found = state.door->find(request.id);
      if (!found)
        return to_caf(found.reason());
      if (!*found)
        return to_caf({errc::job_not_found, "Job not found"});
      return std::move(**found);
    },
  };
}

} // namespace tidegate
