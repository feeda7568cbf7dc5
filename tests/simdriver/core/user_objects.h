// User objects and the references that graphs hold on them.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

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
// Handles of objects that are gone: releasing one once more is as silent as any release too many.
std::unordered_set<CUuserObject>& gone_user_objects();

// Takes references away; the destructor is due when exactly none is left. Measured: where a call takes the last one, it
// runs on the calling thread before the call returns; where a launch held it, later on an internal thread of its own. A
// delay that is set for callbacks makes it late everywhere.
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
    void take(user_object_ptr const& object, unsigned count);
    // Releases as many references of the object, whether or not the graph holds them. (A real graph that does not is
    // left in a state in which its destruction may crash.)
    void give_up(user_object_ptr const& object, unsigned count);

  private:
    using share = std::pair<user_object_ptr, unsigned>;
    std::vector<share>::iterator find(user_object_ptr const& object);

    // In the order in which they came, which is the order of the destructors.
    std::vector<share> held_;
};

}  // namespace lastref::simdriver
