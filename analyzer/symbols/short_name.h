// Names of functions as people read them: lambdas with the function that they stand in, and long names shortened where
// that costs least. Works on what demanglers and DWARF say, which is not always a C++ name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lastref::symbols {

// Each lambda of the name as "{lambda}", whoever made it: "f()::{lambda(int)#1}::operator()(int) const",
// "f()::<lambda(int)>", "f()::$_0::operator()(int) const" and "f()::'lambda'(int)::operator()(int) const" are
// "f()::{lambda}".
std::string tidy_name(std::string_view name);

// The tidied name in at most `columns`, giving up in this order: parameters and return type, template arguments, outer
// scopes. What is left names the function, with its function for a lambda, and is whole even if it is longer.
std::string short_name(std::string_view name, std::size_t columns);

}  // namespace lastref::symbols
