// What processes see of an event made with CU_EVENT_INTERPROCESS: two counters in memory that they share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "tests/simdriver/core/mapping.h"

namespace lastref::simdriver {

class shared_event {
  public:
    // A new one; and one that another process has made, by its process and file descriptor. Null on failure.
    static std::shared_ptr<shared_event> make();
    static std::shared_ptr<shared_event> open(int process, int file);

    int file() const { return file_.get(); }
    // The record that is the newest now, counted from 1; 0 when there was none.
    std::uint64_t newest() const { return counters().recorded; }
    bool complete(std::uint64_t record) const { return counters().completed >= record; }
    std::uint64_t record() { return ++counters().recorded; }
    // Records complete in any order: an older one changes nothing.
    void complete_up_to(std::uint64_t record);

  private:
    struct shared_counters {
        std::atomic<std::uint64_t> recorded, completed;
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

    shared_event(owned_file file, std::shared_ptr<mapping> where) : file_(std::move(file)), where_(std::move(where)) {}
    shared_counters& counters() const { return *reinterpret_cast<shared_counters*>(where_->address()); }

    owned_file file_;
    std::shared_ptr<mapping> where_;
};

}  // namespace lastref::simdriver
