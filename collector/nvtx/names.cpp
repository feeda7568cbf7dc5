#include "collector/nvtx/names.h"

#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "collector/preload/record/process.h"
#include "schema/spool.h"

namespace lastref::nvtx {
namespace {

using preload::process::count;

std::atomic<bool> busy{false};

class guard {
  public:
    guard() {
        while (busy.exchange(true, std::memory_order_acquire)) sched_yield();
    }
    ~guard() { busy.store(false, std::memory_order_release); }
    guard(guard const&) = delete;
    guard& operator=(guard const&) = delete;
};

// --- texts: one piece of address space, filled from the front --------------------------------------------------------

constexpr std::size_t texts_size = std::size_t{16} << 20;

struct kept_text {
    std::uint32_t length;
    char bytes[];
};

std::byte* texts = nullptr;
std::size_t texts_used = 0;

bool have_texts() {
    if (texts != nullptr) return true;
    if (preload::process::confined()) return false;
    void* const memory =
        mmap(nullptr, texts_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    __atomic_store_n(&texts, static_cast<std::byte*>(memory), __ATOMIC_RELEASE);
    return true;
}

kept_text* keep(text const& what) {
    std::size_t const length = what.length < spool::nvtx_text_capacity ? what.length : spool::nvtx_text_capacity;
    std::size_t const size = (sizeof(kept_text) + length + 1 + 7) & ~std::size_t{7};
    if (!have_texts() || texts_used + size > texts_size) {
        count(spool::loss::nvtx_unrecorded);
        return nullptr;
    }
    auto* const kept = reinterpret_cast<kept_text*>(texts + texts_used);
    texts_used += size;
    kept->length = static_cast<std::uint32_t>(length);
    if (length != 0) memcpy(kept->bytes, what.bytes, length);
    return kept;
}

text shown(kept_text const* kept) {
    return kept != nullptr ? text{kept->bytes, kept->length} : text{};
}

bool equal(text const& a, text const& b) {
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

// --- tables from a number to a text: open addressing, insert only ---------------------------------------------------

template <std::uint32_t size>
class text_table {
  public:
    kept_text const* find(std::uint64_t key) const {
        for (std::uint32_t probe = 0; probe < most_probes; ++probe) {
            auto const& at = places_[place(key, probe)];
            std::uint64_t const found = at.key.load(std::memory_order_acquire);
            if (found == key) return at.what.load(std::memory_order_acquire);
            if (found == 0) return nullptr;
        }
        return nullptr;
    }

    // Under the guard.
    bool set(std::uint64_t key, kept_text const* what) {
        for (std::uint32_t probe = 0; probe < most_probes; ++probe) {
            auto& at = places_[place(key, probe)];
            std::uint64_t const found = at.key.load(std::memory_order_relaxed);
            if (found != 0 && found != key) continue;
            at.what.store(what, std::memory_order_release);
            at.key.store(key, std::memory_order_release);
            return true;
        }
        count(spool::loss::nvtx_unrecorded);
        return false;
    }

  private:
    static constexpr std::uint32_t most_probes = 64;
    static std::uint32_t place(std::uint64_t key, std::uint32_t probe) {
        return (static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15u) >> 40) + probe) % size;
    }
    struct entry {
        std::atomic<std::uint64_t> key;  // 0: free
        std::atomic<kept_text const*> what;
    };
    entry places_[size];
};

constinit text_table<32768> same_strings;     // by hash: a string that is registered again is the same
constinit text_table<32768> foreign_strings;  // by the handle that another tool gave out
constinit text_table<4096> categories;        // by domain and number

std::uint64_t hash_of(text const& what) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (std::size_t i = 0; i < what.length; ++i)
        hash = (hash ^ static_cast<unsigned char>(what.bytes[i])) * 0x100000001b3;
    return hash | 1;
}

constexpr std::uint64_t category_key(std::uint32_t domain, std::uint32_t category) {
    return (std::uint64_t{domain} + 1) << 32 | category;
}

// --- domains
// -----------------------------------------------------------------------------------------------------------

struct domain {
    std::atomic<void*> handle;
    kept_text const* name;
    bool ours;
};
constinit domain domains[names::max_domains];  // the first is the default one
std::atomic<std::uint32_t> domains_used{1};

constexpr char ours[] = "lastref";

}  // namespace

text text_of(char const* string) {
    return string != nullptr ? text{string, strnlen(string, spool::nvtx_text_capacity + 1)} : text{};
}

narrow::narrow(wchar_t const* wide) : given_(wide != nullptr) {
    std::size_t length = 0;
    for (; given_ && *wide != 0 && length + 4 < sizeof bytes_; ++wide) {
        auto const c = static_cast<std::uint32_t>(*wide);
        auto const put = [&](std::uint32_t byte) { bytes_[length++] = static_cast<char>(byte); };
        if (c >= 0x10000) put(0xf0 | (c >> 18 & 7)), put(0x80 | (c >> 12 & 0x3f));
        if (c >= 0x800 && c < 0x10000) put(0xe0 | c >> 12);
        if (c >= 0x800) put(0x80 | (c >> 6 & 0x3f));
        if (c >= 0x80 && c < 0x800) put(0xc0 | c >> 6);
        put(c < 0x80 ? c : 0x80 | (c & 0x3f));
    }
    bytes_[length] = 0;
}

namespace names {

void* make_domain(text name, void* foreign) {
    if (name.bytes == nullptr) return foreign;
    if (name.length > spool::nvtx_name_capacity) name.length = spool::nvtx_name_capacity;
    guard const alone;
    std::uint32_t const used = domains_used.load(std::memory_order_relaxed);
    for (std::uint32_t i = 1; i < used; ++i) {
        if (!equal(shown(domains[i].name), name)) continue;
        if (void* const known = domains[i].handle.load(std::memory_order_relaxed);
            foreign == nullptr || known == foreign)
            return known;
    }
    kept_text const* const kept = used < max_domains ? keep(name) : nullptr;
    if (kept == nullptr) {
        count(spool::loss::nvtx_unrecorded);
        return foreign;
    }
    domain& made = domains[used];
    made.name = kept;
    made.ours = equal(name, {ours, sizeof ours - 1});
    made.handle.store(foreign != nullptr ? foreign : &made, std::memory_order_relaxed);
    domains_used.store(used + 1, std::memory_order_release);
    return made.handle.load(std::memory_order_relaxed);
}

std::uint32_t domain_of(void* handle) {
    if (handle == nullptr) return default_domain;
    std::uint32_t const used = domains_used.load(std::memory_order_acquire);
    for (std::uint32_t i = 1; i < used; ++i)
        if (domains[i].handle.load(std::memory_order_relaxed) == handle) return i;
    return max_domains;
}

text domain_name(std::uint32_t domain) {
    return domain != default_domain && domain < max_domains ? shown(domains[domain].name) : text{"", 0};
}

bool is_ours(std::uint32_t domain) {
    return domain < max_domains && domains[domain].ours;
}

void* make_string(text string, void* foreign) {
    if (string.bytes == nullptr) return foreign;
    guard const alone;
    std::uint64_t const hash = hash_of(string);
    auto const* kept = same_strings.find(hash);
    bool const known = kept != nullptr && equal(shown(kept), string);
    if (!known) kept = keep(string);
    if (kept == nullptr) return foreign;
    if (!known) same_strings.set(hash, kept);
    if (foreign == nullptr) return const_cast<kept_text*>(kept);
    foreign_strings.set(reinterpret_cast<std::uintptr_t>(foreign), kept);
    return foreign;
}

text string_of(void const* handle) {
    auto const address = reinterpret_cast<std::uintptr_t>(handle);
    auto const begin = reinterpret_cast<std::uintptr_t>(__atomic_load_n(&texts, __ATOMIC_ACQUIRE));
    if (begin == 0 || address == 0) return {};
    bool const own = address >= begin && address < begin + texts_size && address % 8 == 0;
    return shown(own ? static_cast<kept_text const*>(handle) : foreign_strings.find(address));
}

void name_category(std::uint32_t domain, std::uint32_t category, text name) {
    if (name.bytes == nullptr || domain >= max_domains) return;
    if (name.length > spool::nvtx_name_capacity) name.length = spool::nvtx_name_capacity;
    guard const alone;
    auto const key = category_key(domain, category);
    if (auto const* const known = categories.find(key); known != nullptr && equal(shown(known), name)) return;
    if (auto const* const kept = keep(name); kept != nullptr) categories.set(key, kept);
}

text category_name(std::uint32_t domain, std::uint32_t category) {
    return category != 0 ? shown(categories.find(category_key(domain, category))) : text{};
}

void forget_parent() {
    busy.store(false, std::memory_order_relaxed);
}

}  // namespace names
}  // namespace lastref::nvtx
