#include "tests/simdriver/core/modules.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "tests/simdriver/core/memory.h"

namespace lastref::simdriver {
namespace {

constexpr std::uint32_t fatbin_magic = 0xba55ed50, wrapper_magic = 0x466243b1;

bool is_binary(void const* data) {
    std::uint32_t magic = 0;
    std::memcpy(&magic, data, sizeof magic);
    return magic == fatbin_magic || magic == wrapper_magic || std::memcmp(data, "\177ELF", 4) == 0;
}

std::string identifier(std::string const& text, std::size_t from) {
    while (from < text.size() && std::isspace(static_cast<unsigned char>(text[from]))) ++from;
    std::size_t end = from;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' || text[end] == '$'))
        ++end;
    return text.substr(from, end - from);
}

void read_kernels(std::string const& text, image& out) {
    constexpr char directive[] = ".entry";
    for (std::size_t at = text.find(directive); at != std::string::npos; at = text.find(directive, at + 1)) {
        out.kernels.push_back(identifier(text, at + sizeof directive - 1));
        std::size_t const trap = text.find("trap;", at);
        if (trap < text.find(directive, at + 1)) out.faulty.push_back(out.kernels.back());
    }
}

void read_target(std::string const& text, image& out) {
    constexpr char directive[] = ".target sm_";
    std::size_t const at = text.find(directive);
    if (at != std::string::npos) out.version = std::atoi(text.c_str() + at + sizeof directive - 1);
}

// `.u32`, `.b8`, `.f64`: an element's size, by the last such word.
std::size_t element_bytes(std::string const& word) {
    constexpr std::string_view kinds = "ubsf";
    if (word.size() < 3 || word[0] != '.' || kinds.find(word[1]) == std::string_view::npos) return 0;
    return static_cast<std::size_t>(std::atoi(word.c_str() + 2)) / 8;
}

// `.global .align 4 .b8 name[16]` or `.global .align 4 .u32 name`: the last identifier before `[`, `=` or `;`.
void read_globals(std::string const& text, image& out) {
    for (std::size_t at = text.find(".global"); at != std::string::npos; at = text.find(".global", at + 1)) {
        std::size_t const end = text.find_first_of("[=;", at);
        std::size_t const line_end = text.find(';', at);
        if (end == std::string::npos || (at > 0 && text[at - 1] == 'd')) continue;  // ld.global and the like
        std::istringstream words(text.substr(at, end - at));
        std::string name;
        std::size_t bytes = 0;
        for (std::string word; words >> word; name = word)
            if (std::size_t const size = element_bytes(word)) bytes = size;
        if (text[end] == '[') bytes *= std::max(1ul, std::stoul("0" + identifier(text, end + 1)));
        if (line_end != std::string::npos && !name.empty() && name[0] != '.') out.globals[name] = bytes;
    }
}

}  // namespace

handle_table<CUmodule, module>& modules() {
    static auto* const table = new handle_table<CUmodule, module>;
    return *table;
}

handle_table<CUlibrary, library>& libraries() {
    static auto* const table = new handle_table<CUlibrary, library>;
    return *table;
}

handle_table<CUfunction, function>& functions() {
    static auto* const table = new handle_table<CUfunction, function>;
    return *table;
}

handle_table<CUkernel, kernel>& kernels() {
    static auto* const table = new handle_table<CUkernel, kernel>;
    return *table;
}

bool read_image(void const* data, image& out) {
    if (is_binary(data)) return true;
    std::string const text(static_cast<char const*>(data));
    if (text.find(".version") == std::string::npos) return false;
    out.text = true;
    read_kernels(text, out);
    read_globals(text, out);
    read_target(text, out);
    return true;
}

bool has_kernel(image const& code, std::string const& name) {
    return !code.text || std::find(code.kernels.begin(), code.kernels.end(), name) != code.kernels.end();
}

bool is_faulty(CUfunction named) {
    auto const in = [](image const& code, std::string const& name) {
        return std::find(code.faulty.begin(), code.faulty.end(), name) != code.faulty.end();
    };
    if (auto const function = functions().find(named)) {
        auto const of = function->of.lock();
        return of && in(of->code, function->name);
    }
    auto const kernel = kernels().find(reinterpret_cast<CUkernel>(named));
    auto const of = kernel ? kernel->of.lock() : nullptr;
    return of && in(of->code, kernel->name);
}

CUfunction function_of(std::shared_ptr<module> const& in, std::string const& name) {
    if (auto const known = in->functions.find(name); known != in->functions.end()) return known->second;
    auto made = std::make_shared<function>();
    made->name = name;
    made->of = in;
    return in->functions[name] = functions().add(made);
}

void unload(std::shared_ptr<module> const& gone) {
    for (auto const& [name, handle] : gone->functions) functions().remove(handle);
    for (auto const& [name, variable] : gone->globals)
        if (auto const held = memory().at(variable.base)) release(*held);
    modules().remove(gone->handle);
}

void drop_modules_of(context const& ending) {
    std::vector<std::shared_ptr<module>> gone;
    modules().for_each([&](std::shared_ptr<module> const& each) {
        if (each->owner.get() == &ending) gone.push_back(each);
    });
    for (auto const& each : gone) unload(each);
}

}  // namespace lastref::simdriver
