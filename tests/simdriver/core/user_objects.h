// User objects and the references that graphs hold on them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "tests/simdriver/abi/cuda_abi.h"
#include "tests/simdriver/core/handle_table.h"

namespace lastref::simdriver {

struct user_object {
    CUuserObject handle = nullptr;
    void* payload = nullptr;
    CUhostFn destroy = nullptr;
    // All references together. The driver counts without a check: when more are released than exist, the count passes
    // zero and the destructor never runs.
    std::int64_t references = 0;
};
using user_object_ptr = std::shared_ptr<user_object>;

handle_table<CUuserObject, user_object>& user_objects();

// Takes references away; the destructor is due, on the internal thread, when exactly none is left.
void release(user_object_ptr const& from, unsigned count);

// The references that one graph, or one graph inside an executable graph, holds. Ends with its last holder: the graph,
// or a launch that was still running when the graph let go of it.
class reference_set {
  public:
    reference_set() = default;
    // A copy holds as many references again.
    reference_set(reference_set const& other);
    reference_set& operator=(reference_set const&) = delete;
    ~reference_set();

    // The references are the graph's from now on; the caller has counted them.
    void take(user_object_ptr const& object, unsigned count) { held_[object] += count; }
    // Gives up to `count` references back to the object; returns how many there were.
    unsigned give_up(user_object_ptr const& object, unsigned count);

  private:
    std::map<user_object_ptr, unsigned> held_;
};

}  // namespace lastref::simdriver
