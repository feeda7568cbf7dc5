// Prints the exported symbols that the table of hooks asks for, one a line: what the lints compare with the library and
// with cuda.h.
#include <cstdio>

#include "collector/preload/hooks/api_table.h"

int main() {
    // The last entries of the table are callbacks and derived records, which have no symbol.
    for (auto const& entry : lastref::hooks::abi_table) {
        if (entry.symbol.starts_with("cu"))
            std::printf("%.*s\n", static_cast<int>(entry.symbol.size()), entry.symbol.data());
    }
}
