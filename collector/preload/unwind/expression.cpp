#include "collector/preload/unwind/expression.h"

#include <utility>

#include "collector/preload/arch/frame.h"

namespace lastref::unwind {
namespace {

namespace arch = preload::arch;

// DWARF 5, 7.7.1. Only what evaluates here.
enum operation : std::uint8_t {
    op_deref = 0x06,
    op_const1u = 0x08,
    op_const1s = 0x09,
    op_const2u = 0x0a,
    op_const2s = 0x0b,
    op_const4u = 0x0c,
    op_const4s = 0x0d,
    op_const8u = 0x0e,
    op_const8s = 0x0f,
    op_constu = 0x10,
    op_consts = 0x11,
    op_dup = 0x12,
    op_and = 0x1a,
    op_minus = 0x1c,
    op_plus = 0x22,
    op_plus_uconst = 0x23,
    op_shl = 0x24,
    op_ge = 0x2a,
    op_lit0 = 0x30,
    op_breg0 = 0x70,
    op_nop = 0x96,
};

std::int64_t add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t negated(std::int64_t a) {
    return add(~a, 1);
}

class evaluation {
  public:
    evaluation(reader bytes, std::uintptr_t pc) : bytes_(bytes), pc_(pc) {}

    void push(symbolic value) {
        if (depth_ == capacity)
            bytes_.fail();
        else
            stack_[depth_++] = value;
    }
    symbolic result() {
        while (bytes_.ok() && !bytes_.done()) step(bytes_.u8());
        return bytes_.ok() && depth_ > 0 ? stack_[depth_ - 1] : symbolic{};
    }

  private:
    static constexpr int capacity = 8;

    symbolic pop() {
        if (depth_ == 0) {
            bytes_.fail();
            return {};
        }
        return stack_[--depth_];
    }

    void step(std::uint8_t code) {
        if (code >= op_lit0 && code < op_lit0 + 32) return push(symbolic::constant(code - op_lit0));
        if (code >= op_breg0 && code < op_breg0 + 32) return push(in_register(code - op_breg0, bytes_.sleb()));
        switch (code) {
            case op_const1u:
                return push(symbolic::constant(bytes_.u8()));
            case op_const1s:
                return push(symbolic::constant(bytes_.number<std::int8_t>()));
            case op_const2u:
                return push(symbolic::constant(bytes_.number<std::uint16_t>()));
            case op_const2s:
                return push(symbolic::constant(bytes_.number<std::int16_t>()));
            case op_const4u:
                return push(symbolic::constant(bytes_.number<std::uint32_t>()));
            case op_const4s:
                return push(symbolic::constant(bytes_.number<std::int32_t>()));
            case op_const8u:
            case op_const8s:
                return push(symbolic::constant(bytes_.number<std::int64_t>()));
            case op_constu:
                return push(symbolic::constant(static_cast<std::int64_t>(bytes_.uleb())));
            case op_consts:
                return push(symbolic::constant(bytes_.sleb()));
            case op_plus_uconst:
                return push(sum(pop(), symbolic::constant(static_cast<std::int64_t>(bytes_.uleb()))));
            case op_dup:
                return duplicate();
            case op_deref:
                return push(loaded(pop()));
            case op_plus:
            case op_minus:
            case op_and:
            case op_shl:
            case op_ge:
                return binary(code);
            case op_nop:
                return;
            default:
                bytes_.fail();
        }
    }

    symbolic in_register(int number, std::int64_t offset) const {
        if (number == arch::dwarf_stack_pointer) return symbolic::sum(base::stack_pointer, offset);
        if (number == arch::dwarf_frame_pointer) return symbolic::sum(base::frame_pointer, offset);
        if (number == arch::dwarf_return_address)
            return symbolic::constant(add(static_cast<std::int64_t>(pc_), offset));
        return {};
    }

    void duplicate() {
        symbolic const top = pop();
        push(top);
        push(top);
    }

    static symbolic loaded(symbolic address) {
        return address.is == symbolic::form::sum ? symbolic{symbolic::form::loaded, address.from, address.offset}
                                                 : symbolic{};
    }

    static symbolic sum(symbolic a, symbolic b) {
        if (a.is == symbolic::form::constant) std::swap(a, b);
        if (b.is != symbolic::form::constant) return {};
        if (a.is != symbolic::form::constant && a.is != symbolic::form::sum) return {};
        a.offset = add(a.offset, b.offset);
        return a;
    }

    void binary(std::uint8_t code) {
        symbolic const b = pop();
        symbolic const a = pop();
        if (code == op_plus) return push(sum(a, b));
        if (b.is != symbolic::form::constant) return push({});
        if (code == op_minus) return push(sum(a, symbolic::constant(negated(b.offset))));
        if (a.is != symbolic::form::constant) return push({});
        push(symbolic::constant(computed(code, a.offset, b.offset)));
    }

    static std::int64_t computed(std::uint8_t code, std::int64_t a, std::int64_t b) {
        if (code == op_and) return a & b;
        if (code == op_ge) return a >= b;
        return b < 0 || b > 63 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
    }

    reader bytes_;
    std::uintptr_t pc_;
    symbolic stack_[capacity];
    int depth_ = 0;
};

}  // namespace

symbolic evaluate(reader expression, std::uintptr_t pc, bool with_cfa) {
    evaluation running(expression, pc);
    if (with_cfa) running.push(symbolic::sum(base::cfa, 0));
    return running.result();
}

}  // namespace lastref::unwind
