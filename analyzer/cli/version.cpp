#include "analyzer/cli/version.h"

#include <features.h>

#include "analyzer/store/query.h"
#include "analyzer/store/trace.h"
#include "schema/spool.h"

// What CMakeLists.txt of this folder knows; empty means that it is not built in.
#ifndef LASTREF_BUILT_CUDA
#define LASTREF_BUILT_CUDA ""
#define LASTREF_BUILT_CUPTI ""
#define LASTREF_BUILT_NVTX ""
#endif

namespace lastref::cli {
namespace {

constexpr char no[] = "no";

std::string or_no(std::string const& text) {
    return text.empty() ? no : text;
}

std::string collector() {
    std::string const headers = LASTREF_BUILT_CUDA;
    return headers.empty() ? "no: no CUDA headers were there" : "headers of CUDA " + headers;
}

std::string compiler() {
#if defined(__clang__)
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

std::string libc() {
    return std::to_string(__GLIBC__) + "." + std::to_string(__GLIBC_MINOR__);
}

std::string part(char const* name, std::string const& text) {
    std::string line = std::string("  ") + name + ":";
    line.resize(20, ' ');
    return line + text + "\n";
}

}  // namespace

std::string version_text() {
    std::string text = "lastref " LASTREF_VERSION "\n";
    text += part("collector", collector());
    text += part("CUPTI", or_no(LASTREF_BUILT_CUPTI));
    text += part("NVTX", or_no(LASTREF_BUILT_NVTX));
    text += part("Python stacks", LASTREF_BUILT_PYTHON ? "yes" : no);
    text += part("desktop program", LASTREF_BUILT_GUI ? "yes" : no);
    text += part("trace format", std::to_string(store::newest_schema));
    text += part("spool format", std::to_string(spool::format_version));
    text += part("SQLite", store::sqlite_version());
    text += part("compiler", compiler() + ", glibc " + libc());
    text += part("build type", or_no(LASTREF_BUILD_TYPE));
    text.pop_back();  // who prints it ends the line
    return text;
}

}  // namespace lastref::cli
