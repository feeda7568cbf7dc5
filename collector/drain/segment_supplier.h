// Keeps free segments ready for a program that records a lot, ahead of it: those that it has filled while the drain is
// behind, whose records are moved elsewhere, else new ones.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "collector/spool/backlog_mover.h"

namespace lastref::drain {

// Works in a thread of its own from construction to destruction. `file` must outlive it.
class segment_supplier {
  public:
    explicit segment_supplier(spool::spool_file& file);

  private:
    void run(std::stop_token stop);
    bool supply();

    spool::spool_file& file_;
    spool::backlog_mover mover_;
    std::uint32_t wanted_;
    std::mutex mutex_;
    std::condition_variable_any woken_;
    std::jthread thread_;  // last: it ends before the rest goes
};

}  // namespace lastref::drain
