// Symbols of this very program: it is there, and its build id is known.
#include "analyzer/symbols/dwfl_source.h"
#include "analyzer/symbols/short_name.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lastref::symbols {

// Found by name in the tests below; not in an unnamed namespace, and never inlined.
__attribute__((noinline, noclone)) void* here_for_the_symbols_test() {
    return __builtin_return_address(0);
}

namespace {

namespace fs = std::filesystem;

std::uint64_t load_bias() {
    std::uint64_t bias = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
            *static_cast<std::uint64_t*>(out) = info->dlpi_addr;
            return 1;  // the first is the program itself
        },
        &bias);
    return bias;
}

std::string own_path() {
    return fs::read_symlink("/proc/self/exe").string();
}
std::uint64_t address_of(void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer) - load_bias();
}

TEST(dwfl_source, names_a_function_of_this_program) {
    dwfl_source source;
    auto const found = source.at(own_path(), "", address_of(reinterpret_cast<void*>(&here_for_the_symbols_test)));
    ASSERT_FALSE(found.empty());
    EXPECT_NE(found.back().function.find("here_for_the_symbols_test"), std::string::npos) << found.back().function;
    EXPECT_NE(found.back().function.find("lastref::symbols"), std::string::npos)
        << "not demangled: " << found.back().function;
    EXPECT_NE(found.back().file.find("symbols_test.cpp"), std::string::npos) << found.back().file;
    EXPECT_GT(found.back().line, 0);
    EXPECT_EQ(source.state(own_path(), ""), source_state::found);
}

// Its line is known to the test: the call below stands two lines after __LINE__.
TEST(dwfl_source, line_of_a_call) {
    dwfl_source source;
    int const line = __LINE__ + 1;
    auto* const after = here_for_the_symbols_test();
    auto const found = source.at(own_path(), "", address_of(after) - 1);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().line, line);
}

struct inlined_call {
    __attribute__((always_inline)) static void* make() { return here_for_the_symbols_test(); }
};

TEST(dwfl_source, inlined_functions_are_listed_innermost_first) {
    dwfl_source source;
    int const line = __LINE__ + 1;
    auto* const after = inlined_call::make();
    auto const found = source.at(own_path(), "", address_of(after) - 1);
    ASSERT_GE(found.size(), 2u);
    EXPECT_NE(found[0].function.find("make"), std::string::npos) << found[0].function;
    EXPECT_TRUE(found[0].inlined);
    EXPECT_NE(found[1].function.find("TestBody"), std::string::npos) << found[1].function;
    EXPECT_FALSE(found[1].inlined);
    EXPECT_EQ(found[1].line, line);
}

// Its name is put together from DWARF where it is inlined, and demangled where it is not: both name the function.
TEST(dwfl_source, lambda_is_named_by_its_function) {
    dwfl_source source;
    auto const inlined = []() __attribute__((always_inline)) {
        return here_for_the_symbols_test();
    };
    auto const out_of_line = []() __attribute__((noinline)) {
        auto* const after = here_for_the_symbols_test();
        asm volatile("" ::: "memory");  // no tail call
        return after;
    };
    for (auto* const after : {inlined(), out_of_line()}) {
        auto const found = source.at(own_path(), "", address_of(after) - 1);
        ASSERT_FALSE(found.empty());
        auto const& name = found.front().function;
        EXPECT_TRUE(name.ends_with("::{lambda}")) << name;
        EXPECT_NE(name.find("lambda_is_named_by_its_function_Test::TestBody"), std::string::npos) << name;
        EXPECT_NE(name.find("lastref::symbols::"), std::string::npos) << name;
    }
}

TEST(short_name, lambdas_of_every_compiler) {
    EXPECT_EQ(tidy_name("ns::f(int)::{lambda(int)#1}::operator()(int) const"), "ns::f(int)::{lambda}");
    EXPECT_EQ(tidy_name("ns::f(int)::<lambda(int)>"), "ns::f(int)::{lambda}");
    EXPECT_EQ(tidy_name("ns::f(int)::<lambda(int)>::operator()"), "ns::f(int)::{lambda}");
    EXPECT_EQ(tidy_name("ns::f(int)::$_0::operator()(int) const"), "ns::f(int)::{lambda}");
    EXPECT_EQ(tidy_name("main::'lambda'(int)::operator()(int) const"), "main::{lambda}");
    EXPECT_EQ(tidy_name("void run<main::{lambda()#1}>(main::{lambda()#1})"),
              "void run<main::{lambda()#1}>(main::{lambda()#1})");
    EXPECT_EQ(tidy_name("ns::callable::operator()(int) const"), "ns::callable::operator()(int) const");
    EXPECT_EQ(tidy_name("f()::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const"),
              "f()::{lambda}::{lambda}");
}

TEST(short_name, gives_up_what_costs_least) {
    constexpr auto name =
        "std::vector<int, std::allocator<int> > ns::outer<int, long>::make<float>(int, char const*) const";
    EXPECT_EQ(short_name(name, 200), name);
    EXPECT_EQ(short_name(name, 60), "ns::outer<int, long>::make<float>");
    EXPECT_EQ(short_name(name, 32), "ns::outer<…>::make<…>");
    EXPECT_EQ(short_name(name, 20), "…::outer<…>::make<…>");
    EXPECT_EQ(short_name(name, 12), "…::make<…>");
    EXPECT_EQ(short_name(name, 3), "…::make<…>") << "the function's own name is never cut";
}

TEST(short_name, keeps_the_function_of_a_lambda) {
    EXPECT_EQ(short_name("a_namespace::inner::work(int)::{lambda()#1}::operator()() const", 20), "…::work::{lambda}");
    EXPECT_EQ(short_name("a_namespace::on_worker<a_namespace::f(CUctx_st*)::<lambda()> >(CUctx_st*)::<lambda()>", 30),
              "…::on_worker<…>::{lambda}");
}

TEST(short_name, operators_and_other_oddities) {
    EXPECT_EQ(short_name("ns::value::operator<(ns::value const&) const", 20), "ns::value::operator<");
    EXPECT_EQ(short_name("ns::value::operator<< <int>(int)", 23), "…::value::operator<<<…>");
    EXPECT_EQ(short_name("ns::pointer::operator->() const", 24), "ns::pointer::operator->");
    EXPECT_EQ(short_name("ns::value::operator unsigned long() const", 36), "ns::value::operator unsigned long");
    EXPECT_EQ(short_name("ns::(anonymous namespace)::f(int)", 26), "ns::f");
    EXPECT_EQ(short_name("libcudart_static_0123456789abcdef", 10), "libcudart_static_0123456789abcdef");
    EXPECT_EQ(short_name("f(int) [clone .cold]", 8), "f");
    for (auto const* odd : {"", "::", "<<<", "f<(", ")", "a::b::", "'", "operator", "$_", "{lambda", "f()::{lambda(#"})
        for (std::size_t columns : {0u, 1u, 5u}) short_name(odd, columns);
}

TEST(dwfl_source, other_build_id_is_not_trusted) {
    dwfl_source source;
    auto const address = address_of(reinterpret_cast<void*>(&here_for_the_symbols_test));
    EXPECT_TRUE(source.at(own_path(), "00112233", address).empty());
    EXPECT_EQ(source.state(own_path(), "00112233"), source_state::other_build);
}

TEST(dwfl_source, files_that_are_no_help) {
    dwfl_source source;
    EXPECT_TRUE(source.at("/nowhere/lib.so", "", 0x1000).empty());
    EXPECT_EQ(source.state("/nowhere/lib.so", ""), source_state::missing);
    EXPECT_EQ(source.state("/dev/zero", ""), source_state::missing);
    EXPECT_EQ(source.state("", ""), source_state::missing);
    auto const text = fs::path(::testing::TempDir()) / "no_elf.so";
    std::ofstream(text) << "not an ELF file";
    EXPECT_EQ(source.state(text, ""), source_state::unreadable);
    EXPECT_TRUE(source.at(text, "", 0).empty());
    fs::remove(text);
}

TEST(dwfl_source, address_outside_of_everything) {
    dwfl_source source;
    EXPECT_TRUE(source.at(own_path(), "", 0xffffffffffff0000).empty());
}

TEST(dwfl_source, library_without_debug_information_has_function_names) {
    dwfl_source source;
    Dl_info info{};
    ASSERT_NE(dladdr(reinterpret_cast<void*>(&std::abort), &info), 0);
    auto const offset =
        reinterpret_cast<std::uint64_t>(info.dli_saddr) - reinterpret_cast<std::uint64_t>(info.dli_fbase);
    auto const found = source.at(fs::canonical(info.dli_fname).string(), "", offset);
    ASSERT_FALSE(found.empty()) << info.dli_fname;
    EXPECT_NE(found.back().function.find("abort"), std::string::npos) << found.back().function;
}

}  // namespace
}  // namespace lastref::symbols
