// The driver, the toolkit and CUPTI: what a recorded program would load.
#include <filesystem>
#include <regex>

#include "analyzer/cli/doctor/child.h"
#include "analyzer/cli/doctor/files.h"
#include "analyzer/cli/doctor/parts.h"
#include "analyzer/cli/folders.h"
#include "collector/cupti/places.h"

#ifndef LASTREF_CUPTI_MAJOR
#define LASTREF_CUPTI_MAJOR 13
#endif

namespace lastref::cli::doctor {
namespace {

namespace fs = std::filesystem;

// 13000 → "13.0", as cuDriverGetVersion counts.
std::string cuda_version(std::string const& number) {
    int const value = std::atoi(number.c_str());
    return value > 0 ? std::to_string(value / 1000) + "." + std::to_string(value % 1000 / 10) : std::string();
}

// By which of the loader's rules the library was found.
std::string how_found(std::string const& path) {
    std::string const listed = variable("LD_LIBRARY_PATH");
    for (std::size_t at = 0; at < listed.size();) {
        std::size_t const end = std::min(listed.find(':', at), listed.size());
        std::error_code failed;
        std::string const folder = listed.substr(at, end - at);
        if (!folder.empty() && fs::equivalent(folder, fs::path(path).parent_path(), failed)) return "LD_LIBRARY_PATH";
        at = end + 1;
    }
    return "the loader's cache or default folders";
}

// "580.159.04" of "/usr/lib/libcuda.so.580.159.04"
std::string release_in(std::string const& text, char const* before) {
    std::smatch found;
    std::regex const pattern(std::string(before) + R"((\d+\.\d+(\.\d+)?))");
    return std::regex_search(text, found, pattern) ? found[1].str() : std::string();
}

void judge_devices(check& result, answer const& heard) {
    std::string const init = heard.value("init"), devices = heard.value("devices");
    if (init == "0") {
        result.facts.emplace_back("devices", devices);
        result.found += devices == "1" ? " · 1 device" : " · " + devices + " devices";
        return;
    }
    if (init.empty()) return;
    result.facts.emplace_back("init", init);
    result.state = verdict::note;
    result.found += " · cuInit returns " + init + (init == "100" ? ": there is no device" : "");
}

// What the kernel runs and what is linked must be of one release, or every cuInit fails (803).
void compare_releases(check& result, std::string const& library) {
    std::string const module = release_in(first_line("/proc/driver/nvidia/version"), "Module +");
    if (!module.empty()) result.facts.emplace_back("kernel_module", module);
    if (module.empty() || library.empty() || module == library) return;
    result.state = verdict::note;
    result.advice =
        "The kernel runs release " + module + ": reboot, or reload the module, after an update of the driver.";
}

check no_driver(std::string const& why) {
    check result{"driver", verdict::not_recorded, "no libcuda.so.1 is found, so programs make no driver call", {}, {}};
    result.advice = "In a container, start it with the GPUs (--gpus all). Without a GPU: lastref record --sim.";
    result.facts.emplace_back("error", why);
    return result;
}

check broken_driver(answer const& heard) {
    check result{"driver", verdict::not_recorded, {}, {}, {}};
    std::string const path = heard.value("path");
    result.found = (path.empty() ? std::string("libcuda.so.1") : path) + ": a process that used it " + heard.failure();
    result.advice = "Programs will fare no better: the driver's installation is damaged, or a device is in trouble.";
    if (!path.empty()) result.facts.emplace_back("path", path);
    return result;
}

std::string driver_sentence(answer const& heard, std::string const& release) {
    std::string const version = cuda_version(heard.value("version"));
    std::string text = heard.value("simulated") == "1" ? "simulated driver" : release.empty() ? "driver" : release;
    if (!version.empty()) text += " (CUDA " + version + ")";
    return text + ", " + heard.value("path") + ", by " + how_found(heard.value("path"));
}

// Its folder in a toolkit holds a library to link with, which refuses every call.
bool is_stub(std::string const& path) {
    return path.find("/stubs/") != std::string::npos;
}

std::string first_line_of(fs::path const& header) {
    return line_with(header, "#define CUDA_VERSION ");
}

// "13.0" of a toolkit's folder.
std::string toolkit_version(fs::path const& root) {
    std::string const line = first_line_of(root / "include" / "cuda.h");
    return cuda_version(line.substr(std::min(line.size(), line.find_last_of(' '))));
}

fs::path toolkit_root() {
    fs::path const compiler = in_path("nvcc");
    for (fs::path const& root :
         {fs::path(variable("CUDA_HOME")), fs::path(variable("CUDA_PATH")), compiler.parent_path().parent_path(),
          fs::path("/usr/local/cuda"), fs::path("/opt/cuda")}) {
        std::error_code failed;
        if (!root.empty() && fs::exists(root, failed)) return fs::weakly_canonical(root, failed);
    }
    return {};
}

void judge_cupti_version(check& result, answer const& heard) {
    int const version = std::atoi(heard.value("version").c_str());
    result.facts.emplace_back("version", heard.value("version"));
    int const major = version / 10000;
    if (major == LASTREF_CUPTI_MAJOR) return;
    result.state = verdict::note;
    result.advice = "lastref was built with CUPTI " + std::to_string(LASTREF_CUPTI_MAJOR) +
                    ": --audit works with any, the activities of --cupti need that one.";
}

}  // namespace

check driver_check() {
    answer const heard = ask_probe("driver", {{"LASTREF_DISABLE", "1"}});
    if (!heard.failure().empty()) return broken_driver(heard);
    if (std::string const why = heard.value("error"); !why.empty()) return no_driver(why);
    std::string const release = release_in(heard.value("file"), "libcuda\\.so\\.");
    check result{"driver", verdict::well, driver_sentence(heard, release), {}, {}};
    result.facts = {{"path", heard.value("path")},
                    {"file", heard.value("file")},
                    {"release", release},
                    {"cuda", cuda_version(heard.value("version"))},
                    {"simulated", heard.value("simulated") == "1" ? "yes" : "no"}};
    judge_devices(result, heard);
    compare_releases(result, release);
    if (is_stub(heard.value("file"))) {
        result.state = verdict::not_recorded;
        result.advice = "This is a toolkit's stub, which refuses every call: take its folder out of LD_LIBRARY_PATH.";
    }
    return result;
}

check toolkit_check() {
    check result{"toolkit", verdict::well, {}, {}, {}};
    fs::path const root = toolkit_root();
    if (root.empty()) {
        result.found = "none found; recording needs none";
        return result;
    }
    std::string const version = toolkit_version(root);
    result.found = (version.empty() ? std::string("version unknown") : "CUDA " + version) + ", " + root.string();
    result.facts = {{"path", root.string()}, {"version", version}};
    return result;
}

check cupti_check() {
    check result{"CUPTI", verdict::note, {}, {}, {}};
    if (!fs::exists(cupti_library())) {
        result.found = cupti_library().string() + " was not built: record --audit and --cupti go on without CUPTI";
        return result;
    }
    answer const heard = ask_probe("cupti", {{"LASTREF_DISABLE", "1"}});
    if (!heard.failure().empty()) {
        result.found = "libcupti: a process that loaded it " + heard.failure();
        return result;
    }
    if (heard.value("path").empty()) {
        result.found =
            "no libcupti is found: record --audit and --cupti go on without, unless the program brings its own";
        result.advice = "Install the toolkit's CUPTI, or name it in " LASTREF_CUPTI_VARIABLE ".";
        return result;
    }
    result.state = verdict::well;
    result.found = heard.value("path");
    result.facts = {{"path", heard.value("path")}, {"file", heard.value("file")}};
    judge_cupti_version(result, heard);
    if (std::string const why = heard.value("named_error"); !why.empty()) {
        result.state = verdict::note;
        result.advice = LASTREF_CUPTI_VARIABLE " names one that cannot be loaded: " + why;
    }
    return result;
}

}  // namespace lastref::cli::doctor
