#include "gui/views/start_page.h"

#include "gui/views/colours.h"
#include "gui/views/recent_files.h"

#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

namespace lastref::gui {

start_page::start_page(QWidget* parent) : QWidget(parent), recent_(new QListWidget(this)) {
    auto* const sign = new QLabel(this);
    sign->setPixmap(program_icon().pixmap(96, 96));
    auto* const what =
        new QLabel(tr("See what is outstanding after the last reference is dropped, what races, and what "
                      "shutdown leaves.\nOpen a trace, drop one here, or record a program."),
                   this);
    what->setWordWrap(true);
    auto* const open = new QPushButton(tr("&Open a trace…"), this);
    auto* const record = new QPushButton(tr("&Record a program…"), this);
    open->setDefault(true);
    connect(open, &QPushButton::clicked, this, &start_page::open_asked);
    connect(record, &QPushButton::clicked, this, &start_page::record_asked);
    recent_->setAccessibleName(tr("Recent traces"));
    connect(recent_, &QListWidget::itemActivated, this,
            [this](QListWidgetItem* item) { Q_EMIT file_asked(item->text()); });
    auto* const label = new QLabel(tr("Re&cent"), this);
    label->setBuddy(recent_);

    auto* const middle = new QVBoxLayout;
    middle->setSpacing(10);
    middle->addStretch(1);
    for (QWidget* const widget : {static_cast<QWidget*>(sign), static_cast<QWidget*>(what), static_cast<QWidget*>(open),
                                  static_cast<QWidget*>(record), static_cast<QWidget*>(label)})
        middle->addWidget(widget);
    middle->addWidget(recent_, 2);
    middle->addStretch(1);
    auto* const layout = new QHBoxLayout(this);
    layout->addStretch(1);
    layout->addLayout(middle, 3);
    layout->addStretch(1);
    show_recent();
}

void start_page::show_recent() {
    recent_->clear();
    recent_->addItems(recent_files());
}

}  // namespace lastref::gui
