// The store in memory: for tests, simulations and programs that need nothing to
// outlive them. Same contract as the one on SQLite, but for durability.

#pragma once

#include <memory>

#include "tidegate/store.hpp"

namespace tidegate {

/// Everything that a memory store keeps: what the disk is to the other one.
struct memory_contents;

/// Returns contents with nothing in them.
std::shared_ptr<memory_contents> make_memory_contents();

/// Returns a store of its own contents.
std::unique_ptr<store> make_memory_store();

/// Returns a store on `contents`. A program that dies and starts again is
/// simulated by destroying one store and making the next on the same contents.
/// Only one store may use them at a time, and its readers beside it.
std::unique_ptr<store>
make_memory_store(std::shared_ptr<memory_contents> contents);

} // namespace tidegate
