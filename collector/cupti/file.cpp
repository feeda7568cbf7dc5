#include "collector/cupti/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

namespace lastref::cupti::file {
namespace {

cupti_file::header* mapped = nullptr;
int descriptor = -1;

// Field 22 of /proc/self/stat; the second field is the command in parentheses and may hold anything.
unsigned long long start_ticks() {
    char text[1024] = {};
    int const fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t const length = read(fd, text, sizeof text - 1);
    close(fd);
    char const* at = length > 0 ? strrchr(text, ')') : nullptr;
    for (int field = 2; field < 22 && at != nullptr; ++field) at = strchr(at + 1, ' ');
    return at != nullptr ? strtoull(at + 1, nullptr, 10) : 0;
}

}  // namespace

cupti_file::header* create(char const* folder) {
    char path[4200];
    unsigned long long const start = start_ticks();
    int const length = snprintf(path, sizeof path, "%s/%d-%llu.cupti", folder, static_cast<int>(getpid()), start);
    if (length < 0 || static_cast<size_t>(length) >= sizeof path) return nullptr;
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) return nullptr;
    if (posix_fallocate(descriptor, 0, cupti_file::header_bytes) != 0) return nullptr;
    void* const base = mmap(nullptr, cupti_file::header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (base == MAP_FAILED) return nullptr;
    mapped = static_cast<cupti_file::header*>(base);
    mapped->magic = cupti_file::file_magic;
    mapped->version = cupti_file::format_version;
    mapped->header_bytes = cupti_file::header_bytes;
    mapped->pid = static_cast<uint32_t>(getpid());
    mapped->process_start = start;
    mapped->now.store(cupti_file::state::running);
    return mapped;
}

void append(cupti_file::activity const* records, unsigned count) {
    uint64_t const before = mapped->activities.load(std::memory_order_relaxed);
    size_t const bytes = count * sizeof *records;
    auto const at = static_cast<off_t>(cupti_file::header_bytes + before * sizeof *records);
    if (pwrite(descriptor, records, bytes, at) == static_cast<ssize_t>(bytes))
        mapped->activities.store(before + count, std::memory_order_release);
    else
        mapped->dropped.fetch_add(count, std::memory_order_relaxed);
}

}  // namespace lastref::cupti::file
