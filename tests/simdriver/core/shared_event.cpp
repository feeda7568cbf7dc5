#include "tests/simdriver/core/shared_event.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

namespace lastref::simdriver {

std::shared_ptr<shared_event> shared_event::make() {
    owned_file file(memfd_create("simdriver-event", MFD_CLOEXEC));
    if (!file.valid() || ftruncate(file.get(), sizeof(shared_counters)) != 0) return nullptr;
    auto where = mapping::of_file(file.get(), 0, sizeof(shared_counters));
    return where ? std::shared_ptr<shared_event>(new shared_event(std::move(file), std::move(where))) : nullptr;
}

std::shared_ptr<shared_event> shared_event::open(int process, int file) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
    owned_file opened(::open(path, O_RDWR | O_CLOEXEC));
    auto where = opened.valid() ? mapping::of_file(opened.get(), 0, sizeof(shared_counters)) : nullptr;
    return where ? std::shared_ptr<shared_event>(new shared_event(std::move(opened), std::move(where))) : nullptr;
}

void shared_event::complete_up_to(std::uint64_t record) {
    std::uint64_t seen = counters().completed;
    while (seen < record && !counters().completed.compare_exchange_weak(seen, record)) {
    }
}

}  // namespace lastref::simdriver
