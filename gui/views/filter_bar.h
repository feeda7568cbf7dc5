// The filters that apply everywhere, as chips: a click removes one.
#pragma once

#include "gui/models/filter.h"

#include <QWidget>

class QHBoxLayout;

namespace lastref::gui {

class filter_bar : public QWidget {
    Q_OBJECT

  public:
    explicit filter_bar(QWidget* parent = nullptr);
    void show_filters(filter_stack const& filters);

  Q_SIGNALS:
    void removed(lastref::gui::filter_kind kind);
    void cleared();

  private:
    void add_chip(filter const& f);
    QHBoxLayout* chips_;
};

}  // namespace lastref::gui
