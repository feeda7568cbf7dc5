#include "analyzer/detectors/shutdown_release.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

constexpr std::int64_t deinitialized = 4;
constexpr std::uint8_t late = store::event_flag::after_exit | store::event_flag::after_teardown;

bool releases(model::event const& e) {
    return e.api.verb == store::verb::destroy || e.api.verb == store::verb::release;
}

}  // namespace

void shutdown_release::on_event(model::process_state const& process, model::event const& e) {
    bool const is_late = (e.row.flags & late) != 0;
    if (e.kind() == event_kind::callback_user_object) {
        if (is_late)
            count(process, e, lateness::destructor);
        else if (file_.pending.interpreter_at(e.process, e.row.id) >= model::interpreter_stage::finalizing)
            count(process, e, lateness::interpreter);
        return;
    }
    if (!releases(e)) return;
    if (e.row.result == deinitialized)
        count(process, e, lateness::refused);
    else if (is_late && e.row.succeeded() && (e.row.flags & store::event_flag::nested) == 0)
        count(process, e, lateness::after_main);
}

void shutdown_release::count(model::process_state const& process, model::event const& e, lateness how) {
    if (e.subject != nullptr && file_.intended.covers(*e.subject)) return;
    key const k = how == lateness::after_main ? key{how, {}, 0} : key{how, e.row.api, place_of(e.where())};
    auto& g = groups_[process.process().id][k];
    if (g.count++ == 0) {
        g.how = how;
        g.first = e.where();
        if (how == lateness::destructor) g.destructor = e.row.extra;
        g.released = e.subject ? model::name_of(e.subject->kind) : "object";
    }
    g.last = e.row.begin;
    if (e.subject == nullptr) return;
    if (model::is_memory(e.subject->kind)) g.bytes += e.subject->bytes;
    keep_first(g.some, *e.subject);
    if (how == lateness::refused) g.ids.push_back(e.subject->id);
}

void shutdown_release::on_process_end(model::process_state const& process) {
    auto const found = groups_.find(process.process().id);
    if (found == groups_.end()) return;
    for (auto const& [k, g] : found->second) report(process, g);
    groups_.erase(found);
}

void shutdown_release::report(model::process_state const& process, group const& g) {
    finding out;
    out.rule = rule::shutdown_release;
    out.process = process.process().id;
    out.confidence = confidence::proven;
    out.count = g.count;
    out.bytes = g.bytes;
    out.first_seen = g.first.at;
    out.last_seen = g.last;
    for (auto const& o : g.some) out.objects.push_back(note_of(o));
    switch (g.how) {
        case lateness::refused:
            describe_refused(process, out, g);
            break;
        case lateness::after_main:
            describe_late(out, g);
            break;
        case lateness::destructor:
            describe_destructor(process, out, g);
            break;
        case lateness::interpreter:
            describe_interpreter(out, g);
            break;
    }
    if (!g.some.empty() && g.some.front().created.event)
        out.sites.push_back(
            site_of(model::is_memory(g.some.front().kind) ? "allocated" : "created", g.some.front().created));
    bool const one_place = g.how != lateness::after_main;
    out.fingerprint = findings::hash()
                          .add(info(out.rule).name)
                          .add(static_cast<std::uint64_t>(g.how))
                          .add(one_place ? std::string_view(api_of(g.first).name) : std::string_view{})
                          .add(one_place ? place_of(g.first) : 0)
                          .hex();
    auto const index = file_.found.add(std::move(out));
    for (auto const id : g.ids) file_.found.explain(id, index);
}

// The CUDA runtime's exit handler makes these calls. Linked statically into the program, it shows by its functions'
// names only, and those are not always to be had.
bool shutdown_release::maybe_by_runtime(model::process_state const& process, model::origin const& call) const {
    using k = event_kind;
    auto const kind = api_of(call).kind;
    if (kind != k::library_unload && kind != k::module_unload && kind != k::primary_context_release) return false;
    auto const stack = file_.trace.stack_of(call.stack);
    auto const* frame = file_.owners.caller_in(process.process(), stack);
    return frame == nullptr || !file_.owners.named(*frame);
}

void shutdown_release::describe_refused(model::process_state const& process, finding& out, group const& g) const {
    // What an installed library's own clean-up does at exit is true but not the program's to mend.
    auto const caller = caller_of(process, g.first);
    bool const by_library = caller != findings::code_owner::program && caller != findings::code_owner::unknown;
    bool const in_doubt = !by_library && maybe_by_runtime(process, g.first);
    out.severity = by_library ? severity::note : severity::error;
    out.confidence_reason = "the driver answered that it had shut down";
    if (in_doubt) {
        out.severity = severity::note;
        out.confidence = confidence::possible;
        out.confidence_reason =
            "the CUDA runtime makes this call at exit by itself, and there are no names to tell its code, where it is "
            "linked statically, from the program's";
    }
    out.title =
        fmt::format("{} called after the driver had shut down{}", api_of(g.first).name,
                    g.count == 1 ? std::string{}
                                 : fmt::format(", {} times", findings::counted(static_cast<std::int64_t>(g.count))));
    out.what.push_back(fmt::format(
        "The driver answered {} when {} called {}: it refuses every call once its own exit handler has run.",
        findings::result_text(deinitialized), thread_of(g.first), api_of(g.first).symbol));
    if (by_library)
        out.what.push_back(caller == findings::code_owner::cuda
                               ? "The call came from the CUDA runtime's own clean-up."
                               : "The call came from an installed library's own clean-up.");
    out.why =
        "Static objects that were made before the driver's first use are destroyed after its teardown. The call does "
        "nothing; "
        "code that turns its result into an exception ends the program.";
    out.advice =
        "Release before main returns, or register the clean-up after the first driver call so that it runs earlier; "
        "at exit, leaving the object to the operating system is safe.";
    out.sites.push_back(site_of("refused", g.first));
}

void shutdown_release::describe_late(finding& out, group const& g) const {
    out.severity = severity::note;
    out.confidence_reason = "the calls were recorded after exit handlers had begun";
    out.title =
        fmt::format("{} released by exit handlers, after main had returned", findings::counted(g.count, "object"));
    out.what.push_back(fmt::format("The first was a {}, which {} released with {} after exit handlers had begun.",
                                   g.released, thread_of(g.first), api_of(g.first).symbol));
    out.why =
        "It worked, because these handlers ran before the driver's own. That order depends on what was first used "
        "when.";
    out.advice = "Release before main returns where the order matters.";
    out.sites.push_back(site_of("released", g.first));
}

void shutdown_release::describe_destructor(model::process_state const& process, finding& out, group const& g) const {
    out.severity = severity::warning;
    out.confidence_reason = "the destructor's begin was recorded after exit handlers had begun";
    out.title = fmt::format("{} of user objects ran after main had returned", findings::counted(g.count, "destructor"));
    out.what.push_back(
        fmt::format("The driver called the destructor{} on {} at {}, when the program was shutting down.",
                    called(process, g.destructor), thread_of(g.first), findings::time_text(g.first.at)));
    out.why =
        "What the destructor uses (an interpreter, a static queue, an allocator) may be gone by then: that crashes now "
        "and then.";
    out.advice =
        "Destroy graphs and executable graphs, and wait for their launches, before main returns; let the destructor do "
        "nothing once shutdown has begun.";
    out.sites.push_back(site_of("destructor ran", g.first));
}

void shutdown_release::describe_interpreter(finding& out, group const& g) const {
    bool const gone = file_.pending.interpreter_at(out.process, g.first.event) == model::interpreter_stage::finalized;
    out.severity = severity::note;
    out.confidence_reason = "the interpreter itself had said that it was finalizing before the destructor began";
    out.title = fmt::format("{} of user objects ran {}", findings::counted(g.count, "destructor"),
                            gone ? "after the interpreter was finalized" : "while the interpreter was finalizing");
    out.what.push_back(
        fmt::format("The driver called the first on {} at {}.", thread_of(g.first), findings::time_text(g.first.at)));
    out.why =
        "A destructor of a Python program hands its payload to the interpreter's main thread, which no longer comes "
        "for "
        "it: what it stands for is left, and code that enters the interpreter here may crash.";
    out.advice =
        "Drop graphs before the program's end, in a callback of the module atexit at the latest; stop the queue there, "
        "and "
        "leave what comes later.";
    out.sites.push_back(site_of("destructor ran", g.first));
}

}  // namespace lastref::detectors
