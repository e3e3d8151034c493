// A service in virtual time, as those see it who work with pull queues.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/testkit/world.hpp"

namespace tidegate::testkit {

/// Every request throws as those of `world` do.
class pull_world : public world {
public:
  using world::world;

  pull_queue_actor pull(const std::string& name, bool make = false) {
    return ask<pull_queue_actor>(registry(),
                                 find_pull_queue{default_project, name, make});
  }

  void create_pull(const std::string& name, pull_settings settings = {}) {
    ask<pull_queue_created>(registry(),
                            create_pull_queue{default_project, name, settings});
  }

  message_published put(const std::string& queue, publish_message what = {}) {
    if (what.payload.bytes().empty())
      what.payload = payload{"1"};
    return ask<message_published>(pull(queue), std::move(what));
  }

  std::vector<message_view> consume(const std::string& queue,
                                    std::size_t limit = 1) {
    consume_messages what;
    what.limit = limit;
    auto got = ask<messages_received>(pull(queue), what);
    return std::move(got.items);
  }

  message_settled settle(const std::string& queue, settle_message::kind kind,
                         message_id id, std::optional<receipt> handle = {}) {
    settle_message what;
    what.what = kind;
    what.id = id;
    what.handle = handle;
    return ask<message_settled>(pull(queue), what);
  }

  pull_queue_view stats(const std::string& queue) {
    return ask<pull_queue_view>(pull(queue), get_pull_queue{});
  }

  pull_queue_view subscribe(const std::string& queue,
                            std::uint32_t concurrency = 10) {
    subscribe_webhook what;
    what.settings.webhook_url = "http://example.com/hook";
    what.settings.concurrency = concurrency;
    return ask<pull_queue_view>(pull(queue), what);
  }
};

inline message_id id_of(const message_view& message) {
  return {message.job.id.seq, message.job.id.tag};
}

} // namespace tidegate::testkit
