// Objects that a suppression of leaks covers, by the place where they were made. What the program itself calls intended
// is the analyzer's (analyzer/detectors/intended_leaks.h).
#pragma once

#include "analyzer/findings/ranges.h"
#include "analyzer/gate/suppressions.h"
#include "analyzer/model/object.h"

#include <map>
#include <vector>

namespace lastref::gui {

// Asks names of stacks, once for each. What it is made of must outlive it.
class suppressed_places {
  public:
    suppressed_places(std::vector<gate::suppression> const& suppressions, store::trace const& trace,
                      findings::stacks& stacks)
        : suppressions_(suppressions), trace_(trace), stacks_(stacks), ranges_(trace) {}

    bool covers(model::object const& object);

  private:
    bool look_up(model::object const& object, findings::rule rule);

    std::vector<gate::suppression> const& suppressions_;
    store::trace const& trace_;
    findings::stacks& stacks_;
    findings::range_index ranges_;
    std::map<std::pair<store::stack_id, findings::rule>, bool> known_;
};

}  // namespace lastref::gui
