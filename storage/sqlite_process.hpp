// What a program may say about SQLite as a whole.

#pragma once

namespace tidegate {

/// Stops SQLite from keeping count of its memory, which takes a lock that all
/// threads share for each piece: 6 % of the instructions of a commit. For the
/// whole process, so that it is the program's to decide; called before anything
/// in it uses SQLite, else it does nothing.
void skip_sqlite_memory_statistics() noexcept;

} // namespace tidegate
