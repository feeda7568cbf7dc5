#include "collector/preload/unwind/cfa_program.h"

#include "collector/preload/arch/frame.h"

namespace lastref::unwind {
namespace {

namespace arch = preload::arch;

// DWARF 5, 7.24, and the GNU extensions that gcc writes. The upper two bits of the first three are the operation, the
// rest its operand.
enum instruction : std::uint8_t {
    cfa_advance_loc = 0x40,
    cfa_offset = 0x80,
    cfa_restore = 0xc0,
    cfa_nop = 0x00,
    cfa_set_loc = 0x01,
    cfa_advance_loc1 = 0x02,
    cfa_advance_loc2 = 0x03,
    cfa_advance_loc4 = 0x04,
    cfa_offset_extended = 0x05,
    cfa_restore_extended = 0x06,
    cfa_undefined = 0x07,
    cfa_same_value = 0x08,
    cfa_register = 0x09,
    cfa_remember_state = 0x0a,
    cfa_restore_state = 0x0b,
    cfa_def_cfa = 0x0c,
    cfa_def_cfa_register = 0x0d,
    cfa_def_cfa_offset = 0x0e,
    cfa_def_cfa_expression = 0x0f,
    cfa_expression = 0x10,
    cfa_offset_extended_sf = 0x11,
    cfa_def_cfa_sf = 0x12,
    cfa_def_cfa_offset_sf = 0x13,
    cfa_val_offset = 0x14,
    cfa_val_offset_sf = 0x15,
    cfa_val_expression = 0x16,
    cfa_gnu_args_size = 0x2e,
    cfa_gnu_negative_offset_extended = 0x2f,
};

// Where a register's value of the caller is.
struct saved {
    enum class how : std::uint8_t { unchanged, undefined, at, other };
    how is = how::unchanged;
    base from = base::cfa;
    std::int64_t offset = 0;
};

// The registers that matter; what is said of others is read and dropped.
struct row {
    bool cfa_known = false;  // by register and offset
    std::uint64_t cfa_register = 0;
    std::int64_t cfa_offset = 0;
    symbolic cfa_expression;  // where it is not
    saved frame_pointer, stack_pointer, return_address;
};

std::int64_t times(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

class machine {
  public:
    machine(common_information const& common, std::uintptr_t pc) : common_(common), pc_(pc) {}

    // True if all of it could be read.
    bool run(reader program, std::uintptr_t begin) {
        location_ = begin;
        while (program.ok() && !program.done() && location_ <= pc_) step(program);
        used_ = program.at();
        return program.ok() && understood_;
    }
    void end_of_common() { initial_ = now_; }
    row const& result() const { return now_; }
    std::uint8_t const* used() const { return used_; }

  private:
    static constexpr int capacity = 8;

    void step(reader& program) {
        std::uint8_t const code = program.u8();
        std::uint64_t const operand = code & 0x3f;
        switch (code & 0xc0) {
            case cfa_advance_loc:
                return advance(operand);
            case cfa_offset:
                return set(operand, at_cfa(factored(program.uleb())));
            case cfa_restore:
                return restore(operand);
            default:
                break;
        }
        if (!location_step(code, program) && !register_step(code, program) && !cfa_step(code, program) &&
            !state_step(code, program))
            program.fail();
    }

    bool location_step(std::uint8_t code, reader& program) {
        switch (code) {
            case cfa_nop:
                return true;
            case cfa_set_loc:
                location_ = encoded_pointer(program, common_.pointer_encoding);
                return true;
            case cfa_advance_loc1:
                advance(program.u8());
                return true;
            case cfa_advance_loc2:
                advance(program.number<std::uint16_t>());
                return true;
            case cfa_advance_loc4:
                advance(program.number<std::uint32_t>());
                return true;
            default:
                return false;
        }
    }

    bool register_step(std::uint8_t code, reader& program) {
        if (code < cfa_offset_extended ||
            (code > cfa_register && code != cfa_expression && code != cfa_offset_extended_sf && code < cfa_val_offset))
            return false;
        if (code > cfa_val_expression && code != cfa_gnu_negative_offset_extended) return false;
        std::uint64_t const number = program.uleb();
        switch (code) {
            case cfa_offset_extended:
                set(number, at_cfa(factored(program.uleb())));
                break;
            case cfa_offset_extended_sf:
                set(number, at_cfa(times(program.sleb(), common_.data_factor)));
                break;
            case cfa_gnu_negative_offset_extended:
                set(number, at_cfa(-factored(program.uleb())));
                break;
            case cfa_restore_extended:
                restore(number);
                break;
            case cfa_undefined:
                set(number, {saved::how::undefined, base::cfa, 0});
                break;
            case cfa_same_value:
                set(number, {});
                break;
            case cfa_expression:
                set(number, at_expression(block(program)));
                break;
            case cfa_val_expression:
                block(program);
                set(number, {saved::how::other, base::cfa, 0});
                break;
            default:  // register, val_offset, val_offset_sf: their operand is read past, the value is not followed
                program.uleb();
                set(number, {saved::how::other, base::cfa, 0});
        }
        return true;
    }

    bool cfa_step(std::uint8_t code, reader& program) {
        switch (code) {
            case cfa_def_cfa:
            case cfa_def_cfa_sf:
                now_.cfa_register = program.uleb();
                break;
            case cfa_def_cfa_register:
                now_.cfa_register = program.uleb();
                return needs_known();
            case cfa_def_cfa_offset:
            case cfa_def_cfa_offset_sf:
                needs_known();
                break;
            case cfa_def_cfa_expression:
                now_.cfa_known = false;
                now_.cfa_expression = evaluate(block(program), pc_, false);
                return true;
            default:
                return false;
        }
        now_.cfa_known = true;
        bool const is_signed = code == cfa_def_cfa_sf || code == cfa_def_cfa_offset_sf;
        now_.cfa_offset =
            is_signed ? times(program.sleb(), common_.data_factor) : static_cast<std::int64_t>(program.uleb());
        return true;
    }

    bool state_step(std::uint8_t code, reader& program) {
        switch (code) {
            case cfa_remember_state:
                if (depth_ == capacity) return false;
                remembered_[depth_++] = now_;
                return true;
            case cfa_restore_state:
                if (depth_ == 0) return false;
                now_ = remembered_[--depth_];
                return true;
            case cfa_gnu_args_size:
                program.uleb();
                return true;
            default:
                return false;
        }
    }

    static reader block(reader& program) { return program.part(program.uleb()); }

    // To change only the register or only the offset needs a CFA made of both (DWARF 5, 6.4.2.2).
    bool needs_known() {
        if (!now_.cfa_known) understood_ = false;
        return true;
    }

    void advance(std::uint64_t delta) {
        std::uint64_t const step = delta * common_.code_factor;
        location_ = location_ + step < location_ ? ~std::uintptr_t{0} : location_ + step;
    }

    std::int64_t factored(std::uint64_t value) const {
        return times(static_cast<std::int64_t>(value), common_.data_factor);
    }
    static saved at_cfa(std::int64_t offset) { return {saved::how::at, base::cfa, offset}; }
    saved at_expression(reader expression) const {
        symbolic const address = evaluate(expression, pc_, true);
        if (address.is != symbolic::form::sum) return {saved::how::other, base::cfa, 0};
        return {saved::how::at, address.from, address.offset};
    }

    saved* find(row& in, std::uint64_t number) const {
        if (number == common_.return_address_column) return &in.return_address;
        if (number == arch::dwarf_frame_pointer) return &in.frame_pointer;
        return number == arch::dwarf_stack_pointer ? &in.stack_pointer : nullptr;
    }
    void set(std::uint64_t number, saved value) {
        if (saved* const place = find(now_, number)) *place = value;
    }
    void restore(std::uint64_t number) {
        if (saved const* const place = find(initial_, number)) set(number, *place);
    }

    common_information const& common_;
    std::uintptr_t pc_;
    std::uintptr_t location_ = 0;
    row now_;
    row initial_;
    row remembered_[capacity];
    int depth_ = 0;
    bool understood_ = true;
    std::uint8_t const* used_ = nullptr;
};

bool in_words(std::int64_t offset, int bits) {
    std::int64_t const limit = std::int64_t{1} << (bits - 1);
    constexpr auto word = static_cast<std::int64_t>(arch::stack_word);
    return offset % word == 0 && offset / word >= -limit && offset / word < limit;
}
std::int64_t words(std::int64_t offset) {
    return offset / static_cast<std::int64_t>(arch::stack_word);
}

bool reduce_cfa(row const& from, rule& to) {
    symbolic cfa = from.cfa_expression;
    if (from.cfa_known) {
        bool const from_frame = from.cfa_register == arch::dwarf_frame_pointer;
        if (!from_frame && from.cfa_register != arch::dwarf_stack_pointer) return false;
        cfa = symbolic::sum(from_frame ? base::frame_pointer : base::stack_pointer, from.cfa_offset);
    }
    if ((cfa.is != symbolic::form::sum && cfa.is != symbolic::form::loaded) || cfa.from == base::cfa) return false;
    if (!in_words(cfa.offset, 22)) return false;
    to.cfa_from_frame = cfa.from == base::frame_pointer;
    to.cfa_loaded = cfa.is == symbolic::form::loaded;
    to.set_cfa_offset(words(cfa.offset));
    return true;
}

// The caller's stack pointer is the CFA, unless a table says otherwise; that of a signal frame says the same twice.
bool stack_pointer_is_cfa(row const& from, rule const& to) {
    saved const& sp = from.stack_pointer;
    if (sp.is == saved::how::unchanged) return true;
    return sp.is == saved::how::at && to.cfa_loaded && in_words(sp.offset, 22) && words(sp.offset) == to.cfa_offset &&
           sp.from == (to.cfa_from_frame ? base::frame_pointer : base::stack_pointer);
}

bool reduce_frame_pointer(row const& from, rule& to) {
    saved const& fp = from.frame_pointer;
    if (fp.is == saved::how::unchanged || fp.is == saved::how::undefined) return true;
    if (fp.is != saved::how::at || !in_words(fp.offset, 16)) return false;
    to.fp_saved = 1;
    to.fp_base = fp.from;
    to.set_fp_offset(words(fp.offset));
    return true;
}

rule reduce(row const& from, bool signal) {
    rule made = rule::of(rule_kind::caller);
    saved const& ra = from.return_address;
    if (ra.is == saved::how::undefined) return rule::of(rule_kind::outermost);
    if (ra.is != saved::how::at || !in_words(ra.offset, 16)) return rule::of(rule_kind::not_simple);
    made.ra_base = ra.from;
    made.set_ra_offset(words(ra.offset));
    made.signal = signal;
    bool const simple = reduce_cfa(from, made) && stack_pointer_is_cfa(from, made) && reduce_frame_pointer(from, made);
    return simple ? made : rule::of(rule_kind::not_simple);
}

}  // namespace

// The encodings are in the Linux Standard Base, 10.5.1.
std::uint64_t encoded_pointer(reader& bytes, std::uint8_t encoding) {
    auto const place = reinterpret_cast<std::uintptr_t>(bytes.at());
    std::uint64_t value = 0;
    switch (encoding & 0x0f) {
        case 0x00:
        case 0x04:
        case 0x0c:
            value = bytes.number<std::uint64_t>();
            break;
        case 0x01:
            value = bytes.uleb();
            break;
        case 0x02:
            value = bytes.number<std::uint16_t>();
            break;
        case 0x03:
            value = bytes.number<std::uint32_t>();
            break;
        case 0x09:
            value = static_cast<std::uint64_t>(bytes.sleb());
            break;
        case 0x0a:
            value = static_cast<std::uint64_t>(bytes.number<std::int16_t>());
            break;
        case 0x0b:
            value = static_cast<std::uint64_t>(bytes.number<std::int32_t>());
            break;
        default:
            bytes.fail();
    }
    if ((encoding & 0xf0) == 0x10)
        value += place;
    else if ((encoding & 0xf0) != 0)
        bytes.fail();
    return value;
}

rule run_programs(common_information const& common, reader program, std::uintptr_t begin, std::uintptr_t pc,
                  std::uint8_t const*& used) {
    machine running(common, pc);
    bool understood = running.run(common.program, begin);
    running.end_of_common();
    understood = understood && running.run(program, begin);
    used = running.used();
    return understood ? reduce(running.result(), common.signal) : rule::of(rule_kind::not_simple);
}

}  // namespace lastref::unwind
