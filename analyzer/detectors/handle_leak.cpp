#include "analyzer/detectors/handle_leak.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::detectors {
namespace {

using kind = model::object_kind;
using findings::counted;
using findings::is_foreign;

bool is_handle(kind k) {
    switch (k) {
        case kind::graph:
        case kind::graph_exec:
        case kind::stream:
        case kind::event:
        case kind::context:
        case kind::green_context:
        case kind::pool:
        case kind::module:
        case kind::library:
            return true;
        default:
            return false;
    }
}

char const* destroying_call(kind k) {
    switch (k) {
        case kind::graph:
            return "cuGraphDestroy";
        case kind::graph_exec:
            return "cuGraphExecDestroy";
        case kind::stream:
            return "cuStreamDestroy";
        case kind::event:
            return "cuEventDestroy";
        case kind::context:
            return "cuCtxDestroy";
        case kind::green_context:
            return "cuGreenCtxDestroy";
        case kind::pool:
            return "cuMemPoolDestroy";
        case kind::module:
            return "cuModuleUnload";
        default:
            return "cuLibraryUnload";
    }
}

char const* what_it_keeps(kind k) {
    switch (k) {
        case kind::pool:
            return "A pool keeps the memory that it reserved, beside what is allocated from it.";
        case kind::context:
        case kind::green_context:
            return "A context keeps everything that was made in it, and memory of its own.";
        case kind::graph:
        case kind::graph_exec:
            return "A graph keeps its nodes, the payloads that it holds and, executable, memory on the device.";
        case kind::module:
        case kind::library:
            return "Loaded code stays on the device, with its global variables.";
        default:
            return "Each takes memory of the driver's and of the device; in a process that goes on they add up.";
    }
}

}  // namespace

void handle_leak::on_event(model::process_state const&, model::event const& e) {
    if (!is_creation(e) || !is_handle(e.subject->kind)) return;
    of(*e.subject).add(e.row.begin);
}

void handle_leak::on_released(model::process_state const&, model::object const& gone, model::event const& e,
                              model::release_cause) {
    if (!is_handle(gone.kind) || !gone.created.event) return;
    of(gone).remove(e.row.begin);
}

// A library's module is the library's, and goes with it.
void handle_leak::look(model::object const& o) {
    if (!is_handle(o.kind) || !o.created.event || file_.found.explained(o.id) || file_.intended.covers(o)) return;
    if (o.kind == kind::module && api_of(o.created).name == "cuLibraryGetModule") return;
    auto const key =
        findings::hash().add(place_of(o.created)).add(static_cast<std::uint64_t>(o.kind)).add(api_of(o.created).name);
    auto& g = groups_.of(o.process, key.value(), o);
    if (o.created.at < g.first.created.at) g.first = o;
    g.all.add(o.created.at, &o);
}

void handle_leak::on_process_end(model::process_state const& process) {
    process.objects().for_each([this](model::object const& o) { look(o); });
    process.graphs().for_each([this](model::graphs::part const& p) {
        if (!p.parent) look(p.self);
    });
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
    std::erase_if(places_, [&](auto const& p) { return std::get<0>(p.first) == process.process().id; });
}

// False where there is nothing to tell: a library's own handle that is there to stay.
bool handle_leak::judge(model::process_state const& process, finding& out, model::object const& first,
                        population const& h) const {
    auto const end = std::max(process.last_time(), process.process().last_time.value_or(0));
    bool const growing = h.grows(process.first_event(), end);
    bool const keeps_much = first.kind == kind::pool || first.kind == kind::context;
    if (growing) {
        out.severity = severity::error;
        out.confidence = confidence::likely;
        out.confidence_reason = "the number alive from this place rose through the whole run";
    } else if (h.gone() > 0) {
        out.severity = severity::warning;
        out.confidence = confidence::likely;
        out.confidence_reason = "others from the same place were destroyed, so the program means to destroy them";
    } else if (is_foreign(caller_of(process, first.created))) {
        return false;
    } else {
        out.severity = keeps_much ? severity::warning : severity::note;
        out.confidence = confidence::possible;
        out.confidence_reason = "nothing from this place was ever destroyed: it may be kept until exit on purpose";
    }
    if (ended_orderly(process)) return true;
    out.severity = growing ? severity::warning : severity::note;
    out.confidence = confidence::possible;
    out.confidence_reason = doubt_about_end(process);
    return true;
}

void handle_leak::report(model::process_state const& process, std::uint64_t key,
                         groups<model::object>::group const& g) {
    auto const& first = g.first;
    auto const& h = of(first);
    auto out = finding_of(rule::handle_leak, process, g.all, key);
    if (!judge(process, out, first, h)) return;
    out.title = fmt::format("{} from {} never destroyed", counted(g.all.count, model::name_of(first.kind)),
                            api_of(first.created).name);
    out.what.push_back(fmt::format("{} {} {} was made by {} at {} and was still there when the process ended.",
                                   g.all.count == 1 ? "The" : "The first", model::name_of(first.kind),
                                   findings::handle_text(first.handle, name_of(first)), thread_of(first.created),
                                   findings::time_text(first.created.at)));
    if (h.gone() > 0)
        out.what.push_back(
            fmt::format("Of {} made there, {} destroyed.", counted(static_cast<std::int64_t>(h.made())),
                        h.gone() == 1 ? "1 was" : counted(static_cast<std::int64_t>(h.gone())) + " were"));
    out.why = what_it_keeps(first.kind);
    out.advice = fmt::format("Destroy it with {} when it is no longer needed.", destroying_call(first.kind));
    out.sites.push_back(site_of("made", first.created));
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
