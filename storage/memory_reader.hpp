// The door for reading what a memory store has.

#pragma once

#include <memory>

#include "storage/memory_contents.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

std::unique_ptr<store_reader>
make_memory_reader(std::shared_ptr<memory_contents> contents);

} // namespace tidegate
