#include "storage/sqlite_process.hpp"

#include <sqlite3.h>

namespace tidegate {

void skip_sqlite_memory_statistics() noexcept {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

} // namespace tidegate
