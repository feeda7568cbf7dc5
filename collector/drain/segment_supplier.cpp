#include "collector/drain/segment_supplier.h"

#include <algorithm>
#include <chrono>

namespace lastref::drain {
namespace {

using std::chrono::microseconds;

// Segments of 64 KiB. A program that empties the list between two looks gets twice as many the next time.
constexpr std::uint32_t fewest = 16, most = 1024;
constexpr microseconds while_busy{100}, while_idle{5000};

}  // namespace

segment_supplier::segment_supplier(spool::spool_file& file)
    : file_(file), mover_(file), wanted_(fewest), thread_([this](std::stop_token stop) { run(stop); }) {}

bool segment_supplier::supply() {
    std::uint32_t const have = file_.free_segments();
    if (have == 0) wanted_ = std::min(wanted_ * 2, most);
    bool added = false;
    for (std::uint32_t now = have; now < wanted_ && (mover_.move_one() || file_.add_free_segment()); ++now)
        added = true;
    return added;
}

void segment_supplier::run(std::stop_token stop) {
    while (!stop.stop_requested()) {
        bool const busy = supply();
        std::unique_lock lock(mutex_);
        woken_.wait_for(lock, stop, busy ? while_busy : while_idle, [] { return false; });
    }
}

}  // namespace lastref::drain
