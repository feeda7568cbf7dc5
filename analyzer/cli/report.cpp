// `lastref report`: explains a trace, and says by its exit status whether it is clean.
#include "analyzer/cli/commands.h"
#include "analyzer/detectors/analysis.h"
#include "analyzer/report/render.h"
#include "analyzer/symbols/dwfl_source.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

namespace lastref::cli {
namespace {

struct report_options {
    std::string trace;
    std::string format = "text";
    std::string fail_on = "warning";
    std::string colour = "auto";
    std::string symbols = "now";
    std::string output;
    std::optional<double> warm_up;
};

// A line on the terminal that is rewritten in place, from 200 ms on: shorter work needs none.
class progress_line {
  public:
    explicit progress_line(std::string what) : what_(std::move(what)), enabled_(isatty(STDERR_FILENO) == 1) {}
    ~progress_line() {
        if (shown_) fmt::print(stderr, "\r\x1b[K");
    }
    progress_line(progress_line const&) = delete;
    progress_line& operator=(progress_line const&) = delete;

    void operator()(double share) {
        auto const now = clock::now();
        if (!enabled_ || now - last_ < std::chrono::milliseconds(200)) return;
        last_ = now;
        shown_ = true;
        fmt::print(stderr, "\r{} {:.0f} %\x1b[K", what_, share * 100);
        std::fflush(stderr);
    }

  private:
    using clock = std::chrono::steady_clock;
    std::string what_;
    bool enabled_;
    bool shown_ = false;
    clock::time_point last_ = clock::now();
};

bool wants_colour(report_options const& options) {
    if (options.colour != "auto") return options.colour == "always";
    auto const* refused = std::getenv("NO_COLOR");
    return options.output.empty() && isatty(STDOUT_FILENO) == 1 && (refused == nullptr || *refused == '\0');
}

std::size_t width_for(report_options const& options) {
    winsize size{};
    if (!options.output.empty() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
    return std::min<std::size_t>(std::max<std::size_t>(size.ws_col, 60), 120);
}

// Symbols are looked up here, ahead of rendering, since it is they that take time.
void look_up(findings::analysis const& what, symbols::stacks& stacks) {
    progress_line progress("looking up symbols");
    std::size_t done = 0;
    for (auto const& finding : what.found) {
        for (auto const& site : finding.sites) stacks.of(site.call.stack);
        for (auto const& c : finding.consequences)
            for (auto const& site : c.sites) stacks.of(site.call.stack);
        progress(static_cast<double>(++done) / static_cast<double>(what.found.size()));
    }
}

detectors::settings settings_of(report_options const& options) {
    detectors::settings out;
    if (options.warm_up) out.warm_up = static_cast<store::time_ns>(*options.warm_up * 1e9);
    return out;
}

bool write(std::string const& text, std::string const& path) {
    if (path.empty()) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return std::fflush(stdout) == 0;
    }
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    return !file.fail();
}

int status_of(report::verdict reached) {
    switch (reached) {
        case report::verdict::clean:
            return exit_clean;
        case report::verdict::findings:
            return exit_findings;
        case report::verdict::incomplete:
            break;
    }
    return exit_incomplete;
}

int run(report_options const& options) {
    auto const threshold = report::parse_fail_on(options.fail_on);
    auto const trace = store::trace::open(options.trace);
    // Findings do not depend on --symbols, so the analysis has names of its own.
    symbols::dwfl_source files;
    symbols::stacks names(trace, files);
    auto const what = [&] {
        progress_line progress("reading " + options.trace);
        return detectors::analyse(trace, std::ref(progress), &names, settings_of(options));
    }();
    symbols::no_source none;
    symbols::stacks nameless(trace, none);
    auto& stacks = options.symbols == "off" ? nameless : names;
    look_up(what, stacks);
    report::input const in{trace, what, stacks, threshold};
    auto const text =
        report::render(*report::format_named(options.format), in, {wants_colour(options), width_for(options)});
    if (!write(text, options.output)) {
        fmt::print(stderr, "lastref: {}: cannot be written\n",
                   options.output.empty() ? "standard output" : options.output);
        return exit_usage;
    }
    return status_of(report::judge(what, threshold));
}

int guarded(report_options const& options) {
    try {
        return run(options);
    } catch (store::error const& e) {
        fmt::print(stderr, "lastref: {}\n", e.what());
        return e.why() == store::failure::missing ? exit_usage : exit_unreadable;
    } catch (std::invalid_argument const& e) {
        fmt::print(stderr, "lastref: {}\n", e.what());
        return exit_usage;
    }
}

}  // namespace

void add_report(CLI::App& app, int& status) {
    auto const options = std::make_shared<report_options>();
    auto* const command = app.add_subcommand("report", "Explain a trace");
    command->add_option("trace", options->trace, "The trace, as record wrote it")->required();
    command->add_option("--format", options->format, "text, or json for programs")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command
        ->add_option("--fail-on", options->fail_on,
                     "Exit with 1 for findings from this severity on (error, warning, note, none) or of these rules, "
                     "separated by commas")
        ->capture_default_str();
    command
        ->add_option("--color", options->colour, "Colour the text: auto is on a terminal only, and not with NO_COLOR")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    command->add_option("--symbols", options->symbols, "now: look up functions and lines; off: files and offsets only")
        ->check(CLI::IsMember({"now", "off"}))
        ->capture_default_str();
    command
        ->add_option("--warm-up", options->warm_up,
                     "Seconds from a process's first driver call after which allocations from the driver and loads of "
                     "code are reported")
        ->check(CLI::NonNegativeNumber);
    command->add_option("-o,--output", options->output, "Write the report into a file");
    command->footer(
        "Exit status: 0 clean, 1 findings, 2 wrong use, 3 the trace cannot be read,\n"
        "4 nothing found but the trace is incomplete.");
    command->callback([options, &status] { status = guarded(*options); });
}

}  // namespace lastref::cli
