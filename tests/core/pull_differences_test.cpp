// How the settings of two pull queues differ.

#include "actors/core/pull_differences.hpp"

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace std::chrono_literals;

TEST_CASE("the same settings do not differ") {
  CHECK(differences({}, {}).empty());
  CHECK(differences(dead_letter_settings(), dead_letter_settings()).empty());
}

TEST_CASE("each setting that differs is named, as it is and as it was meant") {
  pull_settings asked;
  asked.max_receive_count = 5;
  CHECK(differences({}, asked) == "max_receive_count (3, not 5)");
  asked.dead_letter_queue = "graveyard";
  asked.message_retention = 36h;
  asked.visibility_timeout = 1s;
  asked.delay = 7s;
  asked.enable_priority = true;
  asked.fifo = true;
  CHECK(differences({}, asked)
        == "type (standard, not fifo), "
           "dead_letter_queue (the default, not 'graveyard'), "
           "max_receive_count (3, not 5), "
           "message_retention_days (4, not 1.5), "
           "visibility_timeout_default (300, not 1), "
           "delay_seconds_default (0, not 7), "
           "enable_priority (false, not true)");
}

TEST_CASE("every setting has a name, so that none differs in silence") {
  auto differs = [](auto change) {
    pull_settings asked;
    change(asked);
    return asked != pull_settings{} && !differences({}, asked).empty();
  };
  CHECK(differs([](auto& s) { s.dead_letter_queue = "x"; }));
  CHECK(differs([](auto& s) { s.max_receive_count = 0; }));
  CHECK(differs([](auto& s) { s.message_retention += 24h; }));
  CHECK(differs([](auto& s) { s.visibility_timeout += 1s; }));
  CHECK(differs([](auto& s) { s.delay += 1s; }));
  CHECK(differs([](auto& s) { s.enable_priority = true; }));
  CHECK(differs([](auto& s) { s.fifo = true; }));
}
