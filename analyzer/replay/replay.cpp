#include "analyzer/replay/replay.h"

#include "analyzer/detectors/payload_links.h"
#include "analyzer/model/pending_calls.h"
#include "analyzer/model/world.h"
#include "analyzer/replay/observed_run.h"
#include "analyzer/replay/reference_run.h"

#include <algorithm>
#include <map>
#include <set>

namespace lastref::replay {
namespace {

std::optional<store::time_ns> exit_of(store::trace const& trace, store::process_id process) {
    for (auto const& phase : trace.phases())
        if (phase.process == process && phase.what == store::phase_step::exit_begin) return phase.at;
    return {};
}

// Both sides of one process.
struct runs {
    explicit runs(std::optional<store::time_ns> exit) : reference(exit) {}
    std::uint64_t callbacks = 0;
    std::set<store::thread_id> producers;
    observed_run observed;
    reference_run reference;
};

class player : public model::observer {
  public:
    player(store::trace const& trace, detectors::payload_links const& links, model::pending_calls const& pending,
           consumer who)
        : trace_(trace), links_(links), pending_(pending), who_(who) {}

    void on_event(model::process_state const& process, model::event const& e) override {
        auto& r = of(process.process().id);
        if (e.kind() == event_kind::callback_user_object) return take(r, e);
        if (e.kind() == event_kind::pending_call_run) return take_run(r, e);
        r.observed.call(e, pending_.around(e.row) != nullptr);
        r.reference.advance(e.row.begin);
        if (is_safe_point(e)) r.reference.safe_point(std::max(e.row.begin, e.row.end()));
    }

    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override {
        of(process.process().id).observed.released(gone, e, cause, pending_.around(e.row) != nullptr);
    }

    std::vector<process_replay> take() {
        std::vector<process_replay> out;
        for (auto& [process, r] : runs_) {
            if (r.callbacks == 0) continue;
            out.push_back({process, r.callbacks, r.producers.size(), r.observed.finish(), r.reference.finish()});
        }
        return out;
    }

  private:
    runs& of(store::process_id process) {
        auto const found = runs_.find(process);
        if (found != runs_.end()) return found->second;
        return runs_.try_emplace(process, exit_of(trace_, process)).first->second;
    }

    void take(runs& r, model::event const& e) {
        ++r.callbacks;
        r.producers.insert(e.row.thread);
        r.observed.callback(links_, e);
        r.reference.callback(e.row.begin);
    }

    // Where the interpreter runs pending calls, it would have run the reference's.
    void take_run(runs& r, model::event const& e) {
        r.observed.drain_begins(e);
        r.reference.advance(e.row.begin);
        if (who_ == consumer::any_thread || trace_.at(e.row.thread).main) r.reference.safe_point(e.row.begin);
    }

    // Where a call that the program itself made has returned: never inside a callback or inside another call.
    bool is_safe_point(model::event const& e) const {
        using namespace store::event_flag;
        if (e.api.verb == store::verb::run || is_pending_call(e.kind()) || (e.row.flags & (in_callback | nested)) ||
            !e.row.returned())
            return false;
        return who_ == consumer::any_thread || trace_.at(e.row.thread).main;
    }

    store::trace const& trace_;
    detectors::payload_links const& links_;
    model::pending_calls const& pending_;
    consumer who_;
    std::map<store::process_id, runs> runs_;
};

}  // namespace

outcome replay(store::trace const& trace, consumer who, std::function<void(double)> const& progress) {
    detectors::payload_links links(trace);
    model::pending_calls pending(trace);
    player plays(trace, links, pending, who);
    model::world world(trace);
    world.add(links);
    world.add(pending);
    world.add(plays);
    world.run(progress);

    std::vector<store::process_id> used_driver;
    for (auto const& process : world.processes())
        if (process->events() > 0) used_driver.push_back(process->process().id);
    return {plays.take(), findings::reasons_incomplete(trace, findings::losses_of(trace), used_driver)};
}

}  // namespace lastref::replay
