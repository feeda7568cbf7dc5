#include "collector/drain/elf_check.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "spool_writer.h"

namespace lastref::drain {
namespace {

struct elf_check_test : testing::Test {
    test::temporary_folder folder;

    std::filesystem::path write(std::string const& name, std::string const& bytes, bool executable = true) {
        auto const path = folder / name;
        std::ofstream(path, std::ios::binary) << bytes;
        std::filesystem::permissions(
            path, executable ? std::filesystem::perms::owner_all : std::filesystem::perms::owner_read);
        return path;
    }
    // An ELF file with one program header, for the loader if one is given.
    static std::string elf(std::string const& loader, unsigned char bits = ELFCLASS64,
                           std::uint16_t machine = EM_X86_64) {
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = bits;
        header.e_machine = machine;
        header.e_phoff = sizeof header;
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_phnum = 1;
        Elf64_Phdr segment{};
        segment.p_type = loader.empty() ? PT_LOAD : PT_INTERP;
        segment.p_offset = sizeof header + sizeof segment;
        segment.p_filesz = loader.size() + 1;
        std::string bytes(reinterpret_cast<char const*>(&header), sizeof header);
        bytes.append(reinterpret_cast<char const*>(&segment), sizeof segment);
        return bytes + loader + '\0';
    }
};

constexpr char const glibc[] = "/lib64/ld-linux-x86-64.so.2";

TEST_F(elf_check_test, programs_of_every_kind) {
    EXPECT_EQ(classify_program("/bin/sh"), program_kind::recordable);
    EXPECT_EQ(classify_program(write("dynamic", elf(glibc))), program_kind::recordable);
    EXPECT_EQ(classify_program(write("static", elf(""))), program_kind::statically_linked);
    EXPECT_EQ(classify_program(write("old", elf(glibc, ELFCLASS32, EM_386))), program_kind::other_machine);
    EXPECT_EQ(classify_program(write("arm", elf(glibc, ELFCLASS64, EM_ARM))), program_kind::other_machine);
    EXPECT_EQ(classify_program(write("alpine", elf("/lib/ld-musl-x86_64.so.1"))), program_kind::other_libc);
    EXPECT_EQ(classify_program(write("ld-linux-x86-64.so.2", elf(""))), program_kind::recordable);
}

TEST_F(elf_check_test, scripts_are_judged_by_their_interpreter) {
    EXPECT_EQ(classify_program(write("script", "#!/bin/sh\nexit 0\n")), program_kind::recordable);
    EXPECT_EQ(classify_program(write("spaced", "#!  /bin/sh -e\n")), program_kind::recordable);
    auto const interpreter = write("static", elf(""));
    EXPECT_EQ(classify_program(write("other", "#!" + interpreter.string() + "\n")), program_kind::statically_linked);
    write("loop", "#!" + (folder / "loop").string() + "\n");
    EXPECT_EQ(classify_program(folder / "loop"), program_kind::other);
    EXPECT_EQ(classify_program(write("plain", "echo hello\n")), program_kind::other);
}

TEST_F(elf_check_test, what_is_cut_off_is_no_crash) {
    std::string const whole = elf(glibc);
    for (std::size_t size = 0; size < whole.size(); ++size) classify_program(write("cut", whole.substr(0, size)));
    Elf64_Ehdr far{};
    std::memcpy(far.e_ident, ELFMAG, SELFMAG);
    far.e_ident[EI_CLASS] = ELFCLASS64;
    far.e_machine = EM_X86_64;
    far.e_phoff = ~std::uint64_t{0} - 5;
    far.e_phnum = 65535;
    EXPECT_EQ(classify_program(write("far", {reinterpret_cast<char const*>(&far), sizeof far})),
              program_kind::statically_linked);
}

TEST_F(elf_check_test, programs_are_found_as_a_shell_finds_them) {
    auto const program = write("tool", "#!/bin/sh\n");
    auto const text = write("text", "x", false);
    std::string const path = "/nowhere:" + folder.path().string();
    EXPECT_EQ(find_program("tool", path.c_str()).path, program);
    EXPECT_EQ(find_program("tool", path.c_str()).error, 0);
    EXPECT_EQ(find_program(program.string(), "").error, 0);
    EXPECT_EQ(find_program("absent", path.c_str()).error, ENOENT);
    EXPECT_EQ(find_program((folder / "absent").string(), path.c_str()).error, ENOENT);
    EXPECT_EQ(find_program(text.string(), path.c_str()).error, EACCES);
    EXPECT_EQ(find_program("text", path.c_str()).error, EACCES);
    EXPECT_EQ(find_program(folder.path().string(), path.c_str()).error, EACCES);
    EXPECT_EQ(find_program("", path.c_str()).error, ENOENT);
}

}  // namespace
}  // namespace lastref::drain
