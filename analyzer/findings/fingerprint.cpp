#include "analyzer/findings/fingerprint.h"

#include "analyzer/findings/code_owner.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <vector>

namespace lastref::findings {

hash& hash::add(std::string_view text) {
    for (char const c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    value_ = (value_ ^ 0xff) * 0x100000001b3;
    return *this;
}

hash& hash::add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) value_ = (value_ ^ (number >> (8 * i) & 0xff)) * 0x100000001b3;
    return *this;
}

std::string hash::hex() const {
    return fmt::format("{:016x}", value_);
}

std::uint64_t places::key(store::stack_id stack) {
    if (!stack) return 0;
    auto const [slot, fresh] = known_.try_emplace(stack, 0);
    if (!fresh) return slot->second;
    hash h;
    for (auto const& frame : trace_.stack_of(stack).frames) {
        if (frame.python) {
            h.add(frame.function).add(frame.file).add(static_cast<std::uint64_t>(frame.line));
            continue;
        }
        if (!frame.module) {
            h.add("?");  // code made at run time: its address means nothing in another run
            continue;
        }
        auto const& module = trace_.at(frame.module);
        std::string_view const path = module.path;
        h.add(path.substr(path.rfind('/') + 1)).add(frame.address - module.load_bias);
    }
    return slot->second = h.value();
}

std::uint64_t places::of_address(store::process_id process, std::uint64_t address) const {
    for (auto const& module : trace_.modules()) {
        if (module.process != process || address < module.begin || address >= module.end) continue;
        std::string_view const path = module.path;
        return hash().add(path.substr(path.rfind('/') + 1)).add(address - module.load_bias).value();
    }
    return 0;
}

// --- names -----------------------------------------------------------------------------------------------------------

namespace {

using namespace std::string_view_literals;

// Where the bracket that opens at `from` closes; the end where it does not.
std::size_t closing(std::string_view text, std::size_t from, char open, char close) {
    int depth = 0;
    for (auto i = from; i < text.size(); ++i) {
        if (text[i] == open) ++depth;
        if (text[i] == close && --depth == 0) return i + 1;
    }
    return text.size();
}

bool takes(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

void drop_digits(std::string_view& text) {
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
}

// What a compiler adds to the names of the parts that it cuts from a function.
bool is_clone(std::string_view rest) {
    constexpr std::array marks{".cold"sv, ".part."sv, ".isra."sv, ".constprop."sv, ".llvm."sv, ".lto_priv."sv};
    return std::any_of(marks.begin(), marks.end(), [rest](auto mark) { return rest.starts_with(mark); });
}

// Takes one piece off `text` and writes what lasts of it.
void take_piece(std::string_view& text, std::string& out) {
    for (auto const whole : {"(anonymous namespace)"sv, "operator()"sv})
        if (takes(text, whole)) {
            out += whole;
            return;
        }
    if (takes(text, "{lambda")) {
        text.remove_prefix(closing(text, 0, '(', ')'));
        while (!text.empty() && text.front() != '}') text.remove_prefix(1);
        out += "{lambda";
    } else if (takes(text, "{unnamed type")) {
        while (!text.empty() && text.front() != '}') text.remove_prefix(1);
        out += "{unnamed type";
    } else if (takes(text, "$_")) {  // Clang's name of a lambda
        drop_digits(text);
        out += "{lambda}";
    } else if (text.starts_with('(')) {
        text.remove_prefix(closing(text, 0, '(', ')'));
        takes(text, " const");
    } else if (text.starts_with("[abi:") || text.starts_with(" [clone ")) {
        text.remove_prefix(closing(text, 0, '[', ']'));
    } else {
        out += text.front();
        text.remove_prefix(1);
    }
}

}  // namespace

std::string lasting_name(std::string_view function) {
    std::string out;
    while (!function.empty() && !is_clone(function)) take_piece(function, out);
    return out;
}

std::string lasting_file(std::string_view path) {
    auto name = path.substr(path.rfind('/') + 1);
    if (auto const version = name.find(".so."); version != std::string_view::npos) name = name.substr(0, version + 3);
    // An interpreter with its version in its name: python3.11, libpython3.11.so.
    auto const python = name.find("python3.");
    if (python == std::string_view::npos) return std::string(name);
    auto rest = name.substr(python + "python3."sv.size());
    drop_digits(rest);
    return std::string(name.substr(0, python)) + "python3" + std::string(rest);
}

// --- findings --------------------------------------------------------------------------------------------------------

namespace {

// Compilers decide how much of the standard library is inlined into its callers.
bool is_plumbing(std::string_view function) {
    constexpr std::array spaces{"std::"sv, "__gnu_cxx::"sv, "void std::"sv};
    return std::any_of(spaces.begin(), spaces.end(), [function](auto space) { return function.starts_with(space); });
}

void add_once(std::vector<std::string>& names, std::string name) {
    if (names.empty() || names.back() != name) names.push_back(std::move(name));  // recursion of any depth is one
}

void add_functions(std::vector<std::string>& names, named_frame const& frame) {
    if (frame.python) {
        // Every file has a function "<module>".
        auto const& f = frame.functions.front();
        return add_once(
            names, f.function.starts_with('<') ? fmt::format("{} of {}", f.function, package_of(f.file)) : f.function);
    }
    for (auto const& f : frame.functions) {
        // A CUDA runtime linked statically has numbers for names, others in every release.
        bool const lasts = !f.function.empty() && !is_plumbing(f.function) && !is_static_runtime(f.function);
        if (lasts) add_once(names, lasting_name(f.function));
    }
}

bool is_own(store::trace const& trace, store::process const& process, named_frame const& frame) {
    return (frame.module || frame.python) && owner_of(trace, process, frame) == code_owner::program;
}

// What of a stack lasts: innermost first.
std::vector<std::string> lasting_stack(store::trace const& trace, store::process const& process,
                                       named_stack const& stack) {
    bool const own = std::any_of(stack.frames.begin(), stack.frames.end(),
                                 [&](auto const& frame) { return is_own(trace, process, frame); });
    std::vector<std::string> names;
    for (auto const& frame : stack.frames) {
        if (!frame.module && !frame.python) continue;  // made at run time
        auto const owner = owner_of(trace, process, frame);
        if (owner == code_owner::system) continue;  // what starts main, threads and exit handlers
        bool const named = owner == code_owner::program || (!own && owner == code_owner::library);
        if (named && !frame.functions.empty())
            add_functions(names, frame);
        else
            add_once(names, frame.python ? std::string(package_of(frame.functions.front().file))
                                         : lasting_file(trace.at(frame.module).path));
    }
    return names;
}

void add_sites(hash& h, std::vector<site> const& sites, store::trace const& trace, stacks& stacks) {
    for (auto const& s : sites) {
        h.add(s.role);
        if (!s.call.stack || !s.call.thread) continue;
        auto const& process = trace.at(trace.at(s.call.thread).process);
        for (auto const& name : lasting_stack(trace, process, stacks.of(s.call.stack))) h.add(name);
    }
}

std::string without_numbers(std::string_view text) {
    std::string out;
    for (auto rest = text; !rest.empty(); rest.remove_prefix(1)) {
        drop_digits(rest);
        if (rest.empty()) break;
        out += rest.front();
    }
    return out;
}

hash fingerprint_of(finding const& f, store::trace const& trace, stacks& stacks) {
    hash h;
    h.add(info(f.rule).name);
    std::set<std::string_view> kinds;
    for (auto const& o : f.objects) kinds.insert(o.kind == model::object_kind::count ? "" : model::name_of(o.kind));
    for (auto const kind : kinds) h.add(kind);
    add_sites(h, f.sites, trace, stacks);
    if (f.sites.empty()) h.add(without_numbers(f.title));
    return h;
}

}  // namespace

void give_fingerprints(analysis& what, store::trace const& trace, stacks& stacks) {
    std::vector<finding*> in_time;
    for (auto& f : what.found) in_time.push_back(&f);
    std::stable_sort(in_time.begin(), in_time.end(),
                     [](auto const* a, auto const* b) { return a->first_seen < b->first_seen; });
    std::unordered_map<std::uint64_t, std::uint64_t> alike;
    for (auto* f : in_time) {
        auto h = fingerprint_of(*f, trace, stacks);
        if (auto const before = alike[h.value()]++; before > 0) h.add(before);
        f->fingerprint = h.hex();
    }
}

}  // namespace lastref::findings
