// unordered-free: stream-ordered memory freed with no order after its allocation or its last visible use: on another
// stream, on one whose handle was handed out again, or without a stream. See timeline/order.h for the order that is
// followed, and timeline/captured_order.h for that of a captured graph.
#pragma once

#include "analyzer/detectors/captured_frees.h"
#include "analyzer/detectors/free_order.h"
#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class unordered_free : public detector {
  public:
    explicit unordered_free(case_file const& file) : detector(file), captured_(file.captured) {}

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    void report(model::process_state const& process, std::uint64_t key, groups<unordered_pair>::group const& g);

    void add(model::event const& e, unordered_pair const& pair);

    groups<unordered_pair> groups_;
    captured_frees captured_;
};

}  // namespace lastref::detectors
