// The implementations under test, each with a disk that survives a restart, and
// a picture of everything that a store has.

#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidegate/memory_store.hpp"
#include "tidegate/sqlite_store.hpp"
#include "tidegate/store.hpp"

namespace tidegate::test {

// -- helpers ------------------------------------------------------------------

/// A directory that is removed with everything in it.
class temporary_directory {
public:
  temporary_directory();
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory();

  const std::filesystem::path& path() const noexcept {
    return path_;
  }

private:
  std::filesystem::path path_;
};

/// Opens a store that must open.
std::unique_ptr<store> open_good(const sqlite_options& options);

/// Commits a batch that must be taken.
std::vector<commit_answer> commit(store& where, std::vector<record> batch);

/// Opens a reader that must open.
std::unique_ptr<store_reader> open_reader(store& where);

/// Looks for a job with a reader of its own; nothing where there is none.
std::optional<job_record> find(store& where, job_id id);

/// Looks for a message with a reader of its own, in whichever queue it is;
/// nothing where there is none.
std::optional<job> message_of(store& where, job_id id);

// -- worlds -------------------------------------------------------------------

class memory_world {
public:
  memory_world();

  store& disk() {
    return *store_;
  }

  void restart();

private:
  std::shared_ptr<memory_contents> contents_;
  std::unique_ptr<store> store_;
};

class sqlite_world {
public:
  sqlite_world();

  store& disk() {
    return *store_;
  }

  void restart();

private:
  temporary_directory directory_;
  std::unique_ptr<store> store_;
};

// -- pictures -----------------------------------------------------------------

/// A job with its history, comparable.
struct job_picture {
  tidegate::job job;
  std::vector<history_entry> history;
  std::uint64_t history_dropped = 0;
  bool operator==(const job_picture&) const = default;
};

/// A page of jobs, comparable.
struct page_picture {
  std::vector<job> jobs;
  std::optional<job_seq> next_before;
  bool operator==(const page_picture&) const = default;
};

/// Everything that a store answers about its queues and about some jobs.
struct picture {
  std::vector<queue_record> queues;
  std::vector<std::vector<live_job>> live;
  std::vector<std::vector<limit_key_record>> limit_keys;
  std::vector<page_picture> pages;
  std::vector<std::uint64_t> dead_letters;
  std::vector<std::optional<job_picture>> jobs;
  std::vector<std::optional<job_picture>> messages;
  std::vector<job_id> removable;
  std::vector<operation_record> operations;
  std::vector<api_key_record> api_keys;
  std::uint64_t api_keys_version = 0;
  std::vector<usage_record> usage;
  job_seq last_job;
  queue_id last_queue;
  operation_id last_operation;
  bool operator==(const picture&) const = default;
};

picture take_picture(store& of, const std::vector<job_id>& ids);

} // namespace tidegate::test
