#include "analyzer/detectors/first_error.h"

#include "analyzer/detectors/releases.h"
#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {

void first_error::on_event(model::process_state const&, model::event const& e) {
    if (e.kind() == event_kind::kernel_launch && e.row.succeeded()) launches_[e.process] = e.where();
    if (!is_sticky(e.row.result)) return;
    auto const [known, fresh] = broken_.try_emplace(e.process);
    auto& b = known->second;
    if (fresh) {
        b.call = e.where();
        if (auto const last = launches_.find(e.process); last != launches_.end()) b.launch = last->second;
    } else {
        ++b.later;
    }
    if (is_refused_release(e) && e.subject != nullptr) b.left[e.subject->id] = *e.subject;
}

void first_error::on_released(model::process_state const& process, model::object const& gone, model::event const&,
                              model::release_cause) {
    if (auto const found = broken_.find(process.process().id); found != broken_.end())
        found->second.left.erase(gone.id);
}

void first_error::on_process_end(model::process_state const& process) {
    auto const found = broken_.find(process.process().id);
    if (found == broken_.end()) return;
    report(process, found->second);
    broken_.erase(found);
}

void first_error::report(model::process_state const& process, broken const& b) {
    tally all;
    all.add(b.call.at);
    auto out = finding_of(rule::first_error, process, all,
                          findings::hash()
                              .add(api_of(b.call).name)
                              .add(static_cast<std::uint64_t>(b.call.result))
                              .add(place_of(b.call))
                              .value());
    out.severity = severity::error;
    out.confidence = confidence::proven;
    out.confidence_reason = "the driver's answer was recorded, and no earlier call answered such an error";
    out.title =
        fmt::format("{} was the first call to answer {}", api_of(b.call).name, findings::result_text(b.call.result));
    out.what.push_back(
        fmt::format("{} called {} at {}. The error belongs to that call, or to work that was given before it.",
                    thread_of(b.call), api_of(b.call).symbol, findings::time_text(b.call.at)));
    out.what.back()[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out.what.back()[0])));
    if (b.later > 0)
        out.what.push_back(fmt::format("{} answered such an error afterwards.", findings::counted(b.later, "call")));
    out.why =
        "After such an error the context is lost: every later call on it fails, frees too, and host functions are not "
        "run. "
        "The first call is where to look.";
    out.advice =
        "Find the kernel or copy at fault: compute-sanitizer, or CUDA_LAUNCH_BLOCKING=1, which makes each launch "
        "report its "
        "own error. What the context held goes with it.";
    out.sites.push_back(site_of("first error", b.call, on_stream(b.call)));
    if (b.launch.event) out.sites.push_back(site_of("latest kernel launch before", b.launch, on_stream(b.launch)));
    findings::consequence left;
    left.from = rule::failed_free;
    for (auto const& [id, o] : b.left) {
        if (left.count++ == 0 && o.created.event) left.sites.push_back(site_of("made", o.created));
        if (model::is_memory(o.kind)) left.bytes += o.bytes;
    }
    if (left.count > 0) {
        left.text = fmt::format("{} could not be released any more", findings::counted(left.count, "object"));
        out.bytes = left.bytes;
        out.consequences.push_back(std::move(left));
    }
    auto const index = file_.found.add(std::move(out));
    // Nothing of a lost context can be released, tried or not.
    process.objects().for_each([&](model::object const& o) { file_.found.explain(o.id, index); });
    process.graphs().for_each([&](model::graphs::part const& p) { file_.found.explain(p.self.id, index); });
}

}  // namespace lastref::detectors
