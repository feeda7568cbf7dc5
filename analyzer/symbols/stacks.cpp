#include "analyzer/symbols/stacks.h"

#include "analyzer/symbols/interpreter.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::symbols {
namespace {

symbol python_symbol(store::frame const& frame) {
    return {frame.function.empty() ? "a Python function" : frame.function, frame.file, frame.line, false};
}

// An extension module of Python goes by the name that programs import it by: cuda.core._graph.
std::string file_name(std::string const& path) {
    auto const slash = path.rfind('/') + 1;
    auto const tag = std::min(path.find(".cpython-", slash), path.find(".abi3.so", slash));
    if (tag == std::string::npos) return path.substr(slash);
    constexpr std::string_view packages = "-packages/";  // site-packages, dist-packages
    auto const root = path.rfind(packages);
    auto const begin = root == std::string::npos ? slash : root + packages.size();
    auto name = path.substr(begin, tag - begin);
    std::replace(name.begin(), name.end(), '/', '.');
    return name;
}

}  // namespace

named_frame const& stacks::of(store::frame const& frame) {
    auto const [slot, fresh] = frames_.try_emplace(frame.id);
    if (!fresh) return slot->second;
    auto& out = slot->second;
    out.address = out.offset = frame.address;
    out.module = frame.module;
    out.python = frame.python;
    if (frame.python) out.functions.push_back(python_symbol(frame));
    if (!frame.module) return out;
    auto const& module = trace_.at(frame.module);
    out.offset = frame.address - module.load_bias;
    out.state = from_.state(module.path, module.build_id);
    // The return address may already be the next line, or the next function: the call is before it.
    out.functions = from_.at(module.path, module.build_id, out.offset - 1);
    return out;
}

std::string stacks::function_at(store::process_id process, std::uint64_t address) {
    store::module const* in = nullptr;
    for (auto const& module : trace_.modules())  // the latest that was loaded there
        if (module.process == process && address >= module.begin && address < module.end) in = &module;
    if (in == nullptr) return {};
    auto const offset = address - in->load_bias;
    auto const functions = from_.at(in->path, in->build_id, offset);
    if (!functions.empty() && !functions.back().function.empty()) return functions.back().function;
    return fmt::format("{}+{:#x}", file_name(in->path), offset);
}

named_stack const& stacks::of(store::stack_id id) {
    auto const [slot, fresh] = stacks_.try_emplace(id);
    if (!fresh || !id) return slot->second;
    auto const stack = trace_.stack_of(id);
    slot->second.cut = stack.cut;
    bool const with_python =
        std::any_of(stack.frames.begin(), stack.frames.end(), [](auto const& f) { return f.python; });
    for (std::size_t i = 0; i < stack.frames.size(); ++i) {
        auto const& frame = stack.frames[i];
        // The evaluator's frame stands behind the frames that it runs, in whatever file it is.
        bool const evaluator = i > 0 && stack.frames[i - 1].python && !frame.python;
        bool const interpreter = evaluator || (frame.module && is_interpreter(trace_.at(frame.module).path));
        if (!with_python || !interpreter) slot->second.frames.push_back(of(frame));
    }
    return slot->second;
}

}  // namespace lastref::symbols
