// What NVTX's handles mean: domains, registered strings, and the names of categories. They are made seldom and looked
// up at every mark: making takes a word to spin on, looking up takes none. Nothing is ever given back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lastref::nvtx {

struct text {
    char const* bytes = nullptr;  // null: there is none
    std::size_t length = 0;
};

text text_of(char const* string);

// A string of wide characters as UTF-8; what does not fit is cut.
class narrow {
  public:
    explicit narrow(wchar_t const* wide);
    narrow(narrow const&) = delete;
    narrow& operator=(narrow const&) = delete;
    char const* get() const { return given_ ? bytes_ : nullptr; }

  private:
    char bytes_[1024];
    bool given_;
};

namespace names {

inline constexpr std::uint32_t default_domain = 0;
inline constexpr std::uint32_t max_domains = 64;

// The domain of that name, made if it is new: what the program gets as its handle. `foreign` is the handle that another
// tool gave out, which then is the program's. Null where there is no more room (counted).
void* make_domain(text name, void* foreign);
// Its number; that of the default domain for null, and `max_domains` for what is no domain.
std::uint32_t domain_of(void* handle);
text domain_name(std::uint32_t domain);
// The domain `lastref`, whose marks are annotations.
bool is_ours(std::uint32_t domain);

void* make_string(text string, void* foreign);
text string_of(void const* handle);

void name_category(std::uint32_t domain, std::uint32_t category, text name);
text category_name(std::uint32_t domain, std::uint32_t category);

// For the forked child, in which no other thread is inside these functions.
void forget_parent();

}  // namespace names
}  // namespace lastref::nvtx
