#include "tests/unit/analyzer/golden.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace lastref::test {
namespace {

namespace fs = std::filesystem;

std::string read(fs::path const& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

void write(fs::path const& path, std::string const& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

std::string difference(fs::path const& expected, fs::path const& got) {
    auto const command = "diff -u '" + expected.string() + "' '" + got.string() + "'";
    std::string out;
    auto* const pipe = popen(command.c_str(), "r");
    for (int c; pipe != nullptr && (c = fgetc(pipe)) != EOF;) out += static_cast<char>(c);
    if (pipe != nullptr) pclose(pipe);
    return out;
}

}  // namespace

void expect_golden(std::string const& got, std::string const& name) {
    auto const expected = fs::path(LASTREF_GOLDEN) / name;
    auto const kept = fs::path(LASTREF_GOT) / name;
    write(kept, got);
    if (std::getenv("LASTREF_UPDATE_GOLDEN") != nullptr) write(expected, got);
    if (read(expected) == got) return;
    ADD_FAILURE() << name << " is not as expected; what was got is in " << kept << "\n" << difference(expected, kept);
}

}  // namespace lastref::test
