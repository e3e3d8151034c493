// Who may include whom. The linker cannot tell, so this does.

#pragma once

#include "tests/tidy/source.hpp"

namespace tidegate::tidy {

/// The arrows of the architecture: config/, storage/ and http/ include actors/,
/// never each other (http/main.cpp joins them), and nothing includes tests/ or
/// examples/.
findings check_folders(const source& file);

/// Values and logic include the standard library and each other, nothing else.
findings check_core_includes(const source& file);

/// The logic reads no clock, draws no random number, starts no thread, asks no
/// environment and prints nothing.
findings check_core_is_pure(const source& file);

/// Libraries that are dear to compile are included where they are used and
/// not in headers, but for those inside of http/ that few files share. All of
/// CAF at once is included nowhere.
findings check_heavy_includes(const std::vector<source>& tree);

/// JSON documents are read and written in http/codec*.cpp only.
findings check_json(const source& file);

} // namespace tidegate::tidy
