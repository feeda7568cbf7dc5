#include "analyzer/gate/place.h"

#include "analyzer/findings/code_owner.h"

#include <fmt/core.h>

#include <optional>

namespace lastref::gate {
namespace {

// A function that says where one is: neither nameless nor of the standard library or a CUDA runtime linked statically.
findings::symbol const* telling(findings::named_frame const& frame) {
    for (auto const& f : frame.functions)
        if (!f.function.empty() && !f.function.starts_with("std::") && !findings::is_static_runtime(f.function))
            return &f;
    return nullptr;
}

std::optional<place> place_in(findings::site const& s, findings::code_owner owner, store::trace const& trace,
                              findings::stacks& stacks) {
    if (!s.call.stack || !s.call.thread) return std::nullopt;
    auto const& process = trace.at(trace.at(s.call.thread).process);
    for (auto const& frame : stacks.of(s.call.stack).frames) {
        if (!frame.module && !frame.python) continue;
        auto const* const function = telling(frame);
        if (function == nullptr || findings::owner_of(trace, process, frame) != owner) continue;
        return place{function->function, function->file, function->line,
                     frame.python ? std::string{} : trace.at(frame.module).path};
    }
    return std::nullopt;
}

}  // namespace

std::string place::text() const {
    if (file.empty()) return function;
    auto const name = file.substr(file.rfind('/') + 1);
    return line == 0 ? fmt::format("{} ({})", function, name) : fmt::format("{} ({}:{})", function, name, line);
}

place place_of(findings::finding const& f, store::trace const& trace, findings::stacks& stacks) {
    for (auto const owner : {findings::code_owner::program, findings::code_owner::library})
        for (auto const& s : f.sites)
            if (auto found = place_in(s, owner, trace, stacks)) return *found;
    return {};
}

baseline baseline_of(findings::analysis const& what, store::trace const& trace, findings::stacks& stacks) {
    baseline out{trace.path(), what.incomplete.empty(), {}};
    for (auto const& f : what.found)
        out.findings.push_back({f.fingerprint, std::string(info(f.rule).name), std::string(name_of(f.severity)),
                                f.title, place_of(f, trace, stacks).text(), f.count, f.bytes});
    return out;
}

}  // namespace lastref::gate
