#include "gui/widgets/colours.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QLabel>
#include <QTemporaryDir>

#include "gui/widgets/picture.h"
#include "tests/gui/widgets/palettes.h"

namespace lastref::test {
namespace {

using namespace gui::widgets;

class colours : public ::testing::TestWithParam<bool> {
  protected:
    QPalette palette = GetParam() ? dark_palette() : light_palette();
    QColor base = palette.color(QPalette::Base);
};
INSTANTIATE_TEST_SUITE_P(light_and_dark, colours, ::testing::Bool(),
                         [](auto const& which) { return which.param ? "dark" : "light"; });

TEST_P(colours, the_palette_is_known_for_what_it_is) {
    EXPECT_EQ(is_dark(palette), GetParam());
}

TEST_P(colours, texts_can_be_read) {
    auto const s = shades_of(palette);
    for (auto const& each : {s.faint, s.mark, s.error, s.warning, s.good})
        EXPECT_GE(contrast(each, base), 4.0) << each.name().toStdString();
    for (auto const& each : {s.faint, s.warning, s.error, s.good})  // on headings and lanes too
        EXPECT_GE(contrast(each, s.stripe), 3.5) << each.name().toStdString();
}

TEST_P(colours, words_on_blocks_can_be_read) {
    for (int i = 0; i < static_cast<int>(gui::scenes::style::count); ++i) {
        auto const fill = colour_of(static_cast<gui::scenes::style>(i), palette);
        EXPECT_GE(contrast(text_on(fill), fill), 4.5) << fill.name().toStdString();
    }
    for (auto const* name : {"main", "load", "f", "operator new(unsigned long)", "x::y::z"}) {
        auto const fill = name_colour(name, palette);
        EXPECT_GE(contrast(text_on(fill), fill), 4.5) << name;
    }
}

TEST_P(colours, blocks_and_lines_stand_out_from_what_is_behind_them) {
    for (int i = 0; i < static_cast<int>(gui::scenes::style::range); ++i) {
        auto const fill = colour_of(static_cast<gui::scenes::style>(i), palette);
        EXPECT_GE(contrast(fill, base), 2.6) << fill.name().toStdString();
    }
    for (int i = 0; i < 8; ++i) EXPECT_GE(contrast(series_colour(i, palette), base), 2.6) << i;
}

TEST_P(colours, a_name_keeps_its_colour) {
    EXPECT_EQ(name_colour("main", palette), name_colour("main", palette));
    EXPECT_NE(name_colour("main", palette), name_colour("load", palette));
}

TEST(picture, is_written_at_its_scale) {
    QTemporaryDir folder;
    QLabel label("lastref");
    label.resize(100, 40);
    auto const path = folder.filePath("label.png");
    EXPECT_EQ(save_png(label, path, 2), QString());
    QImage const read(path);
    EXPECT_EQ(read.size(), QSize(200, 80));
    EXPECT_FALSE(save_png(label, folder.filePath("no/such/folder.png")).isEmpty());
}

}  // namespace
}  // namespace lastref::test
