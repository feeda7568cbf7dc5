#include "analyzer/cli/folders.h"

#include <cstdlib>

namespace lastref::cli {
namespace {

namespace fs = std::filesystem;

fs::path root() {
    return this_program().parent_path().parent_path();
}

// Where it is installed, what only lastref uses lies in lib/lastref; in the build folder and in a bundle, at the top.
fs::path installed_or(fs::path const& installed, fs::path const& built) {
    fs::path const path = root() / "lib" / "lastref" / installed;
    std::error_code failed;
    return fs::exists(path, failed) ? path : root() / built;
}

}  // namespace

fs::path this_program() {
    std::error_code failed;
    return fs::read_symlink("/proc/self/exe", failed);
}

fs::path injected_library() {
    char const* const given = std::getenv("LASTREF_LIBRARY");
    return given && *given ? fs::absolute(given) : root() / "lib" / "liblastref.so";
}

fs::path cupti_library() {
    return root() / "lib" / "liblastref_cupti.so";
}

fs::path simulated_driver() {
    return installed_or(fs::path("simdriver"), fs::path("lib") / "simdriver");
}

fs::path workload(char const* name) {
    return installed_or(fs::path("workloads") / name, fs::path("bin") / "workloads" / name);
}

}  // namespace lastref::cli
