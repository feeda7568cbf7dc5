// The environment that a recorded program would inherit, and what the system allows.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "analyzer/cli/doctor/child.h"
#include "analyzer/cli/doctor/files.h"
#include "analyzer/cli/doctor/parts.h"
#include "analyzer/cli/variables.h"
#include "collector/drain/elf_check.h"
#include "collector/drain/spool_place.h"

namespace lastref::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t whole_spool = std::uint64_t{4} << 30;  // LASTREF_SPOOL_MAX where it is not set

void add_sentence(std::string& text, std::string const& more) {
    text += (text.empty() ? "" : " · ") + more;
}

// Name and value of a variable that is set, for a fact and a sentence.
bool take_variable(check& result, char const* name) {
    std::string const value = variable(name);
    if (value.empty()) return false;
    result.facts.emplace_back(name, value);
    add_sentence(result.found, std::string(name) + "=" + value);
    return true;
}

struct room {
    std::uint64_t size, free;
};

std::optional<room> room_in(fs::path const& folder) {
    struct statvfs status;
    if (statvfs(folder.c_str(), &status) != 0) return std::nullopt;
    return room{std::uint64_t{status.f_blocks} * status.f_frsize, std::uint64_t{status.f_bavail} * status.f_frsize};
}

std::optional<rlim_t> limited(decltype(RLIMIT_AS) what) {
    rlimit limit;
    if (getrlimit(what, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_cur;
}

char const* meaning_of_ptrace_scope(int scope) {
    switch (scope) {
        case 0:
            return "processes of a user may trace each other";
        case 1:
            return "only descendants may be traced";
        case 2:
            return "only administrators may trace";
        default:
            return "nobody may trace";
    }
}

}  // namespace

check injection_check() {
    check result{"injection", verdict::well, {}, {}, {}};
    take_variable(result, "LD_PRELOAD");
    take_variable(result, "NVTX_INJECTION64_PATH");  // keeps its place, lastref hands on to it
    if (take_variable(result, "LD_AUDIT")) result.state = verdict::note;
    if (take_variable(result, "CUDA_INJECTION64_PATH")) {
        result.state = verdict::note;
        result.advice = "The driver loads one injected library: record --audit and --cupti go on without CUPTI.";
    }
    if (result.found.empty()) result.found = "no other tool is named in the environment";
    return result;
}

check settings_check() {
    check result{"settings", verdict::well, {}, {}, {}};
    std::string unknown;
    for (char** at = environ; *at; ++at) {
        std::string const text = *at, name = text.substr(0, text.find('='));
        if (!name.starts_with("LASTREF_")) continue;
        take_variable(result, name.c_str());
        if (!is_known_variable(name)) add_sentence(unknown, name);
    }
    if (!unknown.empty()) {
        result.state = verdict::note;
        result.advice = "Means nothing to lastref: " + unknown;
    }
    if (variable("LASTREF_DISABLE") == "1") {
        result.state = verdict::not_recorded;
        result.advice = "LASTREF_DISABLE=1 switches recording off.";
    }
    if (result.found.empty()) result.found = "no LASTREF_ variable is set";
    return result;
}

check spool_check() {
    check result{"spool folder", verdict::well, {}, {}, {}};
    try {
        drain::spool_place const place(std::nullopt, ".");
        fs::path const parent = place.path().parent_path();
        std::uint64_t const free = room_in(parent).value_or(room{}).free;
        result.found = "in " + parent.string() + ", " + amount(free) + " free";
        result.facts = {{"parent", parent.string()}, {"free_bytes", std::to_string(free)}};
        if (free >= whole_spool) return result;
        result.state = verdict::note;
        result.advice =
            "A program that records faster than the trace is written fills up to 4 GiB of it a process; what "
            "finds no room is counted as lost. record --spool-dir chooses another folder.";
    } catch (std::exception const& error) {
        result.state = verdict::not_recorded;
        result.found = error.what();
        result.advice = "record --spool-dir chooses another folder.";
    }
    return result;
}

check memory_check() {
    check result{"/dev/shm", verdict::well, {}, {}, {}};
    auto const here = room_in("/dev/shm");
    if (!here || access("/dev/shm", W_OK) != 0) {
        result.state = verdict::note;
        result.found = "cannot be written";
        result.advice = "Spools go to a disk, which is slower.";
        return result;
    }
    result.found = amount(here->size) + ", " + amount(here->free) + " free";
    result.facts = {{"size_bytes", std::to_string(here->size)}, {"free_bytes", std::to_string(here->free)}};
    if (here->free >= std::uint64_t{1} << 30) return result;
    result.state = verdict::note;
    result.advice = "Below 1 GiB, spools go to a disk, which is slower. In a container: --shm-size.";
    return result;
}

check temporary_check() {
    std::string const given = variable("TMPDIR");
    fs::path const folder = given.empty() ? "/tmp" : given;
    check result{"temporary", verdict::well, folder.string(), {}, {{"path", folder.string()}}};
    std::string pattern = (folder / "lastref-doctor-XXXXXX").string();
    if (mkdtemp(pattern.data())) {
        rmdir(pattern.c_str());
        return result;
    }
    result.state = verdict::note;
    result.found += std::string(": ") + std::strerror(errno);
    result.advice = "lastref check and demo keep their traces there; name one with -o.";
    return result;
}

check limits_check() {
    check result{"limits", verdict::well, {}, {}, {}};
    if (auto const file = limited(RLIMIT_FSIZE)) {
        result.facts.emplace_back("file_size_bytes", std::to_string(*file));
        add_sentence(result.found, "files of at most " + amount(*file));
    }
    if (auto const memory = limited(RLIMIT_AS)) {
        result.facts.emplace_back("address_space_bytes", std::to_string(*memory));
        add_sentence(result.found, "address space of at most " + amount(*memory));
    }
    if (result.found.empty()) {
        result.found = "neither file sizes nor address space are limited";
        return result;
    }
    result.state = verdict::note;
    result.advice = "Spools are kept as small as that; what finds no room in them is counted as lost.";
    return result;
}

check permission_check() {
    check result{"permissions", verdict::well, {}, {}, {}};
    std::string const scope = first_line("/proc/sys/kernel/yama/ptrace_scope");
    if (!scope.empty()) {
        result.facts.emplace_back("ptrace_scope", scope);
        result.found =
            std::string("ptrace: ") + meaning_of_ptrace_scope(std::atoi(scope.c_str())) + " (lastref does not)";
    }
    bool const fixed = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
    result.facts.emplace_back("no_new_privileges", fixed ? "yes" : "no");
    if (fixed)
        add_sentence(result.found, "no new privileges: set-user-id programs run as they are, and can be recorded");
    std::string const filter = line_with("/proc/self/status", "Seccomp:");
    bool const filtered = filter.find('2') != std::string::npos;
    result.facts.emplace_back("seccomp_filter", filtered ? "yes" : "no");
    if (filtered) add_sentence(result.found, "system calls are filtered (seccomp)");
    if (result.found.empty()) result.found = "nothing that restricts recording";
    return result;
}

// The collector stamps by the processor's counter where that is constant, else by a clock that takes longer.
check clock_check() {
    std::string const source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    bool const constant = line_with("/proc/cpuinfo", " nonstop_tsc").find(" constant_tsc") != std::string::npos;
    check result{"clock", verdict::well, "the processor's counter", {}, {}};
    result.facts = {{"constant_counter", constant ? "yes" : "no"}, {"clocksource", source}};
    if (constant) return result;
    result.state = verdict::note;
    result.found = "CLOCK_MONOTONIC (" + (source.empty() ? "clock source unknown" : source) + ")";
    result.advice = "The processor's counter is not constant here; recording a call takes longer.";
    return result;
}

check counters_check() {
    check result{"counters", verdict::well, {}, {}, {}};
    std::string const level = first_line("/proc/sys/kernel/perf_event_paranoid");
    if (!level.empty()) {
        result.facts.emplace_back("perf_event_paranoid", level);
        result.found = "perf_event_paranoid " + level + " (lastref uses no perf events)";
    }
    std::string const profiling = line_with("/proc/driver/nvidia/params", "RmProfilingAdminOnly");
    if (!profiling.empty()) {
        bool const restricted = profiling.find('1') != std::string::npos;
        result.facts.emplace_back("gpu_counters", restricted ? "administrators" : "everybody");
        add_sentence(result.found, std::string("the GPU's counters are for ") +
                                       (restricted ? "administrators" : "everybody") + " (--cupti reads none)");
    }
    if (result.found.empty()) result.found = "no limit on counters is known; lastref uses none";
    return result;
}

check python_check() {
    check result{"Python", verdict::well, "none found; recording needs none", {}, {}};
    fs::path const python = in_path("python3");
    if (python.empty()) return result;
    answer const heard =
        ask({python.string(), "-I", "-c",
             "import sys; print('version=%d.%d.%d' % sys.version_info[:3]); print('file=' + sys.executable)"},
            {{"LASTREF_DISABLE", "1"}}, std::chrono::seconds(20));
    std::string const version = heard.value("version"), runs = heard.value("file");
    result.found = (version.empty() ? "version unknown" : version) + ", " + python.string();
    result.facts = {{"path", python.string()}, {"version", version}, {"runs", runs}};
    if (drain::classify_program(runs.empty() ? python : fs::path(runs)) != drain::program_kind::statically_linked)
        return result;
    result.state = verdict::not_recorded;
    result.advice = "This interpreter is statically linked: nothing can be preloaded into it.";
    return result;
}

}  // namespace lastref::cli::doctor
