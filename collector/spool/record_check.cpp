#include "collector/spool/record_check.h"

namespace lastref::spool {
namespace {

// About a year of ticks at 4 GHz: no process runs longer, and random bytes rarely fall into it.
constexpr std::uint64_t longest_run = std::uint64_t{1} << 57;
// Calls may begin before the spool exists, since the first of them creates it.
constexpr std::uint64_t before_spool = std::uint64_t{1} << 38;

// While searching: days, and what a CUresult and the flags can be. Texts and addresses do not pass for that.
constexpr std::uint64_t likely_run = std::uint64_t{1} << 50;
constexpr std::uint16_t greatest_result = 999;
constexpr std::uint8_t known_flags = 0x7f;

bool is_time(std::uint64_t ticks, std::uint64_t first) {
    return ticks != 0 && ticks + before_spool >= first && ticks < first + longest_run;
}

constexpr std::uint32_t slots_for(std::size_t bytes) {
    return static_cast<std::uint32_t>((bytes + slot_size - 1) / slot_size);
}

bool has_length(std::uint32_t needed, std::uint32_t slots, bool exact) {
    return exact ? needed == slots : needed <= slots;
}

bool call_fits(call_record const& call, check_limits const& limits) {
    if (call.slots != 1 || call.api >= limits.entry_points || !is_time(call.begin, limits.first_ticks)) return false;
    if (limits.searching && (call.begin > limits.first_ticks + likely_run || call.result > greatest_result ||
                             (call.flags & ~known_flags) != 0))
        return false;
    return call.context < max_contexts;
}

bool stack_fits(stack_record const& stack, check_limits const& limits) {
    return stack.number != 0 && stack.count != 0 && stack.count <= max_stack_words &&
           has_length(stack_slots(stack.count), stack.slots, limits.searching);
}

bool module_fits(module_record const& module, check_limits const& limits) {
    return module.build_id_length <= sizeof module.build_id && module.begin < module.end && module.path_length != 0 &&
           has_length(1 + slots_for(module.path_length), module.slots, limits.searching);
}

bool text_fits(text_record const& text, check_limits const& limits) {
    auto const kind = static_cast<std::uint16_t>(text.kind);
    std::size_t const rest = text.length > sizeof text.text ? text.length - sizeof text.text : 0;
    return kind >= 1 && kind <= static_cast<std::uint16_t>(text_kind::note) && text.last <= 1 &&
           has_length(1 + slots_for(rest), text.slots, limits.searching);
}

bool phase_fits(phase_record const& record, check_limits const& limits) {
    auto const what = static_cast<std::uint16_t>(record.what);
    return record.slots == 1 && what >= 1 && what <= static_cast<std::uint16_t>(phase::python_finalized) &&
           is_time(record.at, limits.first_ticks);
}

bool range_fits(range_record const& range, check_limits const& limits) {
    std::size_t const rest = range.length > sizeof range.name ? range.length - sizeof range.name : 0;
    return range.end <= 1 && range.number != 0 && range.length <= range_name_capacity &&
           (range.end == 0 || range.length == 0) && range.context < max_contexts &&
           has_length(1 + slots_for(rest), range.slots, limits.searching) && is_time(range.at, limits.first_ticks);
}

bool nvtx_fits(nvtx_record const& said, check_limits const& limits) {
    std::size_t const rest = said.length > sizeof said.text ? said.length - sizeof said.text : 0;
    return said.action >= nvtx_action::mark && said.action <= nvtx_action::name &&
           said.payload_kind <= nvtx_payload::f64 && said.resource <= nvtx_resource::other && said.has_message <= 1 &&
           said.length <= nvtx_text_capacity && said.domain_length + said.category_length <= said.length &&
           said.context < max_contexts && has_length(1 + slots_for(rest), said.slots, limits.searching) &&
           is_time(said.at, limits.first_ticks);
}

bool python_fits(python_record const& frame, check_limits const& limits) {
    std::size_t const length = std::size_t{frame.function_length} + frame.file_length;
    std::size_t const rest = length > sizeof frame.text ? length - sizeof frame.text : 0;
    return frame.number != 0 && frame.line >= 0 && frame.function_length != 0 && length <= python_text_capacity &&
           has_length(1 + slots_for(rest), frame.slots, limits.searching);
}

bool content_fits(record_view record, check_limits const& limits) {
    switch (record.type()) {
        case record_type::call:
        case record_type::open:
        case record_type::close:
            return call_fits(record.call(), limits);
        case record_type::stack:
            return stack_fits(record.stack(), limits);
        case record_type::module:
            return module_fits(record.module(), limits);
        case record_type::text:
            return text_fits(record.text(), limits);
        case record_type::phase:
            return phase_fits(record.phase(), limits);
        case record_type::range:
            return range_fits(record.range(), limits);
        case record_type::nvtx:
            return nvtx_fits(record.nvtx(), limits);
        case record_type::python:
            return python_fits(record.python(), limits);
        case record_type::none:
            break;
    }
    return false;
}

}  // namespace

std::string_view record_view::module_path() const {
    return {reinterpret_cast<char const*>(bytes() + slot_size), module().path_length};
}

std::string_view record_view::range_name() const {
    return {reinterpret_cast<char const*>(bytes() + offsetof(range_record, name)), range().length};
}

std::string_view record_view::text_bytes() const {
    return {reinterpret_cast<char const*>(bytes() + offsetof(text_record, text)), text().length};
}

std::string_view record_view::nvtx_domain() const {
    return {reinterpret_cast<char const*>(bytes() + offsetof(nvtx_record, text)), nvtx().domain_length};
}

std::string_view record_view::nvtx_category() const {
    auto const domain = nvtx_domain();
    return {domain.data() + domain.size(), nvtx().category_length};
}

std::string_view record_view::nvtx_message() const {
    auto const category = nvtx_category();
    return {category.data() + category.size(),
            std::size_t{nvtx().length} - nvtx().domain_length - nvtx().category_length};
}

std::string_view record_view::python_function() const {
    return {reinterpret_cast<char const*>(bytes() + offsetof(python_record, text)), python().function_length};
}

std::string_view record_view::python_file() const {
    auto const function = python_function();
    return {function.data() + function.size(), python().file_length};
}

record_state check_record(record_view record, check_limits const& limits) {
    std::uint32_t const slots = record.slots();
    bool const known = record.type() != record_type::none && record.type() <= record_type::python;
    bool const inside = slots >= 1 && slots <= max_record_slots && record.slot + slots <= limits.committed;
    if (!known || !inside) return record_state::bad_length;
    if (content_fits(record, limits)) return record_state::good;
    return limits.searching ? record_state::bad_length : record_state::bad_content;
}

}  // namespace lastref::spool
