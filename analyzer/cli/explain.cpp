#include "analyzer/cli/explain.h"

#include "analyzer/cli/commands.h"
#include "analyzer/cli/share_line.h"
#include "analyzer/detectors/analysis.h"
#include "analyzer/findings/fingerprint.h"
#include "analyzer/gate/place.h"
#include "analyzer/report/escape.h"
#include "analyzer/report/render.h"
#include "analyzer/symbols/dwfl_source.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <system_error>

namespace lastref::cli {
namespace {

// Builds curves in the detectors' own pass.
detectors::more_observers drawing(store::trace const& trace, std::shared_ptr<curves::all_curves const>& into) {
    return [&trace, &into](detectors::case_file const& file) {
        auto builder = std::make_unique<curves::curves_builder>(trace, file.links);
        auto& built = *builder;
        std::vector<detectors::more_observer> out;
        out.push_back({std::move(builder), [&built, &into] { into = built.take(); }});
        return out;
    };
}

findings::analysis analysed(store::trace const& trace, symbols::stacks& names, detectors::settings const& asked,
                            detectors::more_observers const& more) {
    share_line progress("reading " + report::escaped(trace.path()));
    return detectors::analyse(trace, std::ref(progress), &names, asked, more);
}

// Symbols are looked up here, ahead of everything that needs them, since it is they that take time.
void look_up(findings::analysis const& what, symbols::stacks& stacks) {
    share_line progress("looking up symbols");
    std::size_t done = 0;
    for (auto const& finding : what.found) {
        for (auto const& site : finding.sites) stacks.of(site.call.stack);
        for (auto const& c : finding.consequences)
            for (auto const& site : c.sites) stacks.of(site.call.stack);
        progress(static_cast<double>(++done) / static_cast<double>(what.found.size()));
    }
}

// "10", "0.5"; none for what is no number, and so the name of a range. Throws for one that is no time.
std::optional<store::time_ns> seconds_in(std::string const& text) {
    double seconds = 0;
    auto const end = text.data() + text.size();
    bool const digit = text.find_first_of("0123456789") <= 1;  // not "infinity" or "nan"
    auto const read = std::from_chars(text.data(), end, seconds);
    if (!digit || read.ptr != end) return std::nullopt;
    constexpr double most = 1e9;
    if (read.ec != std::errc{} || !(seconds >= 0 && seconds <= most))
        throw std::invalid_argument(fmt::format("--warm-up: {} is no number of seconds", report::escaped(text)));
    return static_cast<store::time_ns>(seconds * 1e9);
}

detectors::settings settings_of(report_options const& options) {
    detectors::settings out;
    for (auto const& each : options.warm_up) {
        auto const seconds = seconds_in(each);
        if (seconds)
            out.warm_up = std::max(out.warm_up.value_or(0), *seconds);
        else
            out.warm_up_ranges.push_back(each);
    }
    return out;
}

int terminal_of(report_options const& options) {
    return options.to_standard_error ? STDERR_FILENO : STDOUT_FILENO;
}

bool wants_colour(report_options const& options) {
    if (options.colour != "auto") return options.colour == "always";
    auto const* refused = std::getenv("NO_COLOR");
    return options.output.empty() && isatty(terminal_of(options)) == 1 && (refused == nullptr || *refused == '\0');
}

std::size_t width_for(report_options const& options) {
    winsize size{};
    if (!options.output.empty() || ioctl(terminal_of(options), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
    return std::min<std::size_t>(std::max<std::size_t>(size.ws_col, 60), 120);
}

// "sarif=lastref.sarif"
std::pair<report::format, std::string> parse_saved(std::string const& text) {
    auto const equals = text.find('=');
    auto const format = report::format_named(text.substr(0, equals));
    if (!format || equals == std::string::npos || equals + 1 == text.size()) {
        std::string names;
        for (auto const& name : report::format_names()) names += (names.empty() ? "" : ", ") + name;
        throw std::invalid_argument(
            fmt::format("--save: \"{}\" is not FORMAT=FILE with one of the formats {}", report::escaped(text), names));
    }
    return {*format, text.substr(equals + 1)};
}

bool draws(report_options const& options) {
    return options.format == "html" || std::any_of(options.saved.begin(), options.saved.end(), [](auto const& each) {
               return parse_saved(each).first == report::format::html;
           });
}

gate::conditions conditions_of(report_options const& options) {
    gate::conditions out;
    out.threshold = gate::parse_fail_on(options.fail_on);
    if (!options.max_leak_bytes.empty())
        out.max_leak_bytes = gate::parse_bytes(options.max_leak_bytes, "--max-leak-bytes");
    out.max_outstanding = options.max_outstanding;
    out.stale_suppressions = options.fail_on_stale;
    return out;
}

std::vector<gate::suppression> suppressions_of(report_options const& options) {
    std::vector<gate::suppression> out;
    for (auto const& path : options.suppressions)
        for (auto& each : gate::read_suppressions(path)) out.push_back(std::move(each));
    return out;
}

bool write_to(std::FILE* stream, std::string const& text) {
    std::fwrite(text.data(), 1, text.size(), stream);
    return std::fflush(stream) == 0;
}

void must_write(std::string const& text, std::string const& path) {
    if (!write_file(text, path))
        throw std::invalid_argument(
            fmt::format("{}: cannot be written", path.empty() ? "standard output" : report::escaped(path)));
}

void write_suppressions(explained& it, gate::outcome const& outcome, std::string const& path) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < it.what.found.size(); ++i)
        if (outcome.of(i) == gate::state::open) open.push_back(i);
    must_write(gate::written_suppressions(it.what, open, it.trace, it.stacks), path);
}

bool lacks_names(std::vector<findings::site> const& sites, explained& it) {
    for (auto const& site : sites)
        for (auto const& frame : it.stacks.of(site.call.stack).frames) {
            bool const named = frame.state == symbols::source_state::found || !frame.functions.empty();
            if (!named && frame.module) return true;
        }
    return false;
}

bool lacks_names(explained& it) {
    return std::any_of(it.what.found.begin(), it.what.found.end(),
                       [&it](auto const& f) { return lacks_names(f.sites, it); });
}

int usage_line(std::string_view text) {
    fmt::print(stderr, "lastref: {}\n", report::escaped(text));
    return exit_usage;
}

}  // namespace

explained::explained(std::string const& path, std::string const& symbols, detectors::settings const& asked, bool draws)
    : trace(store::trace::open(path)),
      kept_(path, files_),
      what(analysed(trace, names_, asked, draws ? drawing(trace, drawn) : detectors::more_observers{})),
      stacks(symbols == "off" ? nameless_ : names_) {
    look_up(what, stacks);
    findings::give_fingerprints(what, trace, stacks);
}

gate::baseline earlier_findings(std::string const& path, std::string const& symbols, detectors::settings const& asked) {
    if (!gate::is_trace(path)) return gate::read_baseline(path);
    explained it(path, symbols, asked);
    if (symbols == "now" && lacks_names(it))
        fmt::print(
            stderr,
            "lastref: {}: its program was rebuilt or removed since, so that functions have no names and findings "
            "may seem new; keep a report in JSON instead\n",
            report::escaped(path));
    return gate::baseline_of(it.what, it.trace, it.stacks);
}

bool write_file(std::string const& text, std::string const& path) {
    if (path.empty()) return write_to(stdout, text);
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    return !file.fail();
}

report::style style_for(report_options const& options) {
    std::error_code ignored;  // without a folder, sources keep their absolute paths
    return {wants_colour(options), width_for(options), options.by_range,
            std::filesystem::current_path(ignored).string()};
}

void add_reading_options(CLI::App& command, report_options& options) {
    command.add_option("--color", options.colour, "Colour the text: auto is on a terminal only, and not with NO_COLOR")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    command.add_option("--symbols", options.symbols, "now: look up functions and lines; off: files and offsets only")
        ->check(CLI::IsMember({"now", "off"}))
        ->capture_default_str();
}

void add_report_options(CLI::App& command, report_options& options) {
    command.add_option("--save", options.saved, "FORMAT=FILE: write the report in this format, too; may be repeated")
        ->allow_extra_args(false);
    command
        .add_option("--warm-up", options.warm_up,
                    "When a process has warmed up, so that allocations from the driver and loads of code are reported: "
                    "the name of a range that ends then (else \"warm-up\"; may be repeated), or seconds from the first "
                    "driver call")
        ->allow_extra_args(false);
    command.add_flag("--all-frames", options.all_frames,
                     "Text and HTML: call stacks as they are, with what frameworks do inside");
    command.add_flag("--by-range", options.by_range, "Text: what each range of the program left, such as a test");
    auto* const gate = command.add_option_group("gate", "What makes it fail, by exit status 1");
    gate->add_option(
            "--fail-on", options.fail_on,
            "Findings from this severity on (error, warning, note, none) or of these rules, separated by commas")
        ->capture_default_str();
    gate->add_option("--max-leak-bytes", options.max_leak_bytes,
                     "More than this lost to leaks and refused frees: 4096, 64K, 1.5GiB");
    gate->add_option("--max-outstanding", options.max_outstanding, "More than so many objects lost to them")
        ->check(CLI::NonNegativeNumber);
    gate->add_option("--suppressions", options.suppressions,
                     "File of RULE:PATTERN lines; findings that match do not count. May be repeated")
        ->allow_extra_args(false);
    gate->add_flag("--fail-on-stale", options.fail_on_stale, "Suppressions that match nothing, in a complete trace");
    gate->add_option("--write-suppressions", options.written_suppressions,
                     "Write a new file of suppressions for what is left");
    gate->add_option("--baseline", options.baseline,
                     "An earlier report in JSON, or a trace: only findings that are not in it count");
}

void check(report_options const& options) {
    conditions_of(options);
    settings_of(options);
    for (auto const& each : options.saved) parse_saved(each);
    auto const& file = options.written_suppressions;
    if (!file.empty() && std::filesystem::exists(file))
        throw std::invalid_argument(fmt::format("--write-suppressions: {} is there already", file));
    suppressions_of(options);
    if (!options.baseline.empty() && !gate::is_trace(options.baseline)) gate::read_baseline(options.baseline);
}

int report_trace(std::string const& trace, report_options const& options) {
    check(options);
    std::optional<gate::baseline> known;
    if (!options.baseline.empty()) known = earlier_findings(options.baseline, options.symbols, settings_of(options));
    if (options.check_file) store::check_file(trace);
    explained it(trace, options.symbols, settings_of(options), draws(options));
    auto const outcome =
        gate::judge(it.what, it.trace, it.stacks, conditions_of(options), suppressions_of(options), known);
    report::input const in{it.trace, it.what, it.stacks, outcome, options.all_frames, it.drawn.get()};
    auto const how = style_for(options);
    auto const text = report::render(*report::format_named(options.format), in, how);
    if (options.to_standard_error && options.output.empty())
        write_to(stderr, text);  // if that fails, there is nowhere left to say so
    else
        must_write(text, options.output);
    for (auto const& each : options.saved) {
        auto const [format, path] = parse_saved(each);
        must_write(report::render(format, in, {false, 100, options.by_range, how.source_root}), path);
    }
    if (!options.written_suppressions.empty()) write_suppressions(it, outcome, options.written_suppressions);
    return gate::exit_status(outcome.reached);
}

int guarded(std::function<int()> const& work) {
    try {
        return work();
    } catch (store::error const& e) {
        usage_line(e.what());
        return e.why() == store::failure::missing ? exit_usage : exit_unreadable;
    } catch (gate::input_error const& e) {
        return usage_line(e.what());
    } catch (std::invalid_argument const& e) {
        return usage_line(e.what());
    }
}

}  // namespace lastref::cli
