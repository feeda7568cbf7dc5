#include "analyzer/symbols/stacks.h"

namespace lastref::symbols {

named_frame const& stacks::of(store::frame const& frame) {
    auto const [slot, fresh] = frames_.try_emplace(frame.id);
    if (!fresh) return slot->second;
    auto& out = slot->second;
    out.address = out.offset = frame.address;
    out.module = frame.module;
    if (!frame.module) return out;
    auto const& module = trace_.at(frame.module);
    out.offset = frame.address - module.load_bias;
    out.state = from_.state(module.path, module.build_id);
    // The return address may already be the next line, or the next function: the call is before it.
    out.functions = from_.at(module.path, module.build_id, out.offset - 1);
    return out;
}

named_stack const& stacks::of(store::stack_id id) {
    auto const [slot, fresh] = stacks_.try_emplace(id);
    if (!fresh || !id) return slot->second;
    auto const stack = trace_.stack_of(id);
    slot->second.cut = stack.cut;
    for (auto const& frame : stack.frames) slot->second.frames.push_back(of(frame));
    return slot->second;
}

}  // namespace lastref::symbols
