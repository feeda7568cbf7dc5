// deferred-backlog: payloads whose destructor ran long ago and whose memory is still not freed, many at a time. Which
// memory a user object stands for is inferred (payload_links.h).
#pragma once

#include "analyzer/detectors/groups.h"
#include "analyzer/detectors/waiting_payloads.h"

namespace lastref::detectors {

class deferred_backlog : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    static constexpr std::size_t many = 8;
    static constexpr store::time_ns long_ago = 250'000'000;

    struct peak {
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
        store::time_ns age = 0;
        waiting_payload oldest;
        bool by_address = true;
    };
    struct backlog {
        waiting_payloads waiting;
        peak worst;
        model::origin drained;  // the first free after the worst moment
    };
    void measure(backlog& b, store::time_ns now);
    void report(model::process_state const& process, backlog const& b);
    void tell_of_pending_calls(finding& out, model::process_state const& process) const;

    std::map<store::process_id, backlog> backlogs_;
};

}  // namespace lastref::detectors
