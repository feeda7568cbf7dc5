#include "gui/scenes/shutdown.h"

#include "analyzer/findings/wording.h"

#include <algorithm>
#include <utility>

namespace lastref::gui::scenes {
namespace {

shutdown_step step_of(store::event const& row) {
    if ((row.flags & store::event_flag::after_teardown) != 0) return shutdown_step::after_driver;
    return (row.flags & store::event_flag::after_exit) != 0 ? shutdown_step::exit_handlers : shutdown_step::main;
}

// A child graph goes with what holds it.
bool is_part(model::object_kind kind) {
    return kind == model::object_kind::child_graph || kind == model::object_kind::child_exec;
}

}  // namespace

void shutdown_builder::items::add(std::string what, std::string how, std::uint64_t bytes, store::event_id event) {
    auto& item = by_key[{what, how}];
    if (item.count++ == 0) {
        item.what = std::move(what);
        item.how = std::move(how);
        item.first = event;
    }
    item.bytes += bytes;
}

std::vector<shutdown_item> shutdown_builder::items::sorted() const {
    std::vector<shutdown_item> out;
    for (auto const& [k, item] : by_key) out.push_back(item);
    std::stable_sort(out.begin(), out.end(), [](auto const& a, auto const& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.count > b.count;
    });
    return out;
}

shutdown_builder::shutdown_builder(store::trace const& trace, intended_leak meant)
    : trace_(trace), meant_(std::move(meant)) {}

void shutdown_builder::on_event(model::process_state const& process, model::event const& e) {
    auto& its = endings_[process.process().id];
    its.used = true;
    auto const step = step_of(e.row);
    auto& phase = its.phases[static_cast<std::size_t>(step)];
    bool const callback = e.kind() == event_kind::callback_user_object;
    // Until main returns, each of its calls may turn out to be its last.
    bool const of_main =
        trace_.at(e.row.thread).main && !callback && (e.row.flags & store::event_flag::in_callback) == 0;
    if (step == shutdown_step::main && of_main) {
        its.last_main_call = e.row.begin;
        phase = {};
    }
    phase.any = true;
    phase.last = std::max(phase.last, e.row.end());
    if (callback) phase.destructors.add("user object", {}, 0, e.row.id);
    bool const failed = e.row.returned() && !e.row.succeeded();
    if (failed && !callback) phase.failed.add(e.api.name, findings::result_text(e.row.result), 0, e.row.id);
}

void shutdown_builder::on_released(model::process_state const& process, model::object const& gone,
                                   model::event const& e, model::release_cause cause) {
    if (e.kind() == event_kind::callback_user_object || cause == model::release_cause::displaced || is_part(gone.kind))
        return;
    auto& phase = endings_[process.process().id].phases[static_cast<std::size_t>(step_of(e.row))];
    auto how = e.api.name;
    if (cause == model::release_cause::context_destroyed) how = "with its context";
    phase.released.add(model::name_of(gone.kind), std::move(how), model::is_memory(gone.kind) ? gone.bytes : 0,
                       e.row.id);
}

// What was there before the recording, or belongs to the driver, was not made by the program.
void shutdown_builder::leave(ending& of, model::object const& o) const {
    if (!o.created.event || is_part(o.kind)) return;
    bool const memory = model::is_memory(o.kind) && o.kind != model::object_kind::address_range;
    bool const meant = meant_ && meant_(o);
    (meant ? of.intended : of.left).add(model::name_of(o.kind), {}, memory ? o.bytes : 0, o.created.event);
    if (memory && !meant) of.left_bytes += o.bytes;
}

void shutdown_builder::on_process_end(model::process_state const& process) {
    auto& its = endings_[process.process().id];
    process.objects().for_each([&](model::object const& o) { leave(its, o); });
    process.graphs().for_each([&](model::graphs::part const& p) { leave(its, p.self); });
    for (auto const& o : process.displaced_user_objects()) leave(its, o);
}

void shutdown_builder::add_phases(shutdown_process& out, ending const& of) const {
    std::array<std::optional<time_ns>, 3> begins;
    begins[0] = of.last_main_call;
    std::optional<time_ns> end;
    for (auto const& p : trace_.phases()) {
        if (p.process != out.process) continue;
        if (p.what == store::phase_step::exit_begin) begins[1] = p.at;
        if (p.what == store::phase_step::driver_torn_down) begins[2] = p.at;
        if (p.what == store::phase_step::end) end = p.at;
    }
    for (std::size_t i = 0; i < 3; ++i) {
        auto const& from = of.phases[i];
        if (!begins[i] && !from.any) continue;
        shutdown_phase phase{static_cast<shutdown_step>(i), 0, 0, from.released.sorted(), from.failed.sorted(),
                             from.destructors.sorted()};
        phase.begin = begins[i].value_or(out.phases.empty() ? from.last : out.phases.back().end);
        phase.end = std::max(phase.begin, from.last);
        for (auto next = i + 1; next < 3; ++next)
            if (begins[next]) {
                phase.end = *begins[next];
                break;
            }
        out.phases.push_back(std::move(phase));
    }
    if (!out.phases.empty() && end) out.phases.back().end = std::max(out.phases.back().begin, *end);
}

std::shared_ptr<shutdown const> shutdown_builder::take() {
    auto out = std::make_shared<shutdown>();
    for (auto const& process : trace_.processes()) {
        auto const known = endings_.find(process.id);
        if (known == endings_.end() || !known->second.used) continue;
        shutdown_process made;
        made.process = process.id;
        made.name = findings::process_name(process);
        made.ended = findings::how_it_ended(process);
        made.orderly = process.end == store::process_end::clean;
        made.left = known->second.left.sorted();
        made.intended = known->second.intended.sorted();
        made.left_bytes = known->second.left_bytes;
        add_phases(made, known->second);
        out->processes.push_back(std::move(made));
    }
    return out;
}

std::shared_ptr<shutdown const> build_shutdown(store::trace const& trace, watch const& tell, intended_leak meant) {
    shutdown_builder builder(trace, std::move(meant));
    model::world world(trace);
    world.add(builder);
    world.run([&tell](double share) {
        if (tell && !tell(share)) throw cancelled();
    });
    return builder.take();
}

}  // namespace lastref::gui::scenes
