#include "gui/widgets/colours.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lastref::gui::widgets {
namespace {

struct pair {
    QRgb light;
    QRgb dark;
};

constexpr std::array style_colours{
    pair{0x2f78c4, 0x5aa2ec},  // allocate
    pair{0xd47a1f, 0xf0a35a},  // release
    pair{0x8a56b4, 0xb98be0},  // reference
    pair{0x36906c, 0x62c49c},  // graph
    pair{0x128a99, 0x4fc4d1},  // launch
    pair{0x6f7d8d, 0x95a3b3},  // work
    pair{0xb99400, 0xe0c341},  // synchronize
    pair{0xbf4a85, 0xe683b5},  // callback
    pair{0xb4c2d1, 0x4d5d70},  // range
    pair{0x9aa0a8, 0x757d86},  // other
};
static_assert(style_colours.size() == static_cast<std::size_t>(scenes::style::count));

constexpr std::array line_colours{
    pair{0x2f78c4, 0x5aa2ec}, pair{0xd47a1f, 0xf0a35a}, pair{0x36906c, 0x62c49c}, pair{0xbf4a85, 0xe683b5},
    pair{0x8a56b4, 0xb98be0}, pair{0xb99400, 0xe0c341}, pair{0x128a99, 0x4fc4d1}, pair{0x6f7d8d, 0x95a3b3},
};

QColor chosen(pair const& of, QPalette const& palette) {
    return QColor::fromRgb(is_dark(palette) ? of.dark : of.light);
}

std::uint32_t hash_of(std::string_view text) {
    std::uint32_t out = 2166136261u;  // FNV-1a
    for (unsigned char const c : text) out = (out ^ c) * 16777619u;
    return out;
}

}  // namespace

bool is_dark(QPalette const& palette) {
    return palette.color(QPalette::Base).lightness() < palette.color(QPalette::Text).lightness();
}

QColor colour_of(scenes::style style, QPalette const& palette) {
    return chosen(style_colours[static_cast<std::size_t>(style)], palette);
}

QColor series_colour(int number, QPalette const& palette) {
    return chosen(line_colours[static_cast<std::size_t>(number) % line_colours.size()], palette);
}

// Warm hues, as flame graphs have them; the name decides, so that a function keeps its colour while one zooms.
QColor name_colour(std::string_view name, QPalette const& palette) {
    auto const h = hash_of(name);
    auto const hue = 8 + static_cast<int>(h % 44);
    auto const saturation = 120 + static_cast<int>(h / 64 % 60);
    return QColor::fromHsl(hue, saturation, (is_dark(palette) ? 92 : 176) + static_cast<int>(h / 4096 % 24));
}

shades shades_of(QPalette const& palette) {
    auto const base = palette.color(QPalette::Base), text = palette.color(QPalette::Text);
    bool const dark = is_dark(palette);
    return {mixed(base, text, dark ? 0.18 : 0.12),       mixed(base, text, 0.62),
            mixed(base, text, dark ? 0.10 : 0.055),      QColor::fromRgb(dark ? 0x8fb4d9 : 0x3d6a98),
            QColor::fromRgb(dark ? 0xff7168 : 0xc42a23), QColor::fromRgb(dark ? 0xf2b14c : 0xb36a00),
            QColor::fromRgb(dark ? 0x67c98c : 0x237a45), palette.color(QPalette::Highlight)};
}

namespace {

double linear(float part) {
    return part <= 0.04045f ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
}

double luminance(QColor const& c) {
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

}  // namespace

double contrast(QColor const& a, QColor const& b) {
    auto const x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

QColor text_on(QColor const& fill) {
    QColor const black(Qt::black), white(Qt::white);
    return contrast(fill, black) > contrast(fill, white) ? black : white;
}

QColor mixed(QColor const& a, QColor const& b, double share) {
    auto const part = [share](float x, float y) { return static_cast<float>(x * (1 - share) + y * share); };
    return QColor::fromRgbF(part(a.redF(), b.redF()), part(a.greenF(), b.greenF()), part(a.blueF(), b.blueF()));
}

}  // namespace lastref::gui::widgets
