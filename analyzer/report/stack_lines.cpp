#include "analyzer/report/stack_lines.h"

#include "analyzer/findings/noise.h"
#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace lastref::report {

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

namespace {

// The last two folders are enough to find a source file, and leave room for what matters.
std::string short_path(std::string_view path) {
    std::size_t kept = path.size();
    for (int i = 0; i < 3 && kept != std::string_view::npos && kept > 0; ++i) kept = path.rfind('/', kept - 1);
    return kept == std::string_view::npos || kept == 0 ? std::string(path) : fmt::format("…{}", path.substr(kept));
}

// --- stacks --------------------------------------------------------------------------------------------------------

std::string place_of(store::trace const& trace, findings::named_frame const& frame, findings::symbol const* function) {
    if (function != nullptr && function->line != 0)
        return fmt::format("{}:{}", short_path(function->file), function->line);
    if (frame.python) return function->file.empty() ? "Python" : short_path(function->file);
    if (!frame.module) return fmt::format("{:#x}, in no file", frame.address);
    auto const where = fmt::format("{}+{:#x}", base_name(trace.at(frame.module).path), frame.offset);
    auto const trouble = findings::trouble_with(frame);
    return trouble.empty() ? where : fmt::format("{} ({})", where, trouble);
}

std::vector<stack_line> lines_of(input const& in, store::process const& process, findings::named_stack const& stack) {
    std::vector<stack_line> out;
    for (auto const& frame : stack.frames) {
        auto const path = frame.module ? in.trace.at(frame.module).path : std::string{};
        auto module = frame.module ? std::string(base_name(in.trace.at(frame.module).path)) : std::string{};
        if (frame.python) module = findings::package_of(frame.functions.front().file);
        auto const owner = findings::owner_of(in.trace, process, frame);
        if (frame.functions.empty())
            out.push_back({"??", place_of(in.trace, frame, nullptr), module, path, {}, owner, false});
        for (auto const& f : frame.functions) {
            auto name = f.function.empty() ? std::string("??") : f.function;
            if (f.inlined) name += " [inlined]";
            auto const by = findings::is_static_runtime(f.function) ? findings::code_owner::cuda : owner;
            out.push_back({std::move(name), place_of(in.trace, frame, &f), module, path, f.file, by, frame.python});
        }
    }
    return out;
}

bool is_header(std::string_view file) {
    return file.starts_with("/usr/include/") || file.find("/include/c++/") != std::string_view::npos;
}

bool folds(stack_line const& line) {
    bool const elsewhere = line.owner != findings::code_owner::program && line.owner != findings::code_owner::unknown;
    return elsewhere || is_header(line.file);
}

bool is_noise(stack_line const& line) {
    return findings::noise_list::built_in().holds(line.function, line.python ? line.file : line.path);
}

bool is_exit(stack_line const& line) {
    return line.function == "exit" || line.function == "__run_exit_handlers" || line.function == "__cxa_finalize";
}

std::string folded_text(std::vector<stack_line> const& lines, std::size_t from, std::size_t to) {
    std::vector<std::string> modules;
    for (auto i = from; i < to; ++i)
        if (std::find(modules.begin(), modules.end(), lines[i].module) == modules.end())
            modules.push_back(lines[i].module);
    std::string names;
    for (std::size_t i = 0; i < modules.size() && i < 3; ++i) names += (i ? ", " : "") + modules[i];
    if (modules.size() > 3) names += ", …";
    bool const exits = std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(from),
                                   lines.begin() + static_cast<std::ptrdiff_t>(to), is_exit);
    return fmt::format("… {} in {}{}", findings::counted(to - from, "frame"), names,
                       exits ? ", running exit handlers" : "");
}

// CUDA's own frames at the top, and what starts main or a thread at the bottom, go without saying.
std::pair<std::size_t, std::size_t> worth_printing(std::vector<stack_line> const& lines) {
    std::size_t first = 0;
    while (first + 1 < lines.size() && lines[first].owner == findings::code_owner::cuda) ++first;
    auto last = lines.size();
    for (auto i = first; i < lines.size(); ++i)
        if (lines[i].function == "main" && lines[i].owner == findings::code_owner::program && !lines[i].python)
            return {first, i + 1};
    while (last > first + 1 && lines[last - 1].function == "_start") --last;
    auto const system = [&](std::size_t i) {
        return lines[i].owner == findings::code_owner::system || is_header(lines[i].file);
    };
    auto bottom = last;
    while (bottom > first + 1 && system(bottom - 1)) {
        if (is_exit(lines[--bottom])) return {first, last};  // how a static destructor was reached
    }
    return {first, bottom};
}

std::vector<stack_entry> all_entries(input const& in, findings::site const& site) {
    auto const& process = in.trace.at(in.trace.at(site.call.thread).process);
    auto const& stack = in.stacks.of(site.call.stack);
    std::vector<stack_entry> out;
    for (auto& line : lines_of(in, process, stack)) out.push_back({std::move(line), {}});
    if (stack.cut) out.push_back({std::nullopt, "… deeper frames were not recorded"});
    return out;
}

}  // namespace

std::vector<stack_entry> stack_entries(input const& in, findings::site const& site) {
    constexpr std::size_t most_lines = 14;
    if (!site.call.stack) return {{std::nullopt, "(no stack recorded)"}};
    if (in.all_frames) return all_entries(in, site);
    auto const& process = in.trace.at(in.trace.at(site.call.thread).process);
    auto const& stack = in.stacks.of(site.call.stack);
    auto const lines = lines_of(in, process, stack);
    std::vector<stack_entry> out;
    auto [i, end] = worth_printing(lines);
    for (std::size_t printed = 0; i < end; ++printed) {
        if (printed >= most_lines) {
            out.push_back({std::nullopt, fmt::format("… {} more frames", end - i)});
            break;
        }
        auto run = i;
        while (run < end && (folds(lines[run]) || is_noise(lines[run]))) ++run;
        // Of the innermost run, what the program called a library for is the first frame that is not its inner
        // workings.
        auto shown = i;
        while (shown < run && is_noise(lines[shown])) ++shown;
        bool const keep = printed == 0 && shown < run;
        if (run - i <= (keep ? 2u : 1u)) {
            out.push_back({lines[i++], {}});
            continue;
        }
        auto const first_folded = keep ? shown + 1 : i;
        if (keep && shown > i) out.push_back({std::nullopt, folded_text(lines, i, shown)});
        if (keep) out.push_back({lines[shown], {}});
        if (first_folded < run) out.push_back({std::nullopt, folded_text(lines, first_folded, run)});
        printed += keep ? 1 : 0;
        i = run;
    }
    if (stack.cut) out.push_back({std::nullopt, "… deeper frames were not recorded"});
    return out;
}

}  // namespace lastref::report
