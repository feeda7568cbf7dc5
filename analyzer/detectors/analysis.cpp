#include "analyzer/detectors/analysis.h"

#include "analyzer/detectors/allocation_leak.h"
#include "analyzer/detectors/capture_interference.h"
#include "analyzer/detectors/context_not_restored.h"
#include "analyzer/detectors/cuda_call_in_callback.h"
#include "analyzer/detectors/deferred_backlog.h"
#include "analyzer/detectors/double_free.h"
#include "analyzer/detectors/failed_free.h"
#include "analyzer/detectors/first_error.h"
#include "analyzer/detectors/given_names.h"
#include "analyzer/detectors/graph_allocation_leak.h"
#include "analyzer/detectors/graph_exec_growth.h"
#include "analyzer/detectors/handle_leak.h"
#include "analyzer/detectors/incomplete_recipe.h"
#include "analyzer/detectors/ipc_order.h"
#include "analyzer/detectors/late_module_load.h"
#include "analyzer/detectors/left_in_ranges.h"
#include "analyzer/detectors/pinned_free_in_flight.h"
#include "analyzer/detectors/pool_retention.h"
#include "analyzer/detectors/ptds_cross_thread_free.h"
#include "analyzer/detectors/ptds_graph_attach.h"
#include "analyzer/detectors/queue_contract.h"
#include "analyzer/detectors/shutdown_release.h"
#include "analyzer/detectors/slow_callback.h"
#include "analyzer/detectors/stale_graph_reference.h"
#include "analyzer/detectors/steady_state_allocation.h"
#include "analyzer/detectors/unordered_free.h"
#include "analyzer/detectors/user_object_leak.h"
#include "analyzer/detectors/user_object_over_release.h"
#include "analyzer/detectors/warm_up.h"
#include "analyzer/findings/during.h"
#include "analyzer/findings/wording.h"
#include "analyzer/ledger/accountant.h"
#include "analyzer/model/world.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace lastref::detectors {
namespace {

class call_counter : public model::observer {
  public:
    explicit call_counter(store::trace const& trace) {
        for (auto const& api : trace.apis()) counts_.resize(std::max<std::size_t>(counts_.size(), api.id.value + 1));
    }

    void on_event(model::process_state const&, model::event const& e) override { ++counts_[e.row.api.value]; }

    void write(store::trace const& trace, findings::analysis& out) const {
        for (auto const& api : trace.apis()) {
            auto const count = counts_[api.id.value];
            if (count == 0) continue;
            bool const is_call = api.symbol.starts_with("cu");
            (is_call ? out.calls[api.name] : out.callbacks[api.symbol]) += count;
        }
    }

  private:
    std::vector<std::uint64_t> counts_;
};

using rules = std::vector<std::unique_ptr<detector>>;

template <class... Rules>
rules made(case_file const& file) {
    rules out;
    (out.push_back(std::make_unique<Rules>(file)), ...);
    return out;
}

// In the order in which they are told, and in which they report: causes before consequences.
rules all_rules(case_file const& file) {
    return made<first_error, cuda_call_in_callback, capture_interference, double_free, ipc_order, failed_free,
                shutdown_release, user_object_over_release, graph_exec_growth, user_object_leak, stale_graph_reference,
                graph_allocation_leak, incomplete_recipe, ptds_graph_attach, ptds_cross_thread_free, unordered_free,
                pinned_free_in_flight, deferred_backlog, allocation_leak, handle_leak, pool_retention, slow_callback,
                steady_state_allocation, late_module_load, queue_contract, context_not_restored>(file);
}

// Everything that listens; what others ask is told first.
struct listeners {
    listeners(store::trace const& trace, findings::stacks* symbols, settings const& asked)
        : calls(trace),
          left(trace),
          names(trace),
          warming(trace, asked),
          links(trace),
          pending(trace),
          places(trace),
          owners(trace, symbols),
          file{trace, places,   owners, accountant, order, captured, uses,
               links, intended, names,  warming,    found, pending} {}

    void listen_to(model::world& world) {
        for (auto* each : std::initializer_list<model::observer*>{&calls, &names, &order, &captured, &uses, &links,
                                                                  &intended, &accountant, &left, &pending})
            world.add(*each);
        for (auto const& each : all) world.add(*each);
    }

    call_counter calls;
    left_in_ranges left;
    given_names names;
    warm_up warming;
    timeline::order order;
    timeline::captured_order captured;
    timeline::uses uses{order};
    ledger::accountant accountant{order};
    payload_links links;
    intended_leaks intended{links};
    model::pending_calls pending;
    findings::places places;
    findings::owners owners;
    findings::collection found;
    case_file file;
    rules all = all_rules(file);
};

// A destructor that the ledger did not expect: what it says of references is then missing something.
void add_disagreements(findings::analysis& out) {
    if (out.ledger.unexpected == 0) return;
    for (auto& loss : out.losses) {
        if (loss.name != "ledger_disagreements") continue;
        loss.count = static_cast<std::int64_t>(out.ledger.unexpected);
        loss.text += fmt::format(" (the first is event {})", out.ledger.first_unexpected.value);
    }
}

// Asked for, and nothing in the trace tells: without a word, no finding would look like a good one.
void add_unknown_ranges(findings::analysis& out, warm_up const& warming) {
    for (auto const& name : warming.unknown())
        out.incomplete.push_back(
            fmt::format("No range is called {}: when warm-up was over is not known.", findings::quoted(name)));
}

}  // namespace

findings::analysis analyse(store::trace const& trace, std::function<void(double)> const& progress,
                           findings::stacks* names, settings const& asked, more_observers const& more) {
    listeners all(trace, names, asked);
    model::world world(trace);
    all.listen_to(world);
    auto const others = more ? more(all.file) : std::vector<more_observer>{};
    for (auto const& each : others) world.add(*each.told);
    world.run(progress);
    for (auto const& each : others)
        if (each.after) each.after();

    findings::analysis out;
    all.calls.write(trace, out);
    for (auto const& process : world.processes()) {
        if (process->events() == 0) continue;
        out.events += process->events();
        out.unseen_releases += process->unseen_releases();
        out.used_driver.push_back(process->process().id);
        auto const end = process->process().end;
        out.clean_end &= end == store::process_end::clean || end == store::process_end::exec;
    }
    auto const& ledger = all.accountant.accuracy();
    out.ledger = {ledger.predicted, ledger.agreed, ledger.unexpected, ledger.first_unexpected};
    out.losses = findings::losses_of(trace);
    add_disagreements(out);
    out.incomplete = findings::reasons_incomplete(trace, out.losses, out.used_driver);
    for (auto const& process : world.processes())
        if (process->graphs().parts_left_out() > 0)
            out.incomplete.push_back("Graphs are nested so deep that not all references in them were followed.");
    add_unknown_ranges(out, all.warming);
    out.found = all.found.take();
    findings::find_ranges(out.found, trace);
    out.left = all.left.take();
    out.pending = all.pending.all();
    return out;
}

}  // namespace lastref::detectors
