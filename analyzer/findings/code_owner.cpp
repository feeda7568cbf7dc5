#include "analyzer/findings/code_owner.h"

#include "analyzer/findings/noise.h"
#include "analyzer/symbols/interpreter.h"
#include "analyzer/symbols/short_name.h"

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

// Behind the folder that packages lie in; empty where the file lies in none.
std::string_view in_packages(std::string_view file) {
    for (auto const folder : {"/site-packages/"sv, "/dist-packages/"sv})
        if (auto const at = file.rfind(folder); at != std::string_view::npos) return file.substr(at + folder.size());
    return {};
}

bool is_standard_library(std::string_view file) {
    if (file.starts_with("<frozen ")) return true;
    for (auto const folder : {"/lib/python3"sv, "/lib64/python3"sv})
        if (file.find(folder) != std::string_view::npos) return in_packages(file).empty();
    return false;
}

}  // namespace

code_owner owner_of(std::string_view path, std::string_view executable) {
    auto const name = path.substr(path.rfind('/') + 1);
    if (path.empty()) return code_owner::unknown;
    if (starts_with_any(name, cuda_names)) return code_owner::cuda;
    if (starts_with_any(name, system_names)) return code_owner::system;
    if (symbols::is_interpreter(path)) return code_owner::interpreter;
    if (path == executable) return code_owner::program;
    for (auto const folder : library_folders)
        if (path.find(folder) != std::string_view::npos) return code_owner::library;
    return starts_with_any(path, library_roots) ? code_owner::library : code_owner::program;
}

code_owner owner_of_python(std::string_view file) {
    if (is_standard_library(file)) return code_owner::interpreter;
    if (!in_packages(file).empty() || file.starts_with("/usr/")) return code_owner::library;
    return code_owner::program;
}

std::string_view package_of(std::string_view file) {
    if (is_standard_library(file)) return "Python";
    auto const inside = in_packages(file);
    return inside.empty() ? file.substr(file.rfind('/') + 1) : inside.substr(0, inside.find('/'));
}

code_owner owner_of(store::trace const& trace, store::process const& process, symbols::named_frame const& frame) {
    if (frame.python) return owner_of_python(frame.functions.front().file);
    return owner_of(frame.module ? std::string_view(trace.at(frame.module).path) : std::string_view{},
                    process.executable);
}

bool is_static_runtime(std::string_view function) {
    return function.starts_with("libcudart_static_") || function.starts_with("__cuda");
}

code_owner owners::look_up(store::process const& process, store::frame const& frame) {
    if (frame.python) return owner_of_python(frame.file);
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
    auto const& noise = noise_list::built_in();
    bool const with_python =
        std::any_of(stack.frames.begin(), stack.frames.end(), [](auto const& frame) { return frame.python; });
    for (auto const& frame : stack.frames) {
        auto const owner = of(process, frame);
        // What lies between Python and a library is nobody's; nor is the interpreter where its Python is known.
        bool const passes_on = noise.is_binding(frame.module ? std::string_view(trace_.at(frame.module).path)
                                                             : std::string_view(frame.file));
        bool const runs_python = with_python && owner == code_owner::interpreter && !frame.python;
        if (owner != code_owner::cuda && owner != code_owner::system && !passes_on && !runs_python) return &frame;
    }
    return stack.frames.empty() ? nullptr : &stack.frames.front();
}

std::string owners::function_at(store::process_id process, std::uint64_t address) {
    constexpr std::size_t columns = 60;
    return names_ == nullptr ? std::string{} : symbols::short_name(names_->function_at(process, address), columns);
}

bool owners::named(store::frame const& frame) {
    if (frame.python) return true;
    if (names_ == nullptr) return false;
    auto const& functions = names_->of(frame).functions;
    return !functions.empty() && !functions.back().function.empty();
}

}  // namespace lastref::findings
