// A program as it would be recorded. Its file is read; it is never run, nor is its loader.
#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "analyzer/cli/doctor/check.h"
#include "analyzer/cli/doctor/elf_facts.h"
#include "analyzer/cli/doctor/files.h"
#include "collector/drain/elf_check.h"

namespace lastref::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr int most_interpreters = 4;  // as the kernel

struct interpreted {
    fs::path file;      // what runs in the end
    std::string chain;  // "/usr/bin/env → /usr/bin/python3", empty for a program that is none
};

// The words of "#! /path argument".
std::vector<std::string> interpreter_line(fs::path const& script) {
    std::ifstream file(script, std::ios::binary);
    std::string line;
    if (!std::getline(file, line) || !line.starts_with("#!")) return {};
    std::vector<std::string> words;
    std::istringstream rest(line.substr(2));
    for (std::string word; rest >> word;) words.push_back(word);
    return words;
}

// `env` looks the interpreter up along $PATH: its first argument that is neither an option nor an assignment.
fs::path behind_env(std::vector<std::string> const& words) {
    for (std::size_t i = 1; i < words.size(); ++i)
        if (!words[i].starts_with("-") && words[i].find('=') == std::string::npos) return in_path(words[i]);
    return {};
}

interpreted follow(fs::path const& program) {
    interpreted result{program, {}};
    for (int left = most_interpreters; left > 0; --left) {
        auto const words = interpreter_line(result.file);
        if (words.empty()) return result;
        fs::path next = words.front();
        if (next.filename() == "env")
            if (auto const found = behind_env(words); !found.empty()) next = found;
        result.file = next;
        result.chain += (result.chain.empty() ? "" : " → ") + next.string();
    }
    return result;
}

std::string kind_sentence(drain::program_kind kind) {
    switch (kind) {
        case drain::program_kind::recordable:
            return "64-bit, dynamically linked with glibc";
        case drain::program_kind::unreadable:
            return "cannot be read, so nothing is known of it";
        case drain::program_kind::other:
            return "no program that the system runs by itself";
        case drain::program_kind::statically_linked:
            return "statically linked: nothing can be preloaded into it";
        case drain::program_kind::other_machine:
            return "a 32-bit program, or one for another processor: lastref's collector is for 64-bit x86";
        case drain::program_kind::other_libc:
            return "linked with another C library than glibc, for which the collector is made";
    }
    return {};
}

verdict kind_verdict(drain::program_kind kind) {
    if (kind == drain::program_kind::recordable) return verdict::well;
    return kind == drain::program_kind::unreadable ? verdict::note : verdict::not_recorded;
}

check kind_check(std::string const& name, fs::path const& path, interpreted const& runs) {
    auto const kind = drain::classify_program(runs.file);
    check result{"program", kind_verdict(kind), path.string() + ": " + kind_sentence(kind), {}, {}};
    result.facts = {{"name", name}, {"path", path.string()}, {"runs", runs.file.string()}};
    if (!runs.chain.empty()) result.found = path.string() + " runs " + runs.chain + ": " + kind_sentence(kind);
    return result;
}

bool has_capabilities(fs::path const& file) {
    return getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
}

// Of a script the interpreter's rights count: the system ignores set-user-id on the script itself.
check rights_check(fs::path const& file) {
    check result{"rights", verdict::well, "runs with the rights of who starts it", {}, {}};
    bool const user = drain::changes_user(file), capable = has_capabilities(file);
    result.facts = {{"changes_user", user ? "yes" : "no"}, {"file_capabilities", capable ? "yes" : "no"}};
    if (!user && !capable) return result;
    result.state = verdict::not_recorded;
    result.found = user ? "changes user or group when it starts, so the system preloads nothing into it"
                        : "gets capabilities from its file, so the system preloads nothing into it";
    result.advice = "Run it as the user that it changes to, or record a copy without these rights (its children too).";
    return result;
}

check sanitizer_check(elf_facts const& facts) {
    check result{"sanitizer", verdict::well, "none is linked", {}, {}};
    struct known {
        char const *library, *symbol, *name, *advice;
    };
    constexpr known all[] = {
        {"libasan.so", "__asan_init", "AddressSanitizer",
         "lastref record lets its runtime start behind a preloaded library, which it refuses otherwise; where you "
         "preload "
         "by hand, set ASAN_OPTIONS=verify_asan_link_order=0."},
        {"libtsan.so", "__tsan_init", "ThreadSanitizer", ""},
        {"libmsan.so", "__msan_init", "MemorySanitizer", ""},
        {"libhwasan.so", "__hwasan_init", "HWAddressSanitizer", ""},
    };
    for (auto const& one : all) {
        bool const shared = facts.needs(one.library);
        if (!shared && !facts.names.contains(one.symbol)) continue;
        result = {"sanitizer",
                  verdict::note,
                  std::string(one.name) + (shared ? ", as a shared library" : ", linked in"),
                  one.advice,
                  {{"name", one.name}, {"shared", shared ? "yes" : "no"}}};
        if (!shared && std::string_view(one.library) == "libasan.so") result.advice.clear();
    }
    return result;
}

check namespaces_check(elf_facts const& facts) {
    check result{"namespaces", verdict::well, "loads no library into another namespace by itself", {}, {}};
    bool const other = facts.names.contains("dlmopen");
    result.facts.emplace_back("dlmopen", other ? "yes" : "no");
    if (!other) return result;
    result.state = verdict::note;
    result.found =
        "uses dlmopen: nothing is preloaded into another namespace, so the calls of a driver that is loaded there "
        "are not recorded";
    return result;
}

std::string joined(std::vector<std::string> const& texts) {
    std::string result;
    for (auto const& text : texts) result += (result.empty() ? "" : " ") + text;
    return result;
}

check cuda_check(elf_facts const& facts) {
    check result{"CUDA", verdict::well, {}, {}, {{"needed", joined(facts.needed)}}};
    if (!facts.search_path.empty()) result.facts.emplace_back("search_path", facts.search_path);
    if (facts.needs("libcuda.so"))
        result.found = "linked with the driver";
    else if (facts.needs("libcudart.so"))
        result.found = "linked with the shared CUDA runtime";
    else
        result.found = "not linked with CUDA itself; what it loads while it runs is recorded all the same";
    return result;
}

// What only asks somebody else to start a program.
check launcher_check(fs::path const& file) {
    check result{"launcher", verdict::well, {}, {}, {}};
    for (char const* name : {"docker", "podman", "nerdctl", "kubectl", "ssh"}) {
        if (file.filename() != name) continue;
        result.state = verdict::not_recorded;
        result.found =
            std::string(name) + " asks another process, or machine, to start the program: that is no child of it";
        result.advice = "Run lastref inside: " + std::string(name) + " … lastref record -- PROGRAM.";
    }
    return result;
}

}  // namespace

std::vector<check> examine_program(std::string const& name) {
    auto const found = drain::find_program(name, std::getenv("PATH"));
    if (found.error) throw std::invalid_argument("'" + name + "': " + std::strerror(found.error));
    auto const runs = follow(found.path);
    std::vector<check> result{kind_check(name, found.path, runs), rights_check(runs.file)};
    if (auto launcher = launcher_check(runs.file); launcher.state != verdict::well)
        result.push_back(std::move(launcher));
    auto const facts = read_elf(runs.file);
    if (facts && facts->bits == 64 && !facts->loader.empty()) {
        result.push_back(cuda_check(*facts));
        result.push_back(sanitizer_check(*facts));
        result.push_back(namespaces_check(*facts));
    }
    return result;
}

}  // namespace lastref::cli::doctor
