#include "analyzer/gate/suppressions.h"

#include "analyzer/findings/fingerprint.h"
#include "analyzer/gate/pattern.h"
#include "analyzer/gate/place.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

namespace lastref::gate {

position position_of(std::string_view text, std::size_t offset) {
    auto const before = text.substr(0, offset);
    auto const lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    auto const newline = before.rfind('\n');
    return {lines + 1, before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1};
}

input_error::input_error(std::string_view file, position where, std::string_view what)
    : std::runtime_error(fmt::format("{}:{}:{}: {}", file, where.line, where.column, what)) {}

std::string read_file(std::string const& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    // A folder opens, and fails when it is read.
    if (!file || (text.str().empty() && errno != 0))
        throw input_error(fmt::format("{}: {}", path, errno ? std::strerror(errno) : "cannot be read"));
    return text.str();
}

namespace {

std::string_view trimmed(std::string_view text) {
    auto const first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

struct line_of_file {
    std::string_view text;  // trimmed
    std::string const& file;
    position where;  // of its begin

    [[noreturn]] void refuse(std::size_t column, std::string_view what) const {
        throw input_error(file, {where.line, where.column + column}, what);
    }
};

suppression parse_line(line_of_file const& line) {
    auto const control = std::find_if(line.text.begin(), line.text.end(),
                                      [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
    if (control != line.text.end())
        line.refuse(static_cast<std::size_t>(control - line.text.begin()), "a control character: is this a text file?");
    auto const colon = line.text.find(':');
    if (colon == std::string_view::npos) line.refuse(0, "no colon; a suppression is RULE:PATTERN");
    auto const rule = line.text.substr(0, colon);
    auto const known = findings::rule_named(rule);
    if (!known && rule != "*")
        line.refuse(0, fmt::format("there is no rule \"{}\"; allowed are * or {}", rule, findings::rule_names()));
    auto const pattern = trimmed(line.text.substr(colon + 1));
    if (pattern.find_first_not_of("^$") == std::string_view::npos)
        line.refuse(colon + 1, "an empty pattern; * stands for everything");
    return {known, std::string(pattern), std::string(line.text), line.file, line.where.line};
}

}  // namespace

std::vector<suppression> parse_suppressions(std::string_view text, std::string const& file) {
    std::vector<suppression> out;
    for (std::size_t number = 1; !text.empty(); ++number) {
        auto const end = text.find('\n');
        auto const line = text.substr(0, end);
        auto const inner = trimmed(line);
        auto const column = inner.empty() ? 1 : static_cast<std::size_t>(inner.data() - line.data()) + 1;
        if (!inner.empty() && inner.front() != '#') out.push_back(parse_line({inner, file, {number, column}}));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return out;
}

std::vector<suppression> read_suppressions(std::string const& path) {
    return parse_suppressions(read_file(path), path);
}

// --- matching --------------------------------------------------------------------------------------------------------

namespace {

void add_frames(std::vector<std::string>& names, findings::site const& s, store::trace const& trace,
                findings::stacks& stacks) {
    for (auto const& frame : stacks.of(s.call.stack).frames) {
        for (auto const& f : frame.functions) {
            names.push_back(f.function);
            names.push_back(findings::lasting_name(f.function));
            names.push_back(f.file);
        }
        if (frame.module) names.push_back(trace.at(frame.module).path);
    }
}

struct sources {
    store::trace const& trace;
    findings::stacks& stacks;
    findings::range_index const& ranges;
};

void add_site(std::vector<std::string>& names, findings::site const& s, sources const& from) {
    if (s.call.stack) add_frames(names, s, from.trace, from.stacks);
    if (!s.call.thread) return;
    auto const& thread = from.trace.at(s.call.thread);
    names.push_back(thread.name);
    for (auto const& range : s.ranges) names.push_back(range.name);
    for (auto& range : from.ranges.names(thread.process, s.call.event)) names.push_back(std::move(range));
}

}  // namespace

std::vector<std::string> names_in(findings::finding const& f, store::trace const& trace, findings::stacks& stacks,
                                  findings::range_index const& ranges) {
    sources const from{trace, stacks, ranges};
    std::vector<std::string> names{f.fingerprint};
    for (auto const& s : f.sites) add_site(names, s, from);
    for (auto const& c : f.consequences)
        for (auto const& s : c.sites) add_site(names, s, from);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::erase(names, std::string{});
    return names;
}

bool suppresses(suppression const& s, findings::finding const& f, std::vector<std::string> const& names) {
    if (s.rule && *s.rule != f.rule) return false;
    return std::any_of(names.begin(), names.end(), [&s](auto const& name) { return matches(s.pattern, name); });
}

// --- writing ---------------------------------------------------------------------------------------------------------

namespace {

// Names come from programs: a line break in one must not become a suppression of its own.
std::string in_one_line(std::string_view name, char instead) {
    std::string out(name);
    for (char& c : out)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = instead;
    return out;
}

std::string line_for(findings::finding const& f, store::trace const& trace, findings::stacks& stacks) {
    auto const function = findings::lasting_name(place_of(f, trace, stacks).function);
    auto const pattern = function.empty() ? f.fingerprint : fmt::format("^{}$", in_one_line(function, '*'));
    return fmt::format("{}:{}", info(f.rule).name, pattern);
}

}  // namespace

std::string written_suppressions(findings::analysis const& what, std::vector<std::size_t> const& which,
                                 store::trace const& trace, findings::stacks& stacks) {
    std::vector<std::string> lines;
    std::map<std::string, std::string> titles;
    for (auto const i : which) {
        auto const& f = what.found[i];
        auto const line = line_for(f, trace, stacks);
        auto& told = titles[line];
        if (told.empty()) lines.push_back(line);
        told += "# " + in_one_line(f.title, ' ') + "\n";
    }
    std::string out = "# Suppressions of lastref: RULE:PATTERN, * stands for anything. Say here why each may stay.\n";
    for (auto const& line : lines) out += "\n" + titles[line] + line + "\n";
    return out;
}

}  // namespace lastref::gate
