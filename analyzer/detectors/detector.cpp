#include "analyzer/detectors/detector.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::detectors {

site detector::site_of(std::string role, model::origin const& call, std::string note) const {
    site out;
    out.role = std::move(role);
    out.call = call;
    if (call.api) out.entry_point = api_of(call).symbol;
    out.note = std::move(note);
    out.thread = thread_of(call);
    out.stream_name = file_.names.of(call.stream.stream, call.event);
    out.context_name = file_.names.of(call.context, call.event);
    return out;
}

findings::object_note detector::note_of(model::object const& o) const {
    return {o.kind, o.handle, o.bytes, o.created.event, std::string(name_of(o))};
}

std::string detector::thread_of(store::thread_id thread) const {
    auto const told = findings::thread_name(file_.trace.at(thread));
    auto const name = file_.names.of_main_thread(thread);
    return name.empty() ? told : fmt::format("{} {}", told, findings::quoted(name));
}

std::string detector::thread_of(model::origin const& call) const {
    return call.thread ? thread_of(call.thread) : "an unknown thread";
}

std::string detector::stream_of(model::origin const& call) const {
    auto const& stream = call.stream;
    return findings::stream_text(stream, file_.names.of(stream.stream, call.event),
                                 stream.thread ? thread_of(stream.thread) : std::string{});
}

std::string detector::context_of(store::context_id context, store::event_id at) const {
    if (!context) return "no context";
    return "context " + findings::handle_text(file_.trace.at(context).handle, file_.names.of(context, at));
}

std::string detector::called(model::process_state const& process, std::uint64_t function) const {
    auto const name = file_.owners.function_at(process.process().id, function);
    return name.empty() ? name : " " + name;
}

std::string detector::on_stream(model::origin const& call) const {
    switch (call.stream.kind) {
        case model::stream_kind::none:
            return {};
        case model::stream_kind::per_thread:
            return "on its per-thread default stream";
        default:
            return "on " + stream_of(call);
    }
}

findings::code_owner detector::caller_of(model::process_state const& process, model::origin const& call) const {
    auto const stack = file_.trace.stack_of(call.stack);
    auto const* frame = file_.owners.caller_in(process.process(), stack);
    return frame ? file_.owners.of(process.process(), *frame) : findings::code_owner::unknown;
}

std::string doubt_about_end(model::process_state const& process) {
    auto const& p = process.process();
    if (p.end == store::process_end::clean) return {};
    return fmt::format("the process did not come to an orderly end ({}), and might have released it later",
                       findings::how_it_ended(p));
}

void keep_first(std::vector<model::object>& some, model::object const& o) {
    auto const after = [](model::object const& a, model::object const& b) { return a.id < b.id; };
    some.insert(std::upper_bound(some.begin(), some.end(), o, after), o);
    if (some.size() > findings::most_objects) some.pop_back();
}

bool is_creation(model::event const& e) {
    return e.subject != nullptr && e.subject->created.event == e.row.id;
}

}  // namespace lastref::detectors
