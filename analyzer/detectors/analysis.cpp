#include "analyzer/detectors/analysis.h"

#include "analyzer/detectors/allocation_leak.h"
#include "analyzer/detectors/capture_interference.h"
#include "analyzer/detectors/cuda_call_in_callback.h"
#include "analyzer/detectors/double_free.h"
#include "analyzer/detectors/failed_free.h"
#include "analyzer/detectors/graph_exec_growth.h"
#include "analyzer/detectors/handle_leak.h"
#include "analyzer/detectors/left_in_ranges.h"
#include "analyzer/detectors/pinned_free_in_flight.h"
#include "analyzer/detectors/ptds_cross_thread_free.h"
#include "analyzer/detectors/shutdown_release.h"
#include "analyzer/detectors/unordered_free.h"
#include "analyzer/detectors/user_object_leak.h"
#include "analyzer/detectors/user_object_over_release.h"
#include "analyzer/ledger/accountant.h"
#include "analyzer/model/world.h"
#include "analyzer/timeline/completion.h"

#include <algorithm>

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

// Everything that listens, in the order in which it is told: what others ask comes first; causes come before
// consequences.
struct listeners {
    listeners(store::trace const& trace, findings::stacks* names)
        : calls(trace), left(trace), links(trace), places(trace), owners(trace, names), trace_(trace) {}

    void listen_to(model::world& world) {
        for (model::observer* each : std::initializer_list<model::observer*>{&calls,
                                                                             &completion,
                                                                             &order,
                                                                             &uses,
                                                                             &links,
                                                                             &accountant,
                                                                             &cuda_call_in_callback_,
                                                                             &capture_interference_,
                                                                             &double_free_,
                                                                             &failed_free_,
                                                                             &shutdown_release_,
                                                                             &user_object_over_release_,
                                                                             &graph_exec_growth_,
                                                                             &user_object_leak_,
                                                                             &ptds_cross_thread_free_,
                                                                             &unordered_free_,
                                                                             &pinned_free_in_flight_,
                                                                             &allocation_leak_,
                                                                             &handle_leak_,
                                                                             &left})
            world.add(*each);
    }

    call_counter calls;
    left_in_ranges left;
    timeline::completion completion;
    timeline::order order;
    timeline::uses uses{order};
    ledger::accountant accountant{completion};
    payload_links links;
    findings::places places;
    findings::owners owners;
    findings::collection found;
    store::trace const& trace_;
    case_file file{trace_, places, owners, accountant, order, uses, links, found};
    cuda_call_in_callback cuda_call_in_callback_{file};
    capture_interference capture_interference_{file};
    double_free double_free_{file};
    failed_free failed_free_{file};
    shutdown_release shutdown_release_{file};
    user_object_over_release user_object_over_release_{file};
    graph_exec_growth graph_exec_growth_{file};
    user_object_leak user_object_leak_{file};
    ptds_cross_thread_free ptds_cross_thread_free_{file};
    unordered_free unordered_free_{file};
    pinned_free_in_flight pinned_free_in_flight_{file};
    allocation_leak allocation_leak_{file};
    handle_leak handle_leak_{file};
};

}  // namespace

findings::analysis analyse(store::trace const& trace, std::function<void(double)> const& progress,
                           findings::stacks* names) {
    listeners all(trace, names);
    model::world world(trace);
    all.listen_to(world);
    world.run(progress);

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
    out.incomplete = findings::reasons_incomplete(trace, out.losses, out.used_driver);
    for (auto const& process : world.processes())
        if (process->graphs().parts_left_out() > 0)
            out.incomplete.push_back("Graphs are nested so deep that not all references in them were followed.");
    out.found = all.found.take();
    out.left = all.left.take();
    return out;
}

}  // namespace lastref::detectors
