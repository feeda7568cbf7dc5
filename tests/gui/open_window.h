// A window with the example trace open in it.
#pragma once

#include "gui/views/main_window.h"

#include <gtest/gtest.h>

#include <QTest>

#include "tests/gui/example_trace.h"
#include "tests/gui/waiting.h"

namespace lastref::gui {

class open_window : public ::testing::Test {
  protected:
    void SetUp() override {
        window.show();
        open(example.path());
    }
    void open(std::filesystem::path const& path) {
        window.open(QString::fromStdString(path.string()));
        ASSERT_TRUE(test::wait_for([&] { return window.work().trace() && window.work().trace()->path == path; }));
    }
    template <class Page>
    Page& page_as(page_id id) {
        return dynamic_cast<Page&>(*window.page_of(id));
    }
    void press(int key, Qt::KeyboardModifiers with = Qt::NoModifier) {
        QTest::keyClick(&window, static_cast<Qt::Key>(key), with);
        test::run_events(20);
    }

    test::example_trace example;
    main_window window;
};

}  // namespace lastref::gui
