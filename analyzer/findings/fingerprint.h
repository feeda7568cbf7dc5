// Names of places and findings that stay the same from run to run: hashes over what does not move.
#pragma once

#include "analyzer/findings/analysis.h"
#include "analyzer/findings/names.h"
#include "analyzer/store/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lastref::findings {

class hash {
  public:
    hash& add(std::string_view text);  // with its end: "ab","c" is not "a","bc"
    hash& add(std::uint64_t number);
    std::uint64_t value() const { return value_; }
    std::string hex() const;

  private:
    std::uint64_t value_ = 0xcbf29ce484222325;  // FNV-1a
};

// The place of a call by its stack: file name and offset of each frame, so that equal places of different processes
// compare equal. Looked up once per stack. Good within one analysis; a rebuild moves it.
class places {
  public:
    explicit places(store::trace const& trace) : trace_(trace) {}

    std::uint64_t key(store::stack_id stack);  // 0 where there is no stack

    // The place of code at `address`; 0 where no loaded file covers it.
    std::uint64_t of_address(store::process_id process, std::uint64_t address) const;

  private:
    store::trace const& trace_;
    std::unordered_map<store::stack_id, std::uint64_t> known_;
};

// The function's name as it stays when code around it changes: without parameters, the numbers of lambdas, unnamed
// types and clones, and ABI tags. "f(int)::{lambda(char)#2}::operator()(char) const [clone .cold]" is
// "f::{lambda}::operator()".
std::string lasting_name(std::string_view function);

// A file's name as it stays when it is upgraded: "libcudart.so" for "/opt/cuda/lib64/libcudart.so.13.0.48".
std::string lasting_file(std::string_view path);

// Gives every finding a fingerprint that survives address-space randomization, rebuilds and moved lines: it is made
// from the rule, the kinds of object, and for each site its role and the program's own functions on its stack. Of other
// files only the names count, unless nothing on a stack is the program's. Numbers of any kind (counts, bytes, handles,
// process ids, lines, offsets) do not count. Findings that are alike in all this are told apart by their order in time.
void give_fingerprints(analysis& what, store::trace const& trace, stacks& stacks);

}  // namespace lastref::findings
