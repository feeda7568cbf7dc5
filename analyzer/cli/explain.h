// What `report`, `check` and `diff` share: reading a trace into findings, the options of the gate, and writing reports.
#pragma once

#include "analyzer/curves/curves.h"
#include "analyzer/detectors/settings.h"
#include "analyzer/findings/analysis.h"
#include "analyzer/findings/names.h"
#include "analyzer/gate/gate.h"
#include "analyzer/report/render.h"
#include "analyzer/symbols/dwfl_source.h"
#include "analyzer/symbols/kept_source.h"
#include "analyzer/symbols/stacks.h"

#include <CLI/App.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lastref::cli {

// A trace with all that is known of it: findings with fingerprints, stacks with names. Shows its progress on a
// terminal. Throws store::error.
class explained {
  public:
    // `symbols` is "now" or "off". With `draws`, curves for charts are made along the way.
    explained(std::string const& path, std::string const& symbols, detectors::settings const& asked = {},
              bool draws = false);

    store::trace const trace;
    std::shared_ptr<curves::all_curves const> drawn;  // null without `draws`

  private:
    // Findings do not depend on what is shown of them, so the analysis has names in any case.
    symbols::dwfl_source files_;
    symbols::kept_source kept_;
    symbols::no_source none_;
    symbols::stacks names_{trace, kept_};
    symbols::stacks nameless_{trace, none_};

  public:
    findings::analysis what;
    symbols::stacks& stacks;
};

// The findings of an earlier run: of a report in JSON, or of a trace. Throws gate::input_error and store::error.
gate::baseline earlier_findings(std::string const& path, std::string const& symbols,
                                detectors::settings const& asked = {});

struct report_options {
    std::string symbols = "now";
    std::string format = "text";
    std::string colour = "auto";
    std::string output;
    bool to_standard_error = false;    // where `output` is empty
    std::vector<std::string> saved;    // FORMAT=FILE
    std::vector<std::string> warm_up;  // seconds, or names of ranges
    bool by_range = false;
    bool all_frames = false;
    bool check_file = false;

    std::string fail_on = "warning";
    std::string max_leak_bytes;
    std::optional<std::uint64_t> max_outstanding;
    std::vector<std::string> suppressions;
    std::string written_suppressions;
    bool fail_on_stale = false;
    std::string baseline;
};

// Add options; `options` must live as long as the command.
void add_reading_options(CLI::App& command, report_options& options);  // symbols and colour
void add_report_options(CLI::App& command, report_options& options);   // what is saved, and what fails

report::style style_for(report_options const& options);

// Mistakes in the options that can be told before any work is done. Throws as below.
void check(report_options const& options);

// Explains the trace and writes the reports; returns the exit status. Throws store::error, gate::input_error and
// std::invalid_argument.
int report_trace(std::string const& trace, report_options const& options);

// Runs it; what it throws becomes one line on standard error and an exit status.
int guarded(std::function<int()> const& work);

bool write_file(std::string const& text, std::string const& path);  // standard output where `path` is empty

}  // namespace lastref::cli
