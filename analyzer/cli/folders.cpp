#include "analyzer/cli/folders.h"

#include <cstdlib>

namespace lastref::cli {
namespace {

namespace fs = std::filesystem;

fs::path root() {
    return this_program().parent_path().parent_path();
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
    return root() / "lib" / "simdriver";
}

fs::path workload(char const* name) {
    return root() / "bin" / "workloads" / name;
}

}  // namespace lastref::cli
