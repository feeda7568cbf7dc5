#include "analyzer/detectors/double_free.h"

#include "analyzer/detectors/releases.h"
#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {

void double_free::on_event(model::process_state const& process, model::event const& e) {
    if (!is_double_free(process, e)) return;
    second_free found{e.where(), e.row.object, {}};
    if (auto const* past = process.recently_released(space_released_by(e.kind()), e.row.object)) found.before = *past;
    auto const key = findings::hash()
                         .add(api_of(found.call).name)
                         .add(place_of(found.call))
                         .add(found.before ? place_of(found.before->released) : 0)
                         .value();
    groups_.of(e.process, key, found).all.add(e.row.begin);
}

void double_free::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void double_free::report(model::process_state const& process, std::uint64_t key, groups<second_free>::group const& g) {
    auto const& f = g.first;
    auto out = finding_of(rule::double_free, process, g.all, key);
    auto const name = api_of(f.call).name;
    auto const kind = f.before ? model::name_of(f.before->what.kind) : "object";
    auto const caller = caller_of(process, f.call);
    out.severity = caller == findings::code_owner::cuda ? severity::note
                   : findings::is_foreign(caller)       ? severity::warning
                                                        : severity::error;
    out.confidence = f.before ? confidence::proven : confidence::likely;
    out.confidence_reason = f.before ? "both releases and the driver's answer were recorded"
                                     : "the driver's answer was recorded, and no recorded call made the object";
    out.title = f.before ? fmt::format("{} of what had been released before ({})", name, kind)
                         : fmt::format("{} of something that was never made", name);
    if (g.all.count > 1)
        out.title += fmt::format(", {} times", findings::counted(static_cast<std::int64_t>(g.all.count)));
    out.what.push_back(fmt::format("The driver answered {} when {} called {} for {}.",
                                   findings::result_text(f.call.result), thread_of(f.call), api_of(f.call).symbol,
                                   findings::handle_text(f.named)));
    out.sites.push_back(site_of("refused", f.call));
    if (f.before) {
        out.what.push_back(fmt::format("It had been released by {} at {}.", thread_of(f.before->released),
                                       findings::time_text(f.before->released.at)));
        out.sites.push_back(site_of("released before", f.before->released));
        if (f.before->what.created.event) out.sites.push_back(site_of("made", f.before->what.created));
        out.why =
            "The handle was stale. Its value may already belong to a new object by the time of a second release, which "
            "then destroys that one without a word.";
        out.advice = "Let one owner release the object, and clear the handle when it does.";
    } else {
        out.what.push_back("No recorded call made it, and it does not lie inside an allocation.");
        out.why = "It was never allocated, or was released so long ago that it is forgotten.";
        out.advice = "Free the address that the allocation returned, once.";
    }
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
