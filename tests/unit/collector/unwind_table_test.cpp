// Reading unwind tables: what rules are made of them, and that damaged ones do no harm.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <random>
#include <thread>

#include "collector/preload/unwind/cfa_program.h"
#include "collector/preload/unwind/eh_frame.h"
#include "collector/preload/unwind/rule_cache.h"
#include "collector/preload/unwind/walk.h"
#include "tests/unit/collector/unwind_image.h"

namespace lastref::unwind::test {
namespace {

reader over(bytes const& content) {
    return {content.data(), content.data() + content.size()};
}

// --- numbers

TEST(UnwindReader, ReadsVariableLengths) {
    EXPECT_EQ(over({0xe5, 0x8e, 0x26}).uleb(), 624485u);
    EXPECT_EQ(over({0xc0, 0xbb, 0x78}).sleb(), -123456);
    EXPECT_EQ(over({0x7f}).sleb(), -1);
    EXPECT_EQ(over({0x3f}).sleb(), 63);
}

TEST(UnwindReader, StopsAtTheEnd) {
    bytes const content{0x80, 0x80};
    reader cut = over(content);
    EXPECT_EQ(cut.uleb(), 0u);
    EXPECT_FALSE(cut.ok());
    bytes const all_set(30, 0xff);
    reader endless = over(all_set);
    endless.sleb();
    EXPECT_FALSE(endless.ok());
    reader part = over(content);
    EXPECT_FALSE(part.part(3).ok());
    EXPECT_FALSE(part.ok());
}

// --- expressions

bytes const plt{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};

TEST(UnwindExpression, KnowsTheLinkageTable) {
    for (std::uintptr_t pc = 0x1000; pc < 0x1020; ++pc) {
        auto const cfa = evaluate(over(plt), pc, false);
        EXPECT_EQ(cfa.is, symbolic::form::sum);
        EXPECT_EQ(cfa.from, base::stack_pointer);
        EXPECT_EQ(cfa.offset, (pc & 15) >= 11 ? 16 : 8);
    }
}

TEST(UnwindExpression, KnowsWhatIsLoaded) {
    auto const cfa = evaluate(over({0x76, 0x78, 0x06}), 0, false);
    EXPECT_EQ(cfa.is, symbolic::form::loaded);
    EXPECT_EQ(cfa.from, base::frame_pointer);
    EXPECT_EQ(cfa.offset, -8);
    auto const place = evaluate(over({0x23, 24}), 0, true);
    EXPECT_EQ(place.is, symbolic::form::sum);
    EXPECT_EQ(place.from, base::cfa);
    EXPECT_EQ(place.offset, 24);
}

TEST(UnwindExpression, SaysWhatItDoesNotKnow) {
    EXPECT_EQ(evaluate(over({0x73, 8}), 0, false).is, symbolic::form::unknown);              // another register
    EXPECT_EQ(evaluate(over({0x76, 0, 0x06, 0x06}), 0, false).is, symbolic::form::unknown);  // loaded twice
    EXPECT_EQ(evaluate(over({0x22}), 0, false).is, symbolic::form::unknown);                 // nothing to add
    EXPECT_EQ(evaluate(over({0x2f, 0xfd, 0xff}), 0, false).is, symbolic::form::unknown);     // a loop
    EXPECT_EQ(evaluate(over({}), 0, false).is, symbolic::form::unknown);
    EXPECT_EQ(evaluate(over(bytes(40, 0x31)), 0, false).is, symbolic::form::unknown);  // too many on its stack
}

// --- rules

constexpr std::uint32_t begin = 0x100, length = 0x80;

rule rule_of(bytes const& program, std::uint32_t at) {
    image const made({{begin, length, program}});
    loaded_object object;
    if (!object.find(image::find, made.text() + begin)) return rule::of(rule_kind::not_simple);
    return read_rule(object, made.text() + begin + at).what;
}

void expect_cfa(rule const& found, bool from_frame, std::int64_t words) {
    EXPECT_EQ(found.kind, rule_kind::caller);
    EXPECT_EQ(found.cfa_from_frame != 0, from_frame);
    EXPECT_EQ(found.cfa_offset, words);
    EXPECT_EQ(found.ra_base, base::cfa);
    EXPECT_EQ(found.ra_offset, -1);
}

// push %rbp; mov %rsp, %rbp; …; leave
bytes const with_frame_pointer{0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x40, 0x0c, 7, 8};

TEST(UnwindTable, FollowsAFunctionFromItsBeginToItsEnd) {
    expect_cfa(rule_of(with_frame_pointer, 0), false, 1);
    EXPECT_FALSE(rule_of(with_frame_pointer, 0).fp_saved);
    expect_cfa(rule_of(with_frame_pointer, 1), false, 2);
    EXPECT_TRUE(rule_of(with_frame_pointer, 1).fp_saved);
    EXPECT_EQ(rule_of(with_frame_pointer, 1).fp_offset, -2);
    expect_cfa(rule_of(with_frame_pointer, 3), false, 2);
    expect_cfa(rule_of(with_frame_pointer, 4), true, 2);
    expect_cfa(rule_of(with_frame_pointer, 0x43), true, 2);
    expect_cfa(rule_of(with_frame_pointer, 0x44), false, 1);
}

TEST(UnwindTable, RemembersAndRestores) {
    // offset 32, remember, offset 8 with rbp restored, restore
    bytes const program{0x0e, 32, 0x86, 3, 0x44, 0x0a, 0x0e, 8, 0xc6, 0x44, 0x0b};
    expect_cfa(rule_of(program, 0), false, 4);
    expect_cfa(rule_of(program, 4), false, 1);
    EXPECT_FALSE(rule_of(program, 4).fp_saved);
    expect_cfa(rule_of(program, 8), false, 4);
    EXPECT_TRUE(rule_of(program, 8).fp_saved);
}

TEST(UnwindTable, KnowsTheOutermostFrame) {
    EXPECT_EQ(rule_of({0x07, 16}, 0).kind, rule_kind::outermost);
}

TEST(UnwindTable, EndsBehindAFunction) {
    EXPECT_EQ(rule_of({}, length - 1).kind, rule_kind::caller);
    EXPECT_EQ(rule_of({}, length).kind, rule_kind::outermost);
}

TEST(UnwindTable, LeavesWhatARuleCannotSay) {
    EXPECT_EQ(rule_of({0x0d, 3}, 0).kind, rule_kind::not_simple);        // CFA in rbx
    EXPECT_EQ(rule_of({0x0e, 12}, 0).kind, rule_kind::not_simple);       // not in words
    EXPECT_EQ(rule_of({0x09, 16, 1}, 0).kind, rule_kind::not_simple);    // return address in a register
    EXPECT_EQ(rule_of({0x08, 16}, 0).kind, rule_kind::not_simple);       // or not saved at all
    EXPECT_EQ(rule_of({0x14, 6, 2}, 0).kind, rule_kind::not_simple);     // rbp computed
    EXPECT_EQ(rule_of({0x87, 3}, 0).kind, rule_kind::not_simple);        // another stack pointer than the CFA
    EXPECT_EQ(rule_of({0x0b}, 0).kind, rule_kind::not_simple);           // nothing remembered
    EXPECT_EQ(rule_of({0x3f}, 0).kind, rule_kind::not_simple);           // no such instruction
    EXPECT_EQ(rule_of(bytes(40, 0x0a), 0).kind, rule_kind::not_simple);  // too much remembered
    EXPECT_EQ(rule_of({0x0f, 2, 0x77, 8, 0x0e, 16}, 0).kind, rule_kind::not_simple);  // an offset without a register
}

TEST(UnwindTable, FindsHeadersThatWereMoved) {
    for (std::size_t const off : {0, 8}) {
        image made({{begin, length, with_frame_pointer}});
        made.move_headers(off);
        for (int round = 0; round < 2; ++round) {
            loaded_object object;
            EXPECT_EQ(object.find(image::find, made.text() + begin), off == 0);
            if (off == 0) expect_cfa(read_rule(object, made.text() + begin + 4).what, true, 2);
        }
    }
}

TEST(UnwindTable, DoesNotTouchMovedHeadersThatAreNotMapped) {
    image made({{begin, length, with_frame_pointer}});
    made.move_headers(0);
    mprotect(made.begin() + 2 * image::page, image::page, PROT_NONE);
    made.begin()[offsetof(Elf64_Ehdr, e_shoff)] = 77;  // not seen before
    loaded_object object;
    EXPECT_FALSE(object.find(image::find, made.text() + begin));
}

TEST(UnwindTable, AProofNamesWhatWasRead) {
    image const made({{begin, length, with_frame_pointer}, {0x200, length, {0x0e, 32}}});
    loaded_object object;
    std::uintptr_t const pc = made.text() + begin + 4;
    ASSERT_TRUE(object.find(image::find, pc));
    auto const found = read_rule(object, pc);
    EXPECT_GT(found.why.length, 0);
    EXPECT_TRUE(still_proved(object, pc, found.why));
    // Any change of the table's pointer, of the CIE and of the FDE as far as it was read takes the proof away.
    std::size_t const header = 12, entry = header + 8, second = entry + 8;
    int kept = 0;
    for (std::size_t i = header + 4; i < second + 24 + 24; ++i) {
        if (i >= entry && i < second) continue;  // of the other function
        std::uint8_t& byte = made.begin()[made.tables_offset() + i];
        byte ^= 0x10;
        kept += object.find(image::find, pc) && still_proved(object, pc, found.why);
        byte ^= 0x10;
    }
    EXPECT_EQ(kept, 0);
    EXPECT_TRUE(object.find(image::find, pc) && still_proved(object, pc, found.why));
}

// --- walks

// The first frame is left by the second function's rule; the second has a frame pointer, which leads back
// into the first or on to the end of the stack.
TEST(UnwindWalk, NeverGoesBack) {
    image const made({{begin, length, with_frame_pointer}, {0x200, length, {0x0e, 32}}});
    std::uintptr_t const in_first = made.text() + begin + 5, in_second = made.text() + 0x205;
    std::uintptr_t words[8] = {1, in_second, 3, in_first, 0, 0, 0, 0};
    auto const at = reinterpret_cast<std::uintptr_t>(words);
    thread_stack const stack{at, at + sizeof words, 0};
    for (std::uintptr_t const frame : {0, 4}) {
        std::uintptr_t addresses[8], places[8];
        found_frames found{addresses, places, 8};
        auto const result = walk(image::find, stack, {in_second, 0, at, at + 8 * frame}, found);
        EXPECT_EQ(result, frame == 0 ? outcome::not_simple : outcome::whole);
        EXPECT_EQ(found.count, 2u);
        EXPECT_EQ(addresses[1], in_first);
        EXPECT_EQ(places[1], at + 24);
    }
}

// --- damage

std::vector<function> sound_functions() {
    std::vector<function> made;
    bytes const programs[] = {with_frame_pointer,
                              {0x0e, 32, 0x86, 3, 0x44, 0x0a, 0x0e, 8, 0xc6, 0x44, 0x0b},
                              {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22},
                              {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0},
                              {0x07, 16},
                              {0x2e, 16, 0x16, 3, 2, 0x76, 0, 0x11, 6, 0x7e, 0x13, 0x7e}};
    for (std::uint32_t i = 0; i < 60; ++i) made.push_back({i * 64, 60, programs[i % 6]});
    return made;
}

// A stack between pages that cannot be read.
class guarded_stack {
  public:
    guarded_stack() {
        memory_ = static_cast<std::uint8_t*>(
            mmap(nullptr, size + 2 * image::page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(memory_ + image::page, size, PROT_READ | PROT_WRITE);
    }
    ~guarded_stack() { munmap(memory_, size + 2 * image::page); }
    std::uintptr_t* words() const { return reinterpret_cast<std::uintptr_t*>(memory_ + image::page); }
    thread_stack bounds() const {
        auto const begin_of = reinterpret_cast<std::uintptr_t>(words());
        return {begin_of, begin_of + size, 0};
    }
    static constexpr std::size_t size = 2 * image::page;

  private:
    std::uint8_t* memory_;
};

class Damage : public testing::Test {
  protected:
    std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
    std::uintptr_t any_pc(image const& in) { return in.text() + below(64 * 64); }

    void fill(guarded_stack const& stack, image const& in) {
        for (std::size_t i = 0; i < stack.size / sizeof(std::uintptr_t); ++i) {
            auto const inside = stack.bounds().begin + below(stack.size);
            stack.words()[i] = below(3) == 0 ? inside & ~7ull : below(8) == 0 ? random_() : any_pc(in);
        }
    }

    // Everything that reads tables, on whatever is there now.
    void use(image const& in, guarded_stack const& stack) {
        std::uintptr_t const pc = any_pc(in);
        loaded_object object;
        if (object.find(image::find, pc)) {
            still_proved(object, pc, {below(100), below(200) & 0xff, 0});
            auto const found = read_rule(object, pc);
            EXPECT_TRUE(found.why.length == 0 || still_proved(object, pc, found.why));
        }
        std::uintptr_t addresses[64], places[64];
        found_frames frames{addresses, places, 64};
        std::uintptr_t const at = stack.bounds().begin + 8 * below(stack.size / 8);
        walk(image::find, stack.bounds(), {any_pc(in), at, at, at + 8 * below(50)}, frames);
        steps_ += frames.count;
    }

    std::mt19937_64 random_{20};
    std::uint64_t steps_ = 0;
};

TEST_F(Damage, OfSomeBytesDoesNoHarm) {
    image const made(sound_functions());
    bytes const sound(made.begin(), made.begin() + made.size());
    guarded_stack const stack;
    fill(stack, made);
    for (int i = 0; i < 60000; ++i) {
        std::size_t const from = i % 8 == 0 ? 0 : made.tables_offset();  // sometimes the file's headers too
        for (auto n = below(6); n-- > 0;)
            made.begin()[from + below(made.size() - from)] = static_cast<std::uint8_t>(random_());
        use(made, stack);
        if (i % 4 == 0) std::copy(sound.begin(), sound.end(), made.begin());
    }
    EXPECT_GT(steps_, 60000u);  // some walks get somewhere
}

TEST_F(Damage, OfAllBytesDoesNoHarm) {
    image const made(sound_functions());
    guarded_stack const stack;
    fill(stack, made);
    for (int i = 0; i < 4000; ++i) {
        // The header of the table stays, or nothing would be read; entries point somewhere near.
        std::uint8_t* const tables = made.begin() + made.tables_offset();
        for (std::size_t at = 12 + 60 * 8; at < made.size() - made.tables_offset(); ++at)
            tables[at] = static_cast<std::uint8_t>(below(3) == 0 ? below(32) : random_());
        for (int n = 0; n < 20; ++n) use(made, stack);
    }
}

TEST_F(Damage, OfExpressionsDoesNoHarm) {
    for (int i = 0; i < 100000; ++i) {
        bytes content(below(24));
        for (auto& byte : content) byte = below(2) == 0 ? static_cast<std::uint8_t>(random_()) : plt[below(plt.size())];
        evaluate(over(content), random_(), below(2) == 0);
    }
}

TEST_F(Damage, OfTheStackDoesNoHarm) {
    image const made(sound_functions());
    guarded_stack const stack;
    for (int i = 0; i < 200; ++i) {
        fill(stack, made);
        for (int n = 0; n < 50; ++n) use(made, stack);
    }
}

// --- the cache

proved_rule made_for(std::uintptr_t pc) {
    return {rule::from_word(pc * 3), {pc & 0xffffffff, (pc % 200 + 1) & 0xff, (pc >> 3) & 0xffffff}};
}

TEST(UnwindCache, GivesBackWhatItKeeps) {
    rule_cache::clear();
    proved_rule found;
    EXPECT_FALSE(rule_cache::find(0x1234, found));
    rule_cache::keep(0x1234, made_for(0x1234));
    ASSERT_TRUE(rule_cache::find(0x1234, found));
    EXPECT_EQ(found.what, made_for(0x1234).what);
    EXPECT_EQ(found.why, made_for(0x1234).why);
    rule_cache::keep(0x5678, {made_for(1).what, {0, 0, 0}});  // without proof
    EXPECT_FALSE(rule_cache::find(0x5678, found));
    rule_cache::clear();
}

// Program counters that share one line of the cache: they drive each other out.
std::vector<std::uintptr_t> rivals() {
    constexpr std::uintptr_t first = 0x400000;
    std::vector<std::uintptr_t> found{first};
    rule_cache::clear();
    for (std::uintptr_t pc = first + 5; found.size() < 5; pc += 5) {
        proved_rule unused;
        if (!rule_cache::find(first, unused)) rule_cache::keep(first, made_for(first));
        rule_cache::keep(pc, made_for(pc));
        if (!rule_cache::find(first, unused)) found.push_back(pc);
    }
    return found;
}

TEST(UnwindCache, ShowsNoHalfEntryToOtherThreads) {
    auto const counters = rivals();
    std::atomic<std::uint64_t> met{0}, torn{0};
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < 4; ++seed) {
        threads.emplace_back([&, seed] {
            std::mt19937 random(seed);
            for (int i = 0; i < 2000000; ++i) {
                std::uintptr_t const pc = counters[random() % counters.size()];
                proved_rule found;
                if (!rule_cache::find(pc, found)) {
                    rule_cache::keep(pc, made_for(pc));
                    continue;
                }
                ++met;
                torn += !(found.what == made_for(pc).what) || !(found.why == made_for(pc).why);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_GT(met, 1000u);
    EXPECT_EQ(torn, 0u);
    rule_cache::clear();
}

}  // namespace
}  // namespace lastref::unwind::test
