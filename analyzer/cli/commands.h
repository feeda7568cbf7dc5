// The commands of the `lastref` program. Each file of this folder adds one; main.cpp only puts them together.
#pragma once

#include <CLI/App.hpp>

namespace lastref::cli {

// Exit statuses that every command keeps to; `record` and `check` pass on the recorded program's own.
enum exit_status : int {
    exit_clean = 0,
    exit_findings = 1,    // report: findings at or above --fail-on
    exit_usage = 2,       // wrong use, or an input that is not there
    exit_unreadable = 3,  // the trace cannot be read: damaged, foreign, too new
    exit_incomplete = 4,  // nothing was found, but the trace is incomplete
};

// Each adds its subcommand to `app`; when the subcommand is chosen, its callback stores the exit status in `status`.
void add_record(CLI::App& app, int& status);
void add_import(CLI::App& app, int& status);
void add_drain(CLI::App& app, int& status);  // hidden: the detached drain that a bare LD_PRELOAD starts
void add_report(CLI::App& app, int& status);
void add_diff(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_replay(CLI::App& app, int& status);
void add_query(CLI::App& app, int& status);
void add_symbolize(CLI::App& app, int& status);
void add_demo(CLI::App& app, int& status);
void add_doctor(CLI::App& app, int& status);
void add_manual(CLI::App& app, int& status);
void add_completion(CLI::App& app, int& status);
void add_probe(CLI::App& app, int& status);  // hidden: the part of doctor that may crash

}  // namespace lastref::cli
