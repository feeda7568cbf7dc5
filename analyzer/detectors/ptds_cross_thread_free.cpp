#include "analyzer/detectors/ptds_cross_thread_free.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {

void ptds_cross_thread_free::on_event(model::process_state const& process, model::event const& e) {
    auto const pair = unordered_use(file_, process, e);
    if (!pair || !between_threads_default_streams(*pair)) return;
    auto const key = findings::hash()
                         .add(place_of(pair->memory.created))
                         .add(pair->use.allocation ? 0 : place_of(pair->use.call))
                         .add(place_of(pair->freed))
                         .value();
    groups_.of(e.process, key, *pair).all.add(e.row.begin, e.subject);
}

void ptds_cross_thread_free::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void ptds_cross_thread_free::report(model::process_state const& process, std::uint64_t key,
                                    groups<unordered_pair>::group const& g) {
    auto out = finding_of(rule::ptds_cross_thread_free, process, g.all, key);
    out.severity = severity::warning;
    out.confidence = g.first.use.allocation ? confidence::possible : confidence::likely;
    out.confidence_reason =
        g.first.use.allocation ? "no wait or event that was recorded orders the two streams; no use of the memory was "
                                 "seen, and what kernels "
                                 "do with it cannot be"
                               : "every wait and event that was recorded was followed, and none orders the two streams";
    out.title = fmt::format("{} of one thread's default stream freed on another thread's",
                            findings::counted(g.all.count, "buffer"));
    order_story(file_).tell(out, g.first);
    out.why =
        "Each thread has a default stream of its own, and nothing orders one after the other. The pool may hand the "
        "memory out again while the first thread's work still reads or writes it.";
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
