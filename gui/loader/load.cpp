#include "gui/loader/load.h"

#include "analyzer/detectors/analysis.h"
#include "analyzer/findings/fingerprint.h"
#include "analyzer/findings/wording.h"
#include "analyzer/gate/place.h"
#include "gui/loader/finding_rows.h"
#include "gui/loader/outstanding.h"
#include "gui/loader/suppressed_places.h"
#include "gui/scenes/timeline_builder.h"

#include <algorithm>
#include <unordered_map>

namespace lastref::gui {
namespace {

class event_counter : public model::observer {
  public:
    explicit event_counter(std::unordered_map<store::process_id, std::uint64_t>& counts) : counts_(counts) {}
    void on_process_end(model::process_state const& process) override {
        counts_[process.process().id] = process.events();
    }

  private:
    std::unordered_map<store::process_id, std::uint64_t>& counts_;
};

store::time_ns end_of(loaded_trace const& trace) {
    store::time_ns out = 0;
    for (auto const& process : trace.processes) out = std::max(out, process.last_time.value_or(process.first_time));
    for (auto const& phase : trace.phases) out = std::max(out, phase.at);
    return out;
}

std::vector<gate::suppression> suppressions_of(load_request const& request) {
    std::vector<gate::suppression> out;
    for (auto const& path : request.suppressions)
        for (auto& each : gate::read_suppressions(path)) out.push_back(std::move(each));
    return out;
}

std::vector<suppression_row> rows_of(std::vector<gate::used_suppression> const& used) {
    std::vector<suppression_row> out;
    for (auto const& each : used) out.push_back({each.what.text, each.what.file, each.what.line, each.matches});
    return out;
}

}  // namespace

// Has the right to a loaded trace's reader; makes one.
class trace_reading {
  public:
    trace_reading(load_request const& request, load_watch const& watch)
        : watch_(watch), suppressions_(suppressions_of(request)), out_(std::make_shared<loaded_trace>(request.path)) {}

    trace_pointer result() {
        std::lock_guard const guard(out_->reading_);
        analyse();
        look_up();
        judge();
        take_facts();
        return std::move(out_);
    }

  private:
    void tell(load_stage stage, double share) const {
        if (!watch_(stage, share)) throw load_cancelled();
    }

    // A builder of a scene, and where what it made goes.
    template <class Builder, class Scene>
    static detectors::more_observer building(std::unique_ptr<Builder> builder, std::shared_ptr<Scene const>& to) {
        auto take = [from = builder.get(), &to] { to = from->take(); };
        return {std::move(builder), std::move(take)};
    }

    detectors::more_observers listeners() {
        return [this](detectors::case_file const& file) {
            std::vector<detectors::more_observer> out;
            out.push_back({std::make_unique<call_indexer>(out_->calls), {}});
            out.push_back({std::make_unique<event_counter>(events_), {}});
            auto lives = std::make_unique<object_lives_builder>(out_->objects);
            auto finish = [from = lives.get()] { from->finish(); };
            out.push_back({std::move(lives), std::move(finish)});
            out.push_back({std::make_unique<outstanding_collector>(file, out_->outstanding), {}});
            out.push_back(building(std::make_unique<scenes::timeline_builder>(file.trace), out_->timeline));
            out.push_back(building(std::make_unique<scenes::curves_builder>(file.trace, file.links), out_->curves));
            out.push_back(building(std::make_unique<scenes::holders_builder>(file.trace, file.accountant, file.links),
                                   out_->stories));
            out.push_back(building(std::make_unique<scenes::allocation_builder>(), out_->allocations));
            auto meant = [this, &file](model::object const& object) {
                return file.intended.covers(object) || suppressed_.covers(object);
            };
            out.push_back(building(std::make_unique<scenes::shutdown_builder>(file.trace, meant), out_->shutdown));
            return out;
        };
    }

    void analyse() {
        tell(load_stage::reading, 0);
        auto const progress = [this](double share) { tell(load_stage::reading, share); };
        what_ = detectors::analyse(out_->trace_, progress, &out_->stacks_, {}, listeners());
    }

    void look_up() {
        std::size_t done = 0;
        for (auto const& finding : what_.found) {
            for (auto const& site : finding.sites) out_->stacks_.of(site.call.stack);
            tell(load_stage::looking_up_symbols, static_cast<double>(++done) / static_cast<double>(what_.found.size()));
        }
        findings::give_fingerprints(what_, out_->trace_, out_->stacks_);
        name_sites(out_->outstanding, what_, out_->trace_, out_->stacks_);
    }

    void judge() {
        auto const outcome =
            gate::judge(what_, out_->trace_, out_->stacks_, gate::conditions{}, suppressions_, std::nullopt);
        report::input const in{out_->trace_, what_, out_->stacks_, outcome};
        out_->findings = finding_rows(in, [this] { tell(load_stage::looking_up_symbols, 1); });
        out_->suppressions = rows_of(outcome.suppressions);
        out_->verdict = outcome.reached;
        out_->verdict_text = report::counts_text(in);
        out_->as_baseline = gate::baseline_of(what_, out_->trace_, out_->stacks_);
    }

    void take_facts() {
        out_->losses = what_.losses;
        out_->incomplete = what_.incomplete;
        out_->ledger = what_.ledger;
        out_->events = what_.events;
        out_->end = end_of(*out_);
        for (auto const id : what_.used_driver) {
            auto const& process = out_->trace_.at(id);
            out_->process_rows.push_back({id, findings::process_name(process), process.command_line,
                                          findings::how_it_ended(process), events_[id]});
        }
    }

    load_watch const& watch_;
    std::vector<gate::suppression> suppressions_;  // first: a mistake in them should not wait for the rest
    std::shared_ptr<loaded_trace> out_;
    suppressed_places suppressed_{suppressions_, out_->trace_, out_->stacks_};
    findings::analysis what_;
    std::unordered_map<store::process_id, std::uint64_t> events_;
};

trace_pointer load(load_request const& request, load_watch const& watch) {
    return trace_reading(request, watch).result();
}

}  // namespace lastref::gui
