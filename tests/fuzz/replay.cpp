// Runs a fuzz target on files: those of the corpus, where no fuzzer is at hand, or the one that a fuzzer has found.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

int runs = 0;

void run(fs::path const& path) {
    std::ifstream file(path, std::ios::binary);
    std::string const bytes{std::istreambuf_iterator<char>(file), {}};
    // A copy of exactly that length, so that a sanitizer sees whoever reads beyond it.
    std::string exact(bytes);
    exact.shrink_to_fit();
    LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(exact.data()), exact.size());
    ++runs;
}

}  // namespace

int main(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
        if (!fs::is_directory(arguments[i])) {
            run(arguments[i]);
            continue;
        }
        for (auto const& entry : fs::directory_iterator(arguments[i])) run(entry.path());
    }
    std::printf("%d inputs\n", runs);
    return runs > 0 ? 0 : 1;
}
