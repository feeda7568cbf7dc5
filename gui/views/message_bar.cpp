#include "gui/views/message_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QToolButton>

namespace lastref::gui {

message_bar::message_bar(QWidget* parent) : QFrame(parent), icon_(new QLabel(this)), text_(new QLabel(this)) {
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::ToolTipBase);
    text_->setForegroundRole(QPalette::ToolTipText);
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::PlainText);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    icon_->setPixmap(style()->standardIcon(QStyle::SP_MessageBoxWarning).pixmap(20, 20));
    auto* const close = new QToolButton(this);
    close->setText(tr("Close"));
    close->setAccessibleName(tr("Close the message"));
    close->setAutoRaise(true);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    auto* const layout = new QHBoxLayout(this);
    layout->addWidget(icon_);
    layout->addWidget(text_, 1);
    layout->addWidget(close);
    hide();
}

void message_bar::show_message(QString const& text) {
    text_->setText(text);
    setAccessibleName(text);
    show();
}

QString message_bar::text() const {
    return isHidden() ? QString() : text_->text();
}

}  // namespace lastref::gui
