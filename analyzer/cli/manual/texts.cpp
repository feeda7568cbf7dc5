// What the manual pages say beyond the definitions of options.
#include <algorithm>

#include "analyzer/cli/manual/page.h"

namespace lastref::cli::manual {
namespace {

// lint: long function, one entry a page
std::vector<command_text> const& all_texts() {
    static std::vector<command_text> const all{
        {"",
         {"lastref shows what becomes of CUDA resources after their last reference is dropped: which payloads are "
          "still "
          "outstanding and who holds them, which frees fail because their thread had no context, which are ordered on "
          "another default stream than the allocation's, and what is still alive, or freed too late, when the program "
          "ends.",
          "It records unmodified programs by a library that is preloaded into them and hooks the CUDA driver, keeps "
          "the "
          "record in one file, the trace, and explains the trace in a report."},
         {"lastref record -o my.lastref -- ./my-program", "lastref report my.lastref", "lastref check -- ./my-tests",
          "lastref demo"}},
        {"record",
         {"Runs the program with the collector preloaded, and writes what it does with the CUDA driver into a trace. "
          "The "
          "program keeps its input, output, signals and exit status; its children are recorded into the same trace.",
          "With --no-args the trace holds no command line beyond the program's file, and no message or payload of the "
          "program's NVTX ranges and marks. Handles, addresses, sizes and flags of driver calls are what a trace is "
          "made of, "
          "and stay."},
         {"lastref record -o train.lastref -- python train.py --epochs 1",
          "lastref record --stacks all -- ./my-program", "lastref record --sim -- ./my-program"}},
        {"check",
         {"Records the program as lastref record does, reports as lastref report does, and fails when something is "
          "found. "
          "What fails is chosen by the same options as in lastref report."},
         {"lastref check -- ./my-tests", "lastref check --save sarif=lastref.sarif --fail-on error -- ./my-tests"}},
        {"report",
         {"Explains a trace: the most important finding first, with what happened, where, why, and what to do."},
         {"lastref report my.lastref", "lastref report my.lastref --format html -o my.html",
          "lastref report my.lastref --baseline known.json --fail-on warning"}},
        {"diff",
         {"Compares the findings of two traces, or of reports in JSON: what came, what went, what grew."},
         {"lastref diff before.lastref after.lastref"}},
        {"replay",
         {"Runs the callbacks of a trace's payloads through the reference clean-up queue, and shows what it would have "
          "done "
          "beside what the program did."},
         {"lastref replay my.lastref"}},
        {"query",
         {"Runs one statement of SQL over a trace. The trace is opened for reading only. Tables and views are "
          "described in "
          "trace-format.md of the documentation."},
         {"lastref query my.lastref 'SELECT * FROM outstanding_payloads'",
          "lastref query --json my.lastref 'SELECT * FROM losses'"}},
        {"symbolize",
         {"Puts the functions and lines of the code in a trace's call stacks into the trace, so that it says the same "
          "on a "
          "machine that has neither the programs nor their debug information. Code that is known already is left "
          "alone."},
         {"lastref symbolize my.lastref"}},
        {"import",
         {"Turns spools that an interrupted recording left behind into a trace, or goes on with a trace that was not "
          "finished."},
         {"lastref import /tmp/lastref-1234-abcdef -o my.lastref"}},
        {"demo",
         {"Records a small program with faults on the simulated driver, and reports. Needs no GPU."},
         {"lastref demo"}},
        {"doctor",
         {"Looks at what recording depends on: the driver and how it is found, the toolkit, CUPTI, other tools in the "
          "environment, the folder for spools, limits and permissions, the C library, Python, and whether the "
          "collector can "
          "be preloaded. With a program, it also looks at that: whether anything can be preloaded into it, and what it "
          "is "
          "linked with.",
          "Each line begins with ok, with note where there is something to know, or with LOST where something would "
          "not be "
          "recorded."},
         {"lastref doctor", "lastref doctor -- python3", "lastref doctor --format json"}},
        {"completion",
         {"Prints a script by which a shell completes lastref's commands, options and their values. Installed packages "
          "bring "
          "the scripts along."},
         {"source <(lastref completion bash)", "lastref completion fish > ~/.config/fish/completions/lastref.fish"}},
        {"manual", {"Prints a manual page, in troff."}, {"lastref manual record | man -l -"}},
    };
    return all;
}

}  // namespace

command_text const& text_of(std::string const& command) {
    static command_text const none{"", {}, {}};
    auto const found = std::ranges::find_if(all_texts(), [&](auto const& each) { return command == each.command; });
    return found == all_texts().end() ? none : *found;
}

}  // namespace lastref::cli::manual
