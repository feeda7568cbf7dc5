// Which files are a Python interpreter's.
#pragma once

#include <string_view>

namespace lastref::symbols {

// A program or library of CPython's own: python3.12, libpython3.12.so.1.0.
constexpr bool is_interpreter(std::string_view path) {
    auto const name = path.substr(path.rfind('/') + 1);
    return name.starts_with("python") || name.starts_with("libpython");
}

}  // namespace lastref::symbols
