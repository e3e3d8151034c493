#include "storage/sqlite_process.hpp"

#include <sqlite3.h>

namespace tidegate {

void skip_sqlite_memory_statistics() noexcept {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  // Else every UPDATE with RETURNING allocates 64 KiB for a journal of its own.
  sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1);
}

} // namespace tidegate
