// Modules, libraries and the functions in them. Kernels are names only: a launch is work of a settable length.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/simdriver/core/handle_table.h"
#include "tests/simdriver/core/objects.h"

namespace lastref::simdriver {

struct module;
struct library;

struct function {
    CUfunction handle = nullptr;
    std::string name;
    std::weak_ptr<module> of;
    std::map<CUfunction_attribute, int> attributes;
};

struct kernel {
    CUkernel handle = nullptr;
    std::string name;
    std::weak_ptr<library> of;
};

struct global_variable {
    std::uintptr_t base;
    std::size_t bytes;
};

// What can be seen in an image without compiling it.
struct image {
    bool text = false;  // PTX, whose names are known; of a binary every name is taken for known
    std::vector<std::string> kernels;
    std::vector<std::string> faulty;  // kernels with a `trap`: launched, they end their context
    int version = 90;                 // of the target, `.target sm_75` for one
    std::map<std::string, std::size_t> globals;
};

struct module {
    CUmodule handle = nullptr;
    context_ptr owner;
    image code;
    std::map<std::string, CUfunction> functions;
    std::map<std::string, global_variable> globals;
};

struct library {
    CUlibrary handle = nullptr;
    image code;
    std::map<std::string, CUkernel> kernels;
    std::map<CUcontext, CUmodule> modules;
};

handle_table<CUmodule, module>& modules();
handle_table<CUlibrary, library>& libraries();
handle_table<CUfunction, function>& functions();
handle_table<CUkernel, kernel>& kernels();

// False for what is no image.
bool read_image(void const* data, image& out);
bool has_kernel(image const& code, std::string const& name);
// Whether the kernel that a launch names ends its context.
bool is_faulty(CUfunction named);
CUfunction function_of(std::shared_ptr<module> const& in, std::string const& name);
void unload(std::shared_ptr<module> const& gone);
void drop_modules_of(context const& ending);

}  // namespace lastref::simdriver
