#include "collector/drain/stack_table.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace lastref::drain {
namespace {

std::optional<std::string> hexadecimal(std::span<std::uint8_t const> bytes) {
    if (bytes.empty()) return std::nullopt;
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::uint8_t const byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

}  // namespace

std::size_t stack_table::hash::operator()(key_view const& key) const {
    std::uint64_t mixed = key.cut ? 0x9e3779b97f4a7c15 : 0;
    for (std::uint64_t const frame : key.frames) {
        mixed = (mixed ^ frame) * 0xff51afd7ed558ccd;
        mixed ^= mixed >> 32;
    }
    return mixed;
}

bool stack_table::equal::operator()(stack_key const& a, key_view const& b) const {
    return a.cut == b.cut && std::ranges::equal(a.frames, b.frames);
}

stack_table::stack_table(trace_writer& writer, process_id process) : writer_(writer), process_(process) {
    load_modules();
    load_frames();
    load_stacks();
}

void stack_table::load_modules() {
    statement query(writer_.db(), "SELECT id, first_address, end_address FROM module WHERE process = ? ORDER BY id");
    query.bind(trace_writer::number(process_));
    while (query.next()) {
        note_range(static_cast<std::uint64_t>(query.integer(1)), static_cast<std::uint64_t>(query.integer(2)),
                   module_id{query.integer(0)});
    }
}

void stack_table::load_frames() {
    statement query(writer_.db(), "SELECT id, address FROM frame WHERE process = ? ORDER BY id");
    query.bind(trace_writer::number(process_));
    while (query.next())
        frames_.insert_or_assign(static_cast<std::uint64_t>(query.integer(1)), frame_id{query.integer(0)});
}

void stack_table::load_stacks() {
    statement query(
        writer_.db(),
        "SELECT stack.id, stack.cut, frame.address, frame.id FROM stack JOIN stack_frame ON stack_frame.stack ="
        " stack.id JOIN frame ON frame.id = stack_frame.frame WHERE stack.process = ? ORDER BY stack.id, depth");
    query.bind(trace_writer::number(process_));
    std::optional<stack_id> current;
    stack_key key{};
    bool up_to_date = true;  // none of its addresses has got another meaning since
    auto const keep = [&] {
        if (current && up_to_date) stacks_.insert_or_assign(key, *current);
    };
    while (query.next()) {
        if (stack_id const id{query.integer(0)}; current != id) {
            keep();
            current = id;
            key = {{}, query.integer(1) != 0};
            up_to_date = true;
        }
        auto const address = static_cast<std::uint64_t>(query.integer(2));
        key.frames.push_back(address);
        up_to_date = up_to_date && frames_.at(address) == frame_id{query.integer(3)};
    }
    keep();
}

void stack_table::note_range(std::uint64_t begin, std::uint64_t end, module_id id) {
    auto first = modules_.lower_bound(begin);
    if (first != modules_.begin() && std::prev(first)->second.end > begin) --first;
    while (first != modules_.end() && first->first < end) first = modules_.erase(first);
    modules_.insert_or_assign(begin, module_range{end, id});
}

// A return address may be the first one behind its module's code (a call that does not return): the call is what
// counts.
std::optional<module_id> stack_table::module_of(std::uint64_t return_address) const {
    std::uint64_t const call = return_address - 1;
    auto const after = modules_.upper_bound(call);
    if (after == modules_.begin() || std::prev(after)->second.end <= call) return std::nullopt;
    return std::prev(after)->second.id;
}

void stack_table::add_module(spool::module_record const& module, std::string_view path) {
    auto const build_id = hexadecimal({module.build_id, module.build_id_length});
    module_id const id = writer_.add_module(process_, path, build_id, module);
    auto const meant_another = [&](auto const& known) {
        return known.first > module.begin && known.first <= module.end && module_of(known.first);
    };
    if (std::ranges::any_of(frames_, meant_another)) {
        std::erase_if(frames_, meant_another);
        stacks_.clear();
    }
    note_range(module.begin, module.end, id);
    writer_.set_module_of_frames(process_, id, module.begin, module.end);
}

frame_id stack_table::frame(std::uint64_t address) {
    if (auto const known = frames_.find(address); known != frames_.end()) return known->second;
    frame_id const id = writer_.add_frame(process_, address, module_of(address));
    frames_.emplace(address, id);
    return id;
}

stack_id stack_table::find_or_add(std::span<std::uint64_t const> frames, bool cut) {
    if (auto const known = stacks_.find(key_view{frames, cut}); known != stacks_.end()) return known->second;
    stack_id const id = writer_.add_stack(process_, cut);
    for (std::size_t depth = 0; depth < frames.size(); ++depth)
        writer_.add_stack_frame(id, static_cast<std::int64_t>(depth), frame(frames[depth]));
    stacks_.emplace(stack_key{{frames.begin(), frames.end()}, cut}, id);
    return id;
}

}  // namespace lastref::drain
