// Whose code a loaded file is, by where it lies: reports lead with the program's own code, and judge what a framework
// keeps until exit more mildly than what the program itself forgot.
#pragma once

#include "analyzer/store/trace.h"
#include "analyzer/symbols/stacks.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lastref::findings {

enum class code_owner : std::uint8_t {
    program,      // the executable, and libraries that lie outside of system and package folders
    library,      // installed libraries and Python packages
    interpreter,  // Python itself
    cuda,         // driver, CUDA runtime, lastref
    system,       // C and C++ run-time libraries
    unknown,      // no loaded file: code made at run time
};

// The same for a file of Python source. Of a script nothing tells that it is one, hence it is the program's unless it
// lies where packages, the standard library or the system have theirs.
code_owner owner_of_python(std::string_view file);

// What a frame of Python belongs to, in a word: its package ("torch"), "Python" for the standard library, else the
// file.
std::string_view package_of(std::string_view file);

code_owner owner_of(store::trace const& trace, store::process const& process, symbols::named_frame const& frame);

// Not the program's to mend.
constexpr bool is_foreign(code_owner owner) {
    return owner == code_owner::library || owner == code_owner::interpreter || owner == code_owner::cuda;
}

code_owner owner_of(std::string_view path, std::string_view executable);

// The CUDA runtime linked statically lies in the program's own file; its functions are known by their names:
// libcudart_static_…, and what compiled code calls at start and exit (__cudaUnregisterFatBinary).
bool is_static_runtime(std::string_view function);

// Owners of frames. Without `names`, or where a file is gone, a function of the program's own file is the program's.
class owners {
  public:
    owners(store::trace const& trace, symbols::stacks* names) : trace_(trace), names_(names) {}

    code_owner of(store::process const& process, store::frame const& frame);

    // The innermost frame that is neither CUDA's nor the system's: who made the call. Else the innermost of all; null
    // for an empty stack.
    store::frame const* caller_in(store::process const& process, store::stack const& stack);

    // As symbols::stacks::function_at, shortened for sentences; empty without names.
    std::string function_at(store::process_id process, std::uint64_t address);

    // Whether the frame's function is known by name, so that the runtime would have been told apart.
    bool named(store::frame const& frame);

  private:
    code_owner look_up(store::process const& process, store::frame const& frame);

    store::trace const& trace_;
    symbols::stacks* names_;
    std::unordered_map<store::frame_id, code_owner> known_;
};

}  // namespace lastref::findings
