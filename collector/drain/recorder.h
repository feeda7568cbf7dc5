// Recording a program from its start to its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lastref::drain {

struct record_options {
    std::vector<std::string> command;                // the program and its arguments
    std::optional<std::filesystem::path> trace;      // PROGRAM-PID.lastref in the current folder where empty
    bool replace = false;                            // an existing trace
    std::optional<std::string> stacks;               // off, create, all; the environment's where empty
    std::optional<std::filesystem::path> simulated;  // folder of the simulated driver, searched first
    std::optional<std::filesystem::path> spool_parent;
    bool arguments = true;  // the values of arguments may stand in the trace
    enum class cupti { off, audit, activities };
    cupti with_cupti = cupti::off;          // what CUPTI adds; it reports to the folder of the spools
    std::filesystem::path cupti_library;    // liblastref_cupti.so
    std::filesystem::path library;          // liblastref.so
    std::chrono::milliseconds grace{2000};  // for processes that outlive the program
};

// What to tell the user; each is one line.
struct recorder_output {
    std::function<void(std::string const&)> note;
    std::function<void(std::uint64_t records)> progress;  // while the rest is written after the program's end
};

struct record_result {
    int status = 0;     // the program's exit code, 128 + n after signal n; or why it was not started
    std::string error;  // why it was not started: then nothing else here counts
    std::filesystem::path trace;
    std::optional<std::filesystem::path> spools_left;  // where the rest lies that is not in the trace
    std::string write_error;                           // why it is not
    std::uint64_t calls = 0, processes = 0, unfinished = 0, losses = 0;
};

// Runs the program to its end. It has this process's input, output, process group and terminal; signals sent to this
// process alone are passed on to it. Whatever goes wrong with recording once it runs does it no harm.
//
// Call it from a process with one thread. It changes this process's signal mask while it runs.
record_result record(record_options const& options, recorder_output const& output);

}  // namespace lastref::drain
