// context-not-restored: a range, of NVTX or of the program's own, that ended with another current context than it began
// with, on the same thread. A range that found none and made one current is how programs begin.
#pragma once

#include "analyzer/detectors/groups.h"

#include <unordered_set>

namespace lastref::detectors {

class context_not_restored : public detector {
  public:
    explicit context_not_restored(case_file const& file);

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    struct change {
        store::context_change const* range;
        model::origin made;    // the latest call in it that changed the thread's context; none where none was seen
        bool excused = false;  // the context that it found was destroyed meanwhile
    };

    void step_to(store::event_id event);
    static bool holds_another(std::vector<change const*>& inside, change const& outer);
    void report(model::process_state const& process, std::uint64_t key, groups<change>::group const& g);

    // Only ranges that are known to have left another context, in the order of their ends.
    std::vector<change> changes_;
    std::vector<change*> by_begin_;
    std::size_t begun_ = 0;        // of by_begin_
    std::vector<change*> active_;  // those that the pass is in
    groups<change> groups_;
};

}  // namespace lastref::detectors
