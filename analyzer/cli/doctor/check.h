// What `lastref doctor` found: a list of checks, each with a verdict that decides the exit status.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lastref::cli::doctor {

enum class verdict {
    well,
    note,          // worth knowing; what is recorded is the same
    not_recorded,  // something that a program does here would not be recorded
};

struct check {
    std::string name;  // one or two words, unique in the list: scripts look for it
    verdict state = verdict::well;
    std::string found;                                       // one sentence without a full stop
    std::string advice;                                      // what to do; empty where there is nothing to do
    std::vector<std::pair<std::string, std::string>> facts;  // single values, for programs
};

// What lastref cannot record wherever it runs, and why.
struct limit {
    char const* what;
    char const* why;
};
std::vector<limit> const& limits();

// This machine and this environment. Starts short-lived child processes of this program, so that a driver or library
// that crashes or hangs when it is loaded does so there. Needs no GPU. Threads: one.
std::vector<check> examine_machine();

// A program that is to be recorded: its file is read, it is never run. Throws std::invalid_argument where there is no
// such program.
std::vector<check> examine_program(std::string const& name);

}  // namespace lastref::cli::doctor
