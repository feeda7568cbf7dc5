// Whose code a loaded file is, by where it lies: reports lead with the program's own code, and judge what a framework
// keeps until exit more mildly than what the program itself forgot.
#pragma once

#include "analyzer/store/trace.h"

#include <cstdint>
#include <string_view>

namespace lastref::findings {

enum class code_owner : std::uint8_t {
    program,      // the executable, and libraries that lie outside of system and package folders
    library,      // installed libraries and Python packages
    interpreter,  // Python itself
    cuda,         // driver, CUDA runtime, lastref
    system,       // C and C++ run-time libraries
    unknown,      // no loaded file: code made at run time
};

code_owner owner_of(std::string_view path, std::string_view executable);
code_owner owner_of(store::trace const& trace, store::process const& process, store::frame const& frame);

// The innermost frame that is neither CUDA's nor the system's: who made the call. Null for an empty stack.
store::frame const* caller_in(store::trace const& trace, store::process const& process, store::stack const& stack);

}  // namespace lastref::findings
