#include "analyzer/findings/fingerprint.h"

#include <fmt/core.h>

namespace lastref::findings {

hash& hash::add(std::string_view text) {
    for (char const c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    value_ = (value_ ^ 0xff) * 0x100000001b3;
    return *this;
}

hash& hash::add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) value_ = (value_ ^ (number >> (8 * i) & 0xff)) * 0x100000001b3;
    return *this;
}

std::string hash::hex() const {
    return fmt::format("{:016x}", value_);
}

std::uint64_t places::key(store::stack_id stack) {
    if (!stack) return 0;
    auto const [slot, fresh] = known_.try_emplace(stack, 0);
    if (!fresh) return slot->second;
    hash h;
    for (auto const& frame : trace_.stack_of(stack).frames) {
        if (!frame.module) {
            h.add("?");  // code made at run time: its address means nothing in another run
            continue;
        }
        auto const& module = trace_.at(frame.module);
        std::string_view const path = module.path;
        h.add(path.substr(path.rfind('/') + 1)).add(frame.address - module.load_bias);
    }
    return slot->second = h.value();
}

std::uint64_t places::of_address(store::process_id process, std::uint64_t address) const {
    for (auto const& module : trace_.modules()) {
        if (module.process != process || address < module.begin || address >= module.end) continue;
        std::string_view const path = module.path;
        return hash().add(path.substr(path.rfind('/') + 1)).add(address - module.load_bias).value();
    }
    return 0;
}

}  // namespace lastref::findings
