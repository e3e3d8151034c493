// What is shown of a URL.

#include <catch2/catch.hpp>

#include "actors/core/shown_url.hpp"

using namespace tidegate;

TEST_CASE("a URL is shown without what may be secret in it") {
  CHECK(shown_url("https://a.example/hook") == "https://a.example/hook");
  CHECK(shown_url("https://a.example/hook?token=x#y")
        == "https://a.example/hook?***");
  CHECK(shown_url("https://a.example/#token") == "https://a.example/#***");
  CHECK(shown_url("https://me:pass@a.example/?x")
        == "https://***@a.example/?***");
  CHECK(shown_url("https://me:p/a@ss@a.example/") == "https://***@a.example/");
  CHECK(shown_url("https://me:p?a#ss@a.example/") == "https://***@a.example/");
  CHECK(shown_url("https://me:p?a@a.example/?x#y")
        == "https://***@a.example/?***");
  CHECK(shown_url("https://a.example/hook?mail=me@b.example")
        == "https://a.example/hook?***");
}

TEST_CASE("what is no URL is shown with the same care") {
  CHECK(shown_url("") == "");
  CHECK(shown_url("me:pass@a.example") == "***@a.example");
  CHECK(shown_url("a.example?token=x") == "a.example?***");
  CHECK(shown_url("ftp://me@a.example") == "ftp://***@a.example");
}
