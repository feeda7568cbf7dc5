// The folder into which a recorded program spools.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lastref::drain {

// A fresh folder of mode 0700. Removed again at the end, unless spools are left in it.
class spool_place {
  public:
    // In `parent` where that is given; else in memory (/dev/shm) if there is a GiB of it, else in $TMPDIR or /tmp, else
    // beside the trace. Throws trace_error where none of them can be written.
    spool_place(std::optional<std::filesystem::path> const& parent, std::filesystem::path const& beside);
    ~spool_place();
    spool_place(spool_place const&) = delete;
    spool_place& operator=(spool_place const&) = delete;

    std::filesystem::path const& path() const { return path_; }
    // The library under a name that LD_PRELOAD can hold: blanks and colons separate its entries, and a dollar sign is
    // replaced.
    std::filesystem::path preloadable(std::filesystem::path const& library);

  private:
    bool create_in(std::filesystem::path const& parent);

    std::filesystem::path path_;
};

// Removes such a folder, unless spools are left in it.
void remove_spool_folder(std::filesystem::path const& folder);

}  // namespace lastref::drain
