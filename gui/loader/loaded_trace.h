// A trace as pages show it: what was made of it in the background, never changed afterwards. Shared between threads.
#pragma once

#include "analyzer/findings/analysis.h"
#include "analyzer/gate/baseline.h"
#include "analyzer/store/trace.h"
#include "analyzer/symbols/dwfl_source.h"
#include "analyzer/symbols/kept_source.h"
#include "analyzer/symbols/stacks.h"
#include "gui/loader/call_index.h"
#include "gui/loader/object_lives.h"
#include "gui/loader/rows.h"
#include "gui/scenes/curves.h"
#include "gui/scenes/flame.h"
#include "gui/scenes/holders.h"
#include "gui/scenes/shutdown.h"
#include "gui/scenes/timeline.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace lastref::gui {

class loaded_trace {
  public:
    // Opens the trace; load() fills in the rest. Throws store::error.
    explicit loaded_trace(std::string const& path);
    loaded_trace(loaded_trace const&) = delete;

    std::string path;
    std::string version;  // of the lastref that recorded it
    store::trace_state state = store::trace_state::unfinished;
    store::time_ns end = 0;  // the greatest time in it
    std::uint64_t events = 0;

    // In the order of their ids, and kept from the file: see store::trace.
    std::vector<store::process> processes;
    std::vector<store::thread> threads;
    std::vector<store::phase> phases;
    std::vector<process_row> process_rows;  // those that used the driver

    std::vector<finding_row> findings;  // most important first
    std::vector<outstanding_row> outstanding;
    std::vector<findings::loss_counter> losses;
    std::vector<std::string> incomplete;  // reasons; empty for a complete trace
    std::vector<suppression_row> suppressions;
    gate::verdict verdict = gate::verdict::clean;
    std::string verdict_text;    // "2 errors, 4 warnings"
    gate::baseline as_baseline;  // for a comparison with another trace
    call_index calls;
    object_lives objects;
    findings::ledger_accuracy ledger;
    std::string kept_key;     // what a cache keeps it by (cache.h); empty: it is not to be kept
    bool from_cache = false;  // it was read from there

    std::shared_ptr<scenes::call_timeline const> timeline;
    std::shared_ptr<scenes::curves const> curves;
    std::shared_ptr<scenes::payload_stories const> stories;  // of user objects
    std::shared_ptr<scenes::shutdown const> shutdown;
    std::shared_ptr<scenes::allocation_history const> allocations;

    store::thread const* find(store::thread_id id) const;
    store::process const* find(store::process_id id) const;

    // The stack of a call with names on it. May open files and take long: for background jobs. One at a time.
    std::vector<stack_row> stack(store::stack_id stack, store::thread_id thread) const;

    // A call with its stack; none where the file has no such event. As above.
    std::optional<call_details_row> call(store::event_id id) const;

    // Allocations by call stack. As above; throws scenes::cancelled where `go_on` says so.
    std::shared_ptr<scenes::flame const> flame(scenes::flame_question const& asked, scenes::watch const& go_on) const;

  private:
    friend class trace_reading;
    std::vector<stack_row> stack_unlocked(store::stack_id stack, store::thread_id thread) const;
    std::vector<fact_row> facts_of(store::event const& e) const;

    mutable std::mutex reading_;  // guards what follows
    store::trace trace_;
    mutable symbols::dwfl_source files_;
    mutable symbols::kept_source kept_{trace_.path(), files_};
    mutable symbols::stacks stacks_{trace_, kept_};
};

using trace_pointer = std::shared_ptr<loaded_trace const>;

}  // namespace lastref::gui
