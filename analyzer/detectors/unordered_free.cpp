#include "analyzer/detectors/unordered_free.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {

void unordered_free::add(model::event const& e, unordered_pair const& pair) {
    auto const key = findings::hash()
                         .add(place_of(pair.memory.created))
                         .add(pair.use.allocation ? 0 : place_of(pair.use.call))
                         .add(place_of(pair.freed))
                         .value();
    groups_.of(e.process, key, pair).all.add(pair.freed.at, &pair.memory);
}

void unordered_free::on_event(model::process_state const& process, model::event const& e) {
    for (auto const& pair : captured_.take(e)) add(e, pair);
    auto const pair = unordered_use(file_, process, e);
    if (pair && !between_threads_default_streams(*pair)) add(e, *pair);
}

void unordered_free::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void unordered_free::report(model::process_state const& process, std::uint64_t key,
                            groups<unordered_pair>::group const& g) {
    auto const& pair = g.first;
    auto out = finding_of(rule::unordered_free, process, g.all, key);
    bool const one_thread = pair.use.call.thread == pair.freed.thread;
    out.severity = severity::warning;
    out.confidence = !pair.use.allocation || one_thread ? confidence::likely : confidence::possible;
    out.confidence_reason =
        out.confidence == confidence::likely
            ? "every wait and event that was recorded was followed, and none orders the two; a kernel or the host may "
              "signal through memory, which cannot be seen"
            : "no use was seen, and the threads may wait for one another by means that are no driver calls";
    auto const buffers = findings::counted(g.all.count, "buffer");
    if (pair.freed.stream.kind == model::stream_kind::none)
        out.title = fmt::format("{} freed by {} while work on {} may still run", buffers, api_of(pair.freed).name,
                                g.all.count == 1 ? "it" : "them");
    else if (pair.captured)
        out.title = fmt::format("{} of a captured graph freed with no edge from {}", buffers,
                                pair.use.allocation ? "the allocation" : "the last use");
    else if (pair.recycled)
        out.title = fmt::format("{} freed on a stream that only has the handle of the one that used {}", buffers,
                                g.all.count == 1 ? "it" : "them");
    else
        out.title = fmt::format("{} freed on another stream, with no order after {}", buffers,
                                pair.use.allocation ? "the allocation" : "the last use");
    order_story(file_).tell(out, pair);
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
