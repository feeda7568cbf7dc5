// A child process that is asked something: what it printed, or that it crashed or hung.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace lastref::cli::doctor {

struct answer {
    int exit_status = -1;  // of a child that ended by itself
    int signal = 0;        // that ended it
    bool timed_out = false;
    std::string output, error;  // at most 64 KiB each

    bool ended_well() const { return exit_status == 0; }
    // Lines "name=value" of the output.
    std::string value(std::string const& name) const;
    // What went wrong, for a sentence: "ended by signal 11 (Segmentation fault)"; empty where nothing did.
    std::string failure() const;
};

// Runs the program with the environment of this process and some variables changed, without input. Its process is
// killed when the time is over.
answer ask(std::vector<std::string> const& command, std::map<std::string, std::string> const& environment,
           std::chrono::milliseconds patience);

// Runs the hidden command `probe` of this program (probe.cpp).
answer ask_probe(char const* subject, std::map<std::string, std::string> const& environment = {});

}  // namespace lastref::cli::doctor
