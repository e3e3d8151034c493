// The READER actor: looks things up beside the PERSISTENCE actor.

#pragma once

#include <memory>

#include "actors/storage_protocol.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

class reader_state {
public:
  reader_state();

  static inline const char* name = "tidegate.reader";

  void open(std::unique_ptr<store_reader> door);

  caf::result<jobs_read> handle(const read_jobs& request);
  caf::result<job_record> handle(const find_job& request);
  caf::result<job_by_key> handle(const find_job_by_key& request);
  caf::result<message_found> handle(const find_message& request);
  caf::result<job_page> handle(const job_page_query& request);
  caf::result<dead_letter_count> handle(const count_dead_letters& request);
  caf::result<removable_jobs> handle(const find_removable& request);
  caf::result<operations_read> handle(read_operations);
  caf::result<api_keys_read> handle(const read_api_keys& request);
  caf::result<usage_list> handle(const get_usage& request);

private:
  std::unique_ptr<store_reader> door_;
};

reader_actor::behavior_type
make_reader(reader_actor::stateful_pointer<reader_state> self,
            std::shared_ptr<std::unique_ptr<store_reader>> door);

} // namespace tidegate
