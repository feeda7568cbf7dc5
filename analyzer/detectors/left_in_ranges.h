// What was alive at the end of its process, by the range of the program in which it was made. No rule of its own: it
// says which test is behind the findings. Does nothing in a trace without ranges.
#pragma once

#include "analyzer/findings/ranges.h"
#include "analyzer/model/process_state.h"

#include <map>
#include <tuple>
#include <vector>

namespace lastref::detectors {

class left_in_ranges : public model::observer {
  public:
    explicit left_in_ranges(store::trace const& trace) : ranges_(trace), any_(!trace.ranges().empty()) {}

    void on_process_end(model::process_state const& process) override;
    std::vector<findings::left_objects> take() const;

  private:
    void add(model::object const& o);

    findings::range_index ranges_;
    bool any_;
    std::map<std::tuple<std::size_t, store::stack_id, model::object_kind>, findings::left_objects> left_;
};

}  // namespace lastref::detectors
