#include "failing_vfs.hpp"

#include <fstream>
#include <iterator>
#include <new>
#include <optional>
#include <sqlite3.h>

namespace tidegate::test {

// -- shaky_disk ---------------------------------------------------------------

void shaky_disk::fail_at(std::uint64_t n, trouble what) {
  steps_left_ = n;
  trouble_ = what;
  armed_ = true;
  failed_ = false;
}

void shaky_disk::heal() {
  armed_ = false;
}

bool shaky_disk::step() {
  if (!armed_)
    return false;
  if (steps_left_ > 0) {
    --steps_left_;
    return false;
  }
  if (trouble_ == trouble::once)
    armed_ = false;
  failed_ = true;
  return true;
}

void shaky_disk::apply(std::string& content, const change& what) {
  auto offset = static_cast<std::size_t>(what.offset);
  if (what.cuts) {
    content.resize(offset);
    return;
  }
  if (what.bytes.empty())
    return;
  if (content.size() < offset + what.bytes.size())
    content.resize(offset + what.bytes.size());
  content.replace(offset, what.bytes.size(), what.bytes);
}

void shaky_disk::draw(change& what, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      what.bytes.clear();
      what.cuts = false;
      break;
    case 1:
      what.bytes.resize(random() % (what.bytes.size() + 1));
      break;
    default:
      break;
  }
}

void shaky_disk::cut_power(const std::filesystem::path& target, unsynced fate,
                           std::mt19937_64& random) const {
  for (auto& [name, kept] : files_) {
    auto content = kept.synced;
    for (auto what : kept.pending) {
      if (fate == unsynced::lost)
        break;
      if (fate == unsynced::drawn)
        draw(what, random);
      apply(content, what);
    }
    std::ofstream out{target / std::filesystem::path{name}.filename(),
                      std::ios::binary};
    out << content;
  }
}

void shaky_disk::opened(const std::string& name) {
  if (files_.contains(name))
    return;
  std::ifstream in{name, std::ios::binary};
  files_[name].synced.assign(std::istreambuf_iterator<char>{in}, {});
}

void shaky_disk::wrote(const std::string& name, std::int64_t offset,
                       std::string bytes) {
  files_[name].pending.push_back({offset, std::move(bytes), false});
}

void shaky_disk::cut(const std::string& name, std::int64_t size) {
  files_[name].pending.push_back({size, {}, true});
}

void shaky_disk::synced(const std::string& name) {
  auto& file = files_[name];
  for (auto& what : file.pending)
    apply(file.synced, what);
  file.pending.clear();
}

void shaky_disk::removed(const std::string& name) {
  files_.erase(name);
}

// -- file ---------------------------------------------------------------------

namespace {

struct open_file {
  sqlite3_file base;
  shaky_disk* disk;
  std::string name;

  // SQLite allots the real file right behind this one.
  sqlite3_file* real() {
    return reinterpret_cast<sqlite3_file*>(this + 1);
  }
};

open_file& self(sqlite3_file* file) {
  return *reinterpret_cast<open_file*>(file);
}

const sqlite3_io_methods& real_methods(sqlite3_file* file) {
  return *self(file).real()->pMethods;
}

int close_file(sqlite3_file* file) {
  auto status = real_methods(file).xClose(self(file).real());
  self(file).~open_file();
  return status;
}

int read_file(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
  if (self(file).disk->step())
    return SQLITE_IOERR_READ;
  return real_methods(file).xRead(self(file).real(), bytes, size, offset);
}

int write_file(sqlite3_file* file, const void* bytes, int size,
               sqlite3_int64 offset) {
  auto& [base, disk, name] = self(file);
  auto fails = disk->step();
  if (fails && !disk->tears())
    return SQLITE_IOERR_WRITE;
  auto written = fails ? size / 2 : size;
  disk->wrote(name, offset,
              {static_cast<const char*>(bytes),
               static_cast<std::size_t>(written)});
  auto status = real_methods(file).xWrite(self(file).real(), bytes, written,
                                          offset);
  return fails ? SQLITE_FULL : status;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  if (self(file).disk->step())
    return SQLITE_IOERR_TRUNCATE;
  self(file).disk->cut(self(file).name, size);
  return real_methods(file).xTruncate(self(file).real(), size);
}

int sync_file(sqlite3_file* file, int) {
  if (self(file).disk->step())
    return SQLITE_IOERR_FSYNC;
  self(file).disk->synced(self(file).name);
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return real_methods(file).xFileSize(self(file).real(), size);
}

int lock_file(sqlite3_file* file, int level) {
  return real_methods(file).xLock(self(file).real(), level);
}

int unlock_file(sqlite3_file* file, int level) {
  return real_methods(file).xUnlock(self(file).real(), level);
}

int check_lock(sqlite3_file* file, int* locked) {
  return real_methods(file).xCheckReservedLock(self(file).real(), locked);
}

int control_file(sqlite3_file* file, int what, void* argument) {
  return real_methods(file).xFileControl(self(file).real(), what, argument);
}

int sector_size(sqlite3_file* file) {
  return real_methods(file).xSectorSize(self(file).real());
}

int characteristics(sqlite3_file* file) {
  return real_methods(file).xDeviceCharacteristics(self(file).real());
}

int map_shared(sqlite3_file* file, int page, int size, int extend,
               void volatile** where) {
  return real_methods(file).xShmMap(self(file).real(), page, size, extend,
                                    where);
}

int lock_shared(sqlite3_file* file, int offset, int n, int flags) {
  return real_methods(file).xShmLock(self(file).real(), offset, n, flags);
}

void shared_barrier(sqlite3_file* file) {
  real_methods(file).xShmBarrier(self(file).real());
}

int unmap_shared(sqlite3_file* file, int remove) {
  return real_methods(file).xShmUnmap(self(file).real(), remove);
}

const sqlite3_io_methods methods = {
  2,
  close_file,
  read_file,
  write_file,
  truncate_file,
  sync_file,
  file_size,
  lock_file,
  unlock_file,
  check_lock,
  control_file,
  sector_size,
  characteristics,
  map_shared,
  lock_shared,
  shared_barrier,
  unmap_shared,
  nullptr,
  nullptr,
};

// -- layer --------------------------------------------------------------------

struct layer {
  sqlite3_vfs base;
  sqlite3_vfs* real;
  shaky_disk* disk;
};

layer& self(sqlite3_vfs* vfs) {
  return *reinterpret_cast<layer*>(vfs);
}

int open_one(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
             int* flags_out) {
  auto& [base, real, disk] = self(vfs);
  file->pMethods = nullptr;
  if (disk->step())
    return SQLITE_CANTOPEN;
  auto* made = new (file) open_file{{}, disk, name ? name : ""};
  auto status = real->xOpen(real, name, made->real(), flags, flags_out);
  if (status != SQLITE_OK) {
    if (made->real()->pMethods)
      made->real()->pMethods->xClose(made->real());
    made->~open_file();
    return status;
  }
  disk->opened(made->name);
  made->base.pMethods = &methods;
  return SQLITE_OK;
}

int remove_one(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  auto& [base, real, disk] = self(vfs);
  if (disk->step())
    return SQLITE_IOERR_DELETE;
  disk->removed(name);
  return real->xDelete(real, name, sync_directory);
}

} // namespace

// -- failing_vfs --------------------------------------------------------------

failing_vfs::failing_vfs(shaky_disk& disk, const char* name) {
  auto* real = sqlite3_vfs_find(nullptr);
  auto* made = new layer{*real, real, &disk};
  made->base.pNext = nullptr;
  made->base.zName = name;
  made->base.szOsFile = static_cast<int>(sizeof(open_file)) + real->szOsFile;
  made->base.xOpen = open_one;
  made->base.xDelete = remove_one;
  layer_ = &made->base;
  sqlite3_vfs_register(layer_, 0);
}

failing_vfs::~failing_vfs() {
  sqlite3_vfs_unregister(layer_);
  delete &self(layer_);
}

} // namespace tidegate::test
