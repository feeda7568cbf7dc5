// Keeps free segments ready for a program that records a lot, ahead of it: growing the file and touching fresh pages
// costs more than all the rest of a record, and here nobody waits for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "collector/spool/spool_file.h"

namespace lastref::drain {

// Works in a thread of its own from construction to destruction. `file` must outlive it.
class segment_supplier {
  public:
    explicit segment_supplier(spool::spool_file& file);

  private:
    void run(std::stop_token stop);
    bool supply();

    spool::spool_file& file_;
    std::uint32_t wanted_;
    std::mutex mutex_;
    std::condition_variable_any woken_;
    std::jthread thread_;  // last: it ends before the rest goes
};

}  // namespace lastref::drain
