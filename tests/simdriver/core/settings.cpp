#include "tests/simdriver/core/settings.h"

#include <cstdlib>
#include <optional>
#include <sstream>

namespace lastref::simdriver {
namespace {

constexpr std::uint64_t hour_us = 3'600'000'000;

// Null for what is no number from `least` to `most`.
std::optional<std::uint64_t> number(char const* text, std::uint64_t least, std::uint64_t most) {
    if (!text || *text < '0' || *text > '9') return std::nullopt;
    char* end = nullptr;
    unsigned long long const value = std::strtoull(text, &end, 10);
    if (*end || value < least || value > most) return std::nullopt;
    return value;
}

void read_number(char const* variable, std::uint64_t least, std::uint64_t most, auto store) {
    if (auto const value = number(std::getenv(variable), least, most)) store(*value);
}

template <class Store>
bool change_number(char const* text, std::uint64_t fallback, std::uint64_t most, Store store) {
    auto const value = text ? number(text, 0, most) : fallback;
    if (value) store(*value);
    return value.has_value();
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
    settings read;
    read_number("LASTREF_SIM_DEVICES", 1, 16, [&](auto value) { read.devices = static_cast<int>(value); });
    read_number("LASTREF_SIM_MEMORY_MB", 64, 1 << 20, [&](auto value) { read.memory_bytes = value << 20; });
    for (char const* const name :
         {"LASTREF_SIM_KERNEL_US", "LASTREF_SIM_CALLBACK_US", "LASTREF_SIM_SEED", "LASTREF_SIM_FAIL"})
        if (char const* const value = std::getenv(name)) change_setting(read, name, value);
    return read;
}

bool change_setting(settings& set, std::string const& name, char const* value) {
    settings const defaults;
    auto const us = [](std::uint64_t count) { return std::chrono::microseconds(count); };
    if (name == "LASTREF_SIM_KERNEL_US")
        return change_number(value, defaults.kernel.count(), hour_us, [&](auto count) { set.kernel = us(count); });
    if (name == "LASTREF_SIM_CALLBACK_US")
        return change_number(value, defaults.callback.count(), hour_us, [&](auto count) { set.callback = us(count); });
    if (name == "LASTREF_SIM_SEED") return change_number(value, 0, UINT64_MAX, [&](auto seed) { set.seed = seed; });
    if (name != "LASTREF_SIM_FAIL") return false;
    set.failures = parse_failures(value ? value : "");
    return true;
}

}  // namespace lastref::simdriver
