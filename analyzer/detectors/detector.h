// What all detectors share. A detector is an observer with memory of what is open; it adds its findings when a process
// ends, in the order in which detectors are told: causes before consequences (analysis.cpp).
#pragma once

#include "analyzer/detectors/given_names.h"
#include "analyzer/detectors/intended_leaks.h"
#include "analyzer/detectors/payload_links.h"
#include "analyzer/detectors/warm_up.h"
#include "analyzer/findings/code_owner.h"
#include "analyzer/findings/finding.h"
#include "analyzer/findings/fingerprint.h"
#include "analyzer/ledger/accountant.h"
#include "analyzer/model/pending_calls.h"
#include "analyzer/model/process_state.h"
#include "analyzer/timeline/captured_order.h"
#include "analyzer/timeline/uses.h"

namespace lastref::detectors {

using findings::confidence;
using findings::finding;
using findings::rule;
using findings::severity;
using findings::site;

// Everything is owned by the analysis and outlives the detectors.
struct case_file {
    store::trace const& trace;
    findings::places& places;
    findings::owners& owners;
    ledger::accountant const& accountant;
    timeline::order const& order;
    timeline::captured_order const& captured;
    timeline::uses const& uses;
    payload_links const& links;
    intended_leaks const& intended;
    given_names const& names;
    warm_up const& warming;
    findings::collection& found;
    model::pending_calls const& pending;
};

class detector : public model::observer {
  public:
    explicit detector(case_file const& file) : file_(file) {}

  protected:
    site site_of(std::string role, model::origin const& call, std::string note = {}) const;
    findings::object_note note_of(model::object const& o) const;
    std::string_view name_of(model::object const& o) const { return file_.names.of(o.id, o.created.event); }
    // A finding of `r` with what a tally says of it.
    template <class Tally>
    finding finding_of(rule r, model::process_state const& process, Tally const& all, std::uint64_t key) const {
        finding out;
        out.rule = r;
        out.process = process.process().id;
        out.count = all.count;
        out.bytes = all.bytes;
        out.first_seen = all.first;
        out.last_seen = all.last;
        for (auto const& o : all.some)
            if (o.id) out.objects.push_back(note_of(o));
        out.fingerprint = findings::hash().add(info(r).name).add(key).hex();
        return out;
    }

    store::api const& api_of(model::origin const& call) const { return file_.trace.at(call.api); }
    std::string thread_of(model::origin const& call) const;
    std::string stream_of(model::origin const& call) const;
    std::string context_of(store::context_id context, store::event_id at) const;  // "context 0xc0", "no context"
    std::string thread_of(store::thread_id thread) const;

    // Whose code made the call; `unknown` without a stack.
    findings::code_owner caller_of(model::process_state const& process, model::origin const& call) const;
    std::uint64_t place_of(model::origin const& call) const { return file_.places.key(call.stack); }

    // " enqueue_cleanup", to stand behind the word for a callback; empty where nothing names its function.
    std::string called(model::process_state const& process, std::uint64_t function) const;

    // "on stream 0x50", or nothing for a call that has none.
    std::string on_stream(model::origin const& call) const;

    case_file const& file_;
};

// The process ran its exit handlers: what was left then was left for good.
inline bool ended_orderly(model::process_state const& process) {
    return process.process().end == store::process_end::clean;
}

// "the process ended abruptly (killed by signal 9), so that …" for confidence_reason; empty after an orderly end.
std::string doubt_about_end(model::process_state const& process);

// The first few objects of a finding, whichever order they come in.
void keep_first(std::vector<model::object>& some, model::object const& o);

bool is_creation(model::event const& e);  // the event made its subject

}  // namespace lastref::detectors
