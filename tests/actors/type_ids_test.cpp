// Tidegate's block of type ids.

#include <catch2/catch.hpp>

#include <type_traits>

#include <caf/actor_system.hpp>
#include <caf/deep_to_string.hpp>
#include <caf/detail/type_list.hpp>
#include <caf/make_message.hpp>

#define TIDEGATE_FIRST_TYPE_ID 1000
#include "tidegate/type_ids.hpp"

using namespace tidegate;

namespace {

template <class... Ts>
constexpr bool all_have_ids(caf::detail::type_list<Ts...>) {
  return (caf::detail::is_complete<caf::type_id<Ts>>::value && ...);
}

/// Whether requests and answers of an interface have ids.
template <class... In, class... Out>
constexpr bool has_ids(
  caf::typed_mpi<caf::detail::type_list<In...>, caf::output_tuple<Out...>>) {
  return all_have_ids(caf::detail::type_list<In...>{})
         && ((std::is_same_v<
                Out,
                void> || caf::detail::is_complete<caf::type_id<Out>>::value)
             && ...);
}

template <class... Clauses>
constexpr bool speaks_in_ids(caf::detail::type_list<Clauses...>) {
  return (has_ids(Clauses{}) && ...);
}

template <class Handle>
constexpr bool
  is_covered = speaks_in_ids(typename Handle::signatures{})
               && caf::detail::is_complete<caf::type_id<Handle>>::value;

} // namespace

TEST_CASE("the block begins where the application says and stays short") {
  CHECK(caf::id_block::tidegate::begin == 1000);
  CHECK(caf::id_block::tidegate::end - caf::id_block::tidegate::begin < 200);
}

TEST_CASE("every message of every handle has an id") {
  CHECK(is_covered<registry_actor>);
  CHECK(is_covered<queue_actor>);
  CHECK(is_covered<pull_queue_actor>);
  CHECK(is_covered<operations_actor>);
  CHECK(is_covered<access_actor>);
  CHECK(is_covered<metrics_actor>);
  CHECK(is_covered<events_actor>);
  CHECK(is_covered<event_listener>);
  CHECK(is_covered<job_handler>);
}

TEST_CASE("an actor system prints errors by their names") {
  caf::actor_system_config config;
  register_types(config);
  config.set("scheduler.max-threads", 1);
  caf::actor_system system{config};
  auto reason = to_caf({errc::queue_full, "queue mail has 5 jobs"});
  CHECK(system.render(reason) == "queue_full: queue mail has 5 jobs");
}

TEST_CASE("an actor system knows the messages by their names") {
  caf::actor_system_config config;
  register_types(config);
  config.set("scheduler.max-threads", 1);
  caf::actor_system system{config};
  CHECK(system.types().make_value("tidegate::publish") != nullptr);
  CHECK(system.types().make_value("tidegate::handler_reply") != nullptr);
  CHECK(system.types().make_value("tidegate::unknown") == nullptr);
}
