#include "tests/simdriver/core/settings.h"

#include <cstdlib>
#include <sstream>

namespace lastref::simdriver {
namespace {

std::uint64_t number(char const* variable, std::uint64_t fallback, std::uint64_t least, std::uint64_t most) {
    char const* const text = std::getenv(variable);
    if (!text || !*text) return fallback;
    char* end = nullptr;
    unsigned long long const value = std::strtoull(text, &end, 10);
    return *end || value < least || value > most ? fallback : value;
}

}  // namespace

std::vector<injected_failure> parse_failures(std::string const& text) {
    std::vector<injected_failure> failures;
    std::istringstream entries(text);
    for (std::string entry; std::getline(entries, entry, ',');) {
        std::istringstream fields(entry);
        injected_failure failure;
        int result = 0;
        char colon = 0;
        if (std::getline(fields, failure.name, ':') && fields >> failure.number >> colon >> result && colon == ':') {
            failure.result = static_cast<CUresult>(result);
            failures.push_back(failure);
        }
    }
    return failures;
}

settings read_settings() {
    constexpr std::uint64_t hour_us = 3'600'000'000;
    settings read;
    read.devices = static_cast<int>(number("LASTREF_SIM_DEVICES", 2, 1, 16));
    read.memory_bytes = number("LASTREF_SIM_MEMORY_MB", 16384, 64, 1 << 20) << 20;
    read.kernel = std::chrono::microseconds(number("LASTREF_SIM_KERNEL_US", 5, 0, hour_us));
    read.callback = std::chrono::microseconds(number("LASTREF_SIM_CALLBACK_US", 0, 0, hour_us));
    read.seed = number("LASTREF_SIM_SEED", 0, 0, UINT64_MAX);
    if (char const* const text = std::getenv("LASTREF_SIM_FAIL")) read.failures = parse_failures(text);
    return read;
}

}  // namespace lastref::simdriver
