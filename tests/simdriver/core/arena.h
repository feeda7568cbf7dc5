// A range of memory that is handed out in blocks: the memory of a device, or pinned host memory.
//
// Device memory is host memory, so that copies and memsets really happen. It stays mapped for the life of the process,
// so that work that runs after its memory was freed does no harm, as on a device; it lies in a memfd, so that another
// process can open it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace lastref::simdriver {

class arena {
  public:
    explicit arena(std::size_t bytes);

    // The lowest free address that fits, so that what was freed is soon handed out again; 0 when full.
    std::uintptr_t allocate(std::size_t bytes, std::size_t alignment);
    void release(std::uintptr_t base);

    bool holds(std::uintptr_t address) const { return address >= base_ && address < base_ + size_; }
    std::uintptr_t base() const { return base_; }
    std::size_t size() const { return size_; }
    int file() const { return file_; }

  private:
    void insert_free(std::uintptr_t at, std::size_t bytes);

    int file_ = -1;
    std::uintptr_t base_ = 0;
    std::size_t size_ = 0;
    std::map<std::uintptr_t, std::size_t> free_, used_;
};

}  // namespace lastref::simdriver
