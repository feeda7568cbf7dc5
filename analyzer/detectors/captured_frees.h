// Frees inside a captured graph that no edge of the graph orders after a use of the memory: the graph's memory, which
// was allocated in the same capture.
#pragma once

#include "analyzer/detectors/free_order.h"
#include "analyzer/timeline/captured_order.h"

#include <map>
#include <vector>

namespace lastref::detectors {

class captured_frees {
  public:
    explicit captured_frees(timeline::captured_order const& order) : order_(order) {}

    // To be called for every event, after the order was told of it. Returns what is wrong with a graph that the event
    // makes executable: before, the program may still add the edge.
    std::vector<unordered_pair> take(model::event const& e);

  private:
    struct memory {
        model::object what;
        std::uint32_t capture = 0;
        std::vector<timeline::use> uses;  // the allocation first
    };
    using graph_of_process = std::pair<store::process_id, store::handle>;

    void allocated(model::event const& e);
    void used(model::event const& e, store::handle address);
    void freed(model::event const& e);
    void ended(model::event const& e);
    memory* containing(model::event const& e, store::handle address);

    timeline::captured_order const& order_;
    std::map<graph_of_process, memory> memories_;                      // of open captures, by address
    std::map<std::uint32_t, std::vector<unordered_pair>> found_;       // by open capture
    std::map<graph_of_process, std::vector<unordered_pair>> waiting_;  // by graph, not yet executable
};

}  // namespace lastref::detectors
