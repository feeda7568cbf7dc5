#include "analyzer/detectors/allocation_leak.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::detectors {
namespace {

using findings::bytes_text;
using findings::code_owner;
using findings::counted;
using findings::is_foreign;

// A range of addresses holds no memory; a mapping's memory is reported with its physical handle.
bool counts_as_memory(model::object_kind kind) {
    return model::is_memory(kind) && kind != model::object_kind::mapping && kind != model::object_kind::address_range;
}

char const* release_call(model::object_kind kind) {
    switch (kind) {
        case model::object_kind::stream_ordered:
            return "cuMemFreeAsync";
        case model::object_kind::pinned:
            return "cuMemFreeHost";
        case model::object_kind::registered:
            return "cuMemHostUnregister";
        case model::object_kind::physical:
            return "cuMemUnmap and cuMemRelease";
        case model::object_kind::ipc_memory:
            return "cuIpcCloseMemHandle";
        case model::object_kind::array:
            return "cuArrayDestroy";
        case model::object_kind::mipmapped_array:
            return "cuMipmappedArrayDestroy";
        case model::object_kind::external_memory:
            return "cuDestroyExternalMemory";
        default:
            return "cuMemFree";
    }
}

}  // namespace

void allocation_leak::on_event(model::process_state const&, model::event const& e) {
    if (!is_creation(e) || !counts_as_memory(e.subject->kind)) return;
    places_[e.process].at(e.row.stack).add(e.row.begin);
}

void allocation_leak::on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                                  model::release_cause) {
    if (!counts_as_memory(gone.kind)) return;
    places_[process.process().id].at(gone.created.stack).remove(e.row.begin);
}

void allocation_leak::add(group_map& into, model::object const& o) {
    if (!counts_as_memory(o.kind) || file_.found.explained(o.id) || file_.intended.covers(o)) return;
    auto const place = place_of(o.created);
    auto& g = into[{place, o.kind, o.created.api}];
    if (g.count++ == 0 || o.created.at < g.first.created.at) g.first = o;
    g.place_key = place;
    g.bytes += o.bytes;
    g.last = std::max(g.last, o.created.at);
    keep_first(g.some, o);
    auto const* link = file_.links.of_memory(o.id);
    if (link == nullptr || !link->destructor) return;
    if (g.undrained++ == 0) {
        g.destructor = *link->destructor;
        g.user_object = link->created;
    }
    g.undrained_by_address |= link->by_address;
}

allocation_leak::group_map allocation_leak::collect(model::process_state const& process) {
    group_map out;
    process.objects().for_each([&](model::object const& o) { add(out, o); });
    if (out.empty()) return out;
    auto const& p = process.process();
    auto const end = std::max(process.last_time(), p.last_time.value_or(0));
    auto const key_of = [this](store::stack_id stack) { return file_.places.key(stack); };
    auto const places = places_[p.id].by_key(key_of, process.first_event(), end);
    for (auto& [k, g] : out) {
        if (auto const here = places.find(g.place_key); here != places.end()) {
            g.made = here->second.made;
            g.freed = here->second.gone;
            g.growing = here->second.growing;
        }
        g.caller = caller_of(process, g.first.created);
    }
    return out;
}

// A library's file, or a package of Python.
std::string allocation_leak::library_of(model::process_state const& process, group const& g) const {
    auto const stack = file_.trace.stack_of(g.first.created.stack);
    auto const* frame = file_.owners.caller_in(process.process(), stack);
    if (frame != nullptr && frame->python) return std::string(findings::package_of(frame->file));
    if (frame == nullptr || !frame->module) return "an unknown library";
    auto const& path = file_.trace.at(frame->module).path;
    return path.substr(path.rfind('/') + 1);
}

void allocation_leak::on_process_end(model::process_state const& process) {
    auto const found = collect(process);
    std::map<std::pair<code_owner, std::string>, std::vector<group const*>> kept;
    for (auto const& [k, g] : found) {
        bool const by_design = is_foreign(g.caller) && !g.growing && g.freed == 0 && g.undrained == 0;
        if (!by_design) {
            report(process, g);
            continue;
        }
        kept[{g.caller, library_of(process, g)}].push_back(&g);
    }
    for (auto const& [by, groups] : kept) report_kept(process, by.second, groups);
    places_.erase(process.process().id);
}

void allocation_leak::report(model::process_state const& process, group const& g) {
    finding out;
    out.rule = rule::allocation_leak;
    out.process = process.process().id;
    out.count = g.count;
    out.bytes = g.bytes;
    out.first_seen = g.first.created.at;
    out.last_seen = g.last;
    for (auto const& o : g.some) out.objects.push_back(note_of(o));
    judge(process, out, g);
    describe(out, g);
    out.fingerprint = findings::hash()
                          .add(info(out.rule).name)
                          .add(api_of(g.first.created).name)
                          .add(static_cast<std::uint64_t>(g.first.kind))
                          .add(g.place_key)
                          .hex();
    file_.found.add(std::move(out));
}

void allocation_leak::judge(model::process_state const& process, finding& out, group const& g) const {
    auto const again = g.freed > 0;
    if (g.growing) {
        out.severity = severity::error;
        out.confidence = confidence::likely;
        out.confidence_reason = "the number of live allocations from this place rose through the whole run";
    } else if (g.undrained > 0) {
        out.severity = severity::warning;
        out.confidence = g.undrained_by_address ? confidence::likely : confidence::possible;
        out.confidence_reason = g.undrained_by_address
                                    ? "the user object's payload is this memory"
                                    : "that the user object stands for this memory is inferred: same thread, "
                                      "same function, allocated just before";
    } else if (again) {
        out.severity = severity::warning;
        out.confidence = confidence::likely;
        out.confidence_reason = "other allocations from the same place were freed, so the program means to free them";
    } else {
        out.severity = is_foreign(g.caller) ? severity::note : severity::warning;
        out.confidence = confidence::possible;
        out.confidence_reason = "nothing from this place was ever freed: it may be kept until exit on purpose";
    }
    if (ended_orderly(process)) return;
    out.severity = std::min(out.severity, severity::warning);
    if (!g.growing) out.severity = severity::note;
    out.confidence = confidence::possible;
    out.confidence_reason = doubt_about_end(process);
}

void allocation_leak::describe(finding& out, group const& g) const {
    auto const name = api_of(g.first.created).name;
    auto const kind = model::name_of(g.first.kind);
    out.title = g.growing ? fmt::format("{} of {} from {} never freed, and growing ({})", bytes_text(g.bytes), kind,
                                        name, counted(g.count, "allocation"))
                          : fmt::format("{} of {} from {} still allocated at exit ({})", bytes_text(g.bytes), kind,
                                        name, counted(g.count, "allocation"));
    if (g.count == 1)
        out.what.push_back(fmt::format("{}, {}, was allocated by {} at {} and never freed.",
                                       findings::handle_text(g.first.handle), bytes_text(g.first.bytes),
                                       thread_of(g.first.created), findings::time_text(g.first.created.at)));
    else
        out.what.push_back(fmt::format("{} from this place, the first at {} and the last at {}, were never freed.",
                                       counted(g.count, "allocation"), findings::time_text(g.first.created.at),
                                       findings::time_text(g.last)));
    if (g.freed > 0 || g.made > g.count)
        out.what.push_back(fmt::format("Of {} made there, {} were freed.", counted(g.made, "allocation"),
                                       counted(static_cast<std::int64_t>(g.freed))));
    out.sites.push_back(
        site_of("allocated", g.first.created,
                g.first.created.stream.kind == model::stream_kind::none ? "" : "on " + stream_of(g.first.created)));
    if (g.undrained > 0) {
        out.what.push_back(fmt::format(
            "It is probably the payload of a user object created just after it: that one's destructor ran at {}, and "
            "nothing freed the memory afterwards.",
            findings::time_text(g.destructor.at)));
        out.sites.push_back(site_of("user object created", g.user_object));
        out.why =
            "A destructor must not call the driver, so it can only hand its payload on. What it handed on was not "
            "released "
            "before the process ended.";
        out.advice =
            "Drain the clean-up queue after the last graph is destroyed and its launches are waited for, before main "
            "returns.";
        return;
    }
    out.why = "The memory stays reserved until the process ends; in a process that goes on, it is lost.";
    out.advice = fmt::format("Free it with {} once its last use is over.", release_call(g.first.kind));
}

// A framework's pools, one line for each library: true, and seldom what somebody looks for.
void allocation_leak::report_kept(model::process_state const& process, std::string const& library,
                                  std::vector<group const*> const& kept) {
    finding out;
    out.rule = rule::allocation_leak;
    out.process = process.process().id;
    out.severity = severity::note;
    out.confidence = confidence::possible;
    out.confidence_reason =
        "libraries keep pools and workspaces until exit on purpose; nothing from these places was ever freed";
    auto ordered = kept;
    std::sort(ordered.begin(), ordered.end(), [](group const* a, group const* b) { return a->bytes > b->bytes; });
    out.first_seen = ordered.front()->first.created.at;
    out.count = 0;
    for (auto const* g : ordered) {
        out.count += g->count;
        out.bytes += g->bytes;
        out.first_seen = std::min(out.first_seen, g->first.created.at);
        out.last_seen = std::max(out.last_seen, g->last);
        if (out.sites.size() < 3) out.sites.push_back(site_of("allocated", g->first.created));
        for (auto const& o : g->some)
            if (out.objects.size() < findings::most_objects) out.objects.push_back(note_of(o));
    }
    out.title =
        fmt::format("{} kept {} until exit ({})", library, bytes_text(out.bytes), counted(out.count, "allocation"));
    out.what.push_back(fmt::format("Still there when the process ended: {} from {} in {}.",
                                   counted(out.count, "allocation"), counted(ordered.size(), "place"), library));
    out.why = "The memory was held to the end. For a pool or a workspace that is how it is meant.";
    out.advice =
        "Nothing, where the library is meant to keep it; otherwise release it before the end (empty the cache, drop "
        "the last "
        "reference).";
    out.fingerprint = findings::hash().add(info(out.rule).name).add("kept").add(library).hex();
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
