// lastref's own parts: are they there, and can they be used here?
#include <gnu/libc-version.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "analyzer/cli/doctor/child.h"
#include "analyzer/cli/doctor/elf_facts.h"
#include "analyzer/cli/doctor/files.h"
#include "analyzer/cli/doctor/parts.h"
#include "analyzer/cli/folders.h"
#include "collector/drain/spool_place.h"

namespace lastref::cli::doctor {
namespace {

namespace fs = std::filesystem;

// Preloads it into a process of this program, under the name that `record` would use.
answer preload(fs::path const& library) {
    drain::spool_place place(std::nullopt, ".");
    std::string const former = variable("LD_PRELOAD");
    std::string const own = place.preloadable(library).string();
    return ask_probe("collector",
                     {{"LD_PRELOAD", former.empty() ? own : own + ":" + former}, {"LASTREF_DISABLE", "1"}});
}

std::string first_sentence(std::string const& text) {
    return text.substr(0, text.find('\n'));
}

void judge_preload(check& result, answer const& heard) {
    if (heard.value("preloaded") == "1") {
        result.found += ", can be preloaded";
        return;
    }
    result.state = verdict::not_recorded;
    std::string const why = heard.failure();
    result.found += why.empty() ? " cannot be preloaded" : " cannot be preloaded: the process " + why;
    result.advice = first_sentence(heard.error);
    if (result.advice.empty()) result.advice = "Is it on a file system that is mounted noexec?";
}

}  // namespace

check collector_check() {
    fs::path const library = injected_library();
    check result{"collector", verdict::well, library.string(), {}, {{"path", library.string()}}};
    if (access(library.c_str(), R_OK) != 0) {
        result.state = verdict::not_recorded;
        result.found += std::string(": ") + std::strerror(errno);
        result.advice =
            "liblastref.so belongs into lib beside bin; LASTREF_LIBRARY names another place. Without the CUDA "
            "headers it is not built.";
        return result;
    }
    try {
        judge_preload(result, preload(library));
    } catch (std::exception const& error) {
        result.state = verdict::not_recorded;
        result.advice = error.what();
    }
    return result;
}

check libc_check() {
    std::string const here = gnu_get_libc_version();
    check result{"glibc", verdict::well, here, {}, {{"version", here}}};
    auto const facts = read_elf(injected_library());
    if (!facts) return result;
    std::string const needed = facts->newest_libc();
    result.found += "; programs need " + needed + " or newer to be recorded, as in a container with another one";
    result.facts.emplace_back("collector_needs", needed);
    return result;
}

check simulator_check() {
    bool const there = fs::exists(simulated_driver() / "libcuda.so.1");
    check result{"simulated driver", there ? verdict::well : verdict::note, simulated_driver().string(), {}, {}};
    if (!there) result.found = "not installed: lastref demo and --sim do not work";
    result.facts.emplace_back("there", there ? "yes" : "no");
    return result;
}

}  // namespace lastref::cli::doctor
