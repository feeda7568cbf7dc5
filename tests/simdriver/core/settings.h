// What the environment sets. Read once, at the first call; nonsense falls back to the default.
//
//   LASTREF_SIM_DEVICES       number of devices, 1 to 16; default 2
//   LASTREF_SIM_MEMORY_MB     memory of one device; default 16384
//   LASTREF_SIM_KERNEL_US     how long a kernel takes; default 5
//   LASTREF_SIM_CALLBACK_US   how much later than due a destructor, host function or stream callback starts; default 0
//   LASTREF_SIM_FAIL          failures to inject: name:number:result,... The call with that number (from 1) of the
//   entry
//                             point returns the result and has no effect; number 0 means every call
//   LASTREF_SIM_SEED          not 0: operations that are ready at once run in an order drawn from this seed
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/simdriver/abi/cuda_abi.h"

namespace lastref::simdriver {

struct injected_failure {
    std::string name;      // entry point without suffixes
    unsigned long number;  // which call, from 1; 0 for all
    CUresult result;
};

struct settings {
    int devices = 2;
    std::uint64_t memory_bytes = std::uint64_t{16} << 30;
    std::chrono::microseconds kernel{5};
    std::chrono::microseconds callback{0};
    std::uint64_t seed = 0;
    std::vector<injected_failure> failures;
};

settings read_settings();

// Changes one setting that can change while the driver runs; false for a name or a value that it does not take.
bool change_setting(settings& set, std::string const& name, char const* value);

// Parses the value of LASTREF_SIM_FAIL; entries that make no sense are left out.
std::vector<injected_failure> parse_failures(std::string const& text);

}  // namespace lastref::simdriver
