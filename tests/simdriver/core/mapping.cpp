#include "tests/simdriver/core/mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lastref::simdriver {

std::shared_ptr<mapping> mapping::of_file(int file, std::size_t offset, std::size_t bytes) {
    std::size_t const skipped = offset % static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const start = mmap(nullptr, bytes + skipped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
                             static_cast<off_t>(offset - skipped));
    if (start == MAP_FAILED) return nullptr;
    return std::shared_ptr<mapping>(new mapping(reinterpret_cast<std::uintptr_t>(start), skipped, bytes + skipped));
}

mapping::~mapping() {
    munmap(reinterpret_cast<void*>(start_), bytes_);
}

owned_file::~owned_file() {
    if (file_ >= 0) close(file_);
}

std::size_t file_size(int file) {
    struct stat status {};
    return fstat(file, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

}  // namespace lastref::simdriver
