#include "analyzer/findings/code_owner.h"

#include <algorithm>
#include <array>

namespace lastref::findings {
namespace {

using namespace std::string_view_literals;

constexpr std::array cuda_names{"libcuda.so"sv, "libcudart"sv, "liblastref.so"sv, "libnvidia-"sv};
constexpr std::array system_names{"libc.so"sv,    "libc-"sv,    "ld-linux"sv, "libstdc++"sv,
                                  "libpthread"sv, "libgcc_s"sv, "libm.so"sv,  "libdl.so"sv};
constexpr std::array library_folders{"/site-packages/"sv, "/dist-packages/"sv, "/lib-dynload/"sv};
constexpr std::array library_roots{"/usr/"sv, "/lib/"sv, "/lib64/"sv, "/opt/"sv};

bool starts_with_any(std::string_view text, auto const& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [text](auto prefix) { return text.starts_with(prefix); });
}

bool is_interpreter(std::string_view name) {
    return name.starts_with("python") || name.starts_with("libpython");
}

}  // namespace

code_owner owner_of(std::string_view path, std::string_view executable) {
    auto const name = path.substr(path.rfind('/') + 1);
    if (path.empty()) return code_owner::unknown;
    if (starts_with_any(name, cuda_names)) return code_owner::cuda;
    if (starts_with_any(name, system_names)) return code_owner::system;
    if (is_interpreter(name)) return code_owner::interpreter;
    if (path == executable) return code_owner::program;
    for (auto const folder : library_folders)
        if (path.find(folder) != std::string_view::npos) return code_owner::library;
    return starts_with_any(path, library_roots) ? code_owner::library : code_owner::program;
}

bool is_static_runtime(std::string_view function) {
    return function.starts_with("libcudart_static_") || function.starts_with("__cuda");
}

code_owner owners::look_up(store::process const& process, store::frame const& frame) {
    if (!frame.module) return code_owner::unknown;
    auto const by_file = owner_of(trace_.at(frame.module).path, process.executable);
    bool const may_hold_runtime = by_file == code_owner::program || by_file == code_owner::library;
    if (names_ == nullptr || !may_hold_runtime) return by_file;
    auto const& functions = names_->of(frame).functions;
    return !functions.empty() && is_static_runtime(functions.back().function) ? code_owner::cuda : by_file;
}

code_owner owners::of(store::process const& process, store::frame const& frame) {
    auto const [slot, fresh] = known_.try_emplace(frame.id, code_owner::unknown);
    if (fresh) slot->second = look_up(process, frame);
    return slot->second;
}

store::frame const* owners::caller_in(store::process const& process, store::stack const& stack) {
    for (auto const& frame : stack.frames) {
        auto const owner = of(process, frame);
        if (owner != code_owner::cuda && owner != code_owner::system) return &frame;
    }
    return stack.frames.empty() ? nullptr : &stack.frames.front();
}

bool owners::named(store::frame const& frame) {
    if (names_ == nullptr) return false;
    auto const& functions = names_->of(frame).functions;
    return !functions.empty() && !functions.back().function.empty();
}

}  // namespace lastref::findings
