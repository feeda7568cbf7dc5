// Names that stay the same from run to run: hashes over what does not move with address-space randomization.
#pragma once

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

// The place of a call by its stack: file name and offset of each frame, so that equal places of different processes and
// runs compare equal. Looked up once per stack.
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

}  // namespace lastref::findings
