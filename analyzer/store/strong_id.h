// Numbers that name things, as types that do not mix: a thread's number is no process's number.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace lastref {

// `Tag` is never defined; it only tells ids apart. The value 0 names nothing.
template <class Tag, class Rep = std::uint32_t>
struct strong_id {
    Rep value{};

    constexpr explicit operator bool() const { return value != Rep{}; }
    friend constexpr auto operator<=>(strong_id, strong_id) = default;
};

}  // namespace lastref

template <class Tag, class Rep>
struct std::hash<lastref::strong_id<Tag, Rep>> {
    std::size_t operator()(lastref::strong_id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value); }
};
