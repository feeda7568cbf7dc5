// shutdown-release: what was released after main had returned, and above all after the driver had shut down, when every
// call is refused; and user-object destructors that ran that late, or when a Python interpreter was ending or gone.
#pragma once

#include "analyzer/detectors/detector.h"

#include <map>

namespace lastref::detectors {

class shutdown_release : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    enum class lateness : std::uint8_t {
        after_main,   // the call succeeded
        refused,      // the driver had shut down
        destructor,   // a user object's destructor ran after main
        interpreter,  // a user object's destructor ran while or after the interpreter ended, before main returned
    };
    struct group {
        lateness how = lateness::after_main;
        model::origin first;
        std::string released;          // what, in words
        std::uint64_t destructor = 0;  // the first one's function
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
        store::time_ns last = 0;
        std::vector<model::object> some;
        std::vector<model::object_id> ids;
    };
    // Calls after main that succeeded are one finding: only the order of handlers makes them worth a note.
    using key = std::tuple<lateness, store::api_id, std::uint64_t>;

    void count(model::process_state const& process, model::event const& e, lateness how);
    void report(model::process_state const& process, group const& g);
    bool maybe_by_runtime(model::process_state const& process, model::origin const& call) const;
    void describe_refused(model::process_state const& process, finding& out, group const& g) const;
    void describe_late(finding& out, group const& g) const;
    void describe_destructor(model::process_state const& process, finding& out, group const& g) const;
    void describe_interpreter(finding& out, group const& g) const;

    std::map<store::process_id, std::map<key, group>> groups_;
};

}  // namespace lastref::detectors
