// What the rules on the order of a free share: unordered-free and ptds-cross-thread-free.
#pragma once

#include "analyzer/detectors/detector.h"

#include <optional>

namespace lastref::detectors {

// A use of memory (or its allocation) that nothing orders before the free.
struct unordered_pair {
    model::object memory;
    timeline::use use;
    model::origin freed;
    std::optional<timeline::moment> latest = {};  // of the use's stream, what comes before the free
    bool recycled = false;                        // the free names the used stream's handle, which is another's by now
    bool used_stream_gone = false;
    bool beside_legacy = false;  // one is the legacy stream, and the other does not join it
    bool captured = false;       // both are nodes of one captured graph
};

// A free by a default-stream token while another context is current than when the memory was allocated: told by
// incomplete-recipe.
bool frees_under_another_context(model::process_state const& process, model::event const& e);

// The latest use that has no order with the free that the event is; none for other events, and for frees in order.
std::optional<unordered_pair> unordered_use(case_file const& file, model::process_state const& process,
                                            model::event const& e);

// Both on per-thread default streams, of different threads.
bool between_threads_default_streams(unordered_pair const& pair);

// Adds what happened, the sites, the edge that is missing and the change that gives it.
class order_story : detector {
  public:
    explicit order_story(case_file const& file) : detector(file) {}
    void tell(finding& out, unordered_pair const& pair) const;

  private:
    std::string order_there(unordered_pair const& pair) const;
    std::string advice(unordered_pair const& pair) const;
};

}  // namespace lastref::detectors
