#include "collector/drain/spool_place.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "collector/drain/trace_file.h"

namespace lastref::drain {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t enough_memory = std::uint64_t{1} << 30;
constexpr char const library_link[] = "liblastref.so";

bool has_room(char const* folder) {
    struct statvfs status;
    return statvfs(folder, &status) == 0 && std::uint64_t{status.f_bavail} * status.f_frsize >= enough_memory;
}

fs::path temporary() {
    char const* const given = std::getenv("TMPDIR");
    return given && *given ? given : "/tmp";
}

}  // namespace

spool_place::spool_place(std::optional<fs::path> const& parent, fs::path const& beside) {
    if (parent) {
        if (create_in(*parent)) return;
        throw trace_error(trace_error::kind::usage,
                          "spool folder '" + parent->string() + "' can't be written: " + std::strerror(errno));
    }
    if (has_room("/dev/shm") && create_in("/dev/shm")) return;
    if (create_in(temporary()) || create_in(beside.empty() ? "." : beside)) return;
    throw trace_error(trace_error::kind::usage,
                      std::string("no folder for the spool can be written: ") + std::strerror(errno));
}

bool spool_place::create_in(fs::path const& parent) {
    std::error_code failed;
    fs::path const absolute = fs::absolute(parent, failed);
    std::string pattern = (absolute / ("lastref-" + std::to_string(getpid()) + "-XXXXXX")).string();
    if (failed || !mkdtemp(pattern.data())) return false;
    path_ = pattern;
    return true;
}

fs::path spool_place::preloadable(fs::path const& library) {
    auto const needs_link = [](fs::path const& path) {
        return path.string().find_first_of(" :$") != std::string::npos;
    };
    if (!needs_link(library)) return library;
    fs::path const link = path_ / library_link;
    std::error_code failed;
    fs::create_symlink(library, link, failed);
    if (failed || needs_link(link)) {
        throw trace_error(trace_error::kind::usage, "'" + library.string() +
                                                        "' can't be preloaded: a blank, a colon or a dollar"
                                                        " sign in its path, and in the spool folder's");
    }
    return link;
}

spool_place::~spool_place() {
    remove_spool_folder(path_);
}

void remove_spool_folder(fs::path const& folder) {
    std::error_code failed;
    for (auto const& entry : fs::directory_iterator(folder, failed)) {
        if (entry.path().extension() == ".spool") return;
    }
    unlink((folder / library_link).c_str());
    rmdir(folder.c_str());
}

}  // namespace lastref::drain
