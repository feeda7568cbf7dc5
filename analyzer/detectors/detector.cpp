#include "analyzer/detectors/detector.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::detectors {

site detector::site_of(std::string role, model::origin const& call, std::string note) const {
    return {std::move(role), call, call.api ? api_of(call).symbol : std::string{}, std::move(note)};
}

findings::object_note detector::note_of(model::object const& o) const {
    return {o.kind, o.handle, o.bytes, o.created.event};
}

std::string detector::thread_of(model::origin const& call) const {
    return call.thread ? findings::thread_name(file_.trace.at(call.thread)) : "an unknown thread";
}

std::string detector::stream_of(model::origin const& call) const {
    return findings::stream_text(file_.trace, call.stream);
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
