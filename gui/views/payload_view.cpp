#include "gui/views/payload_view.h"

#include "gui/widgets/holder_chain.h"
#include "gui/widgets/holder_lanes.h"

#include <QEvent>
#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

namespace lastref::gui {

payload_view::payload_view(QWidget* parent)
    : QWidget(parent),
      verdict_(new QLabel(this)),
      lanes_(new widgets::holder_lanes(this)),
      chain_(new widgets::holder_chain(this)),
      scrolled_(new QScrollArea(this)) {
    verdict_->setWordWrap(true);
    verdict_->setTextFormat(Qt::PlainText);
    verdict_->setContentsMargins(8, 4, 8, 0);
    lanes_->setAccessibleName(tr("References over time"));
    lanes_->setMinimumHeight(110);
    chain_->setAccessibleName(tr("Who holds it"));
    scrolled_->setAccessibleName(tr("Who holds it"));
    scrolled_->setWidgetResizable(true);
    scrolled_->setWidget(chain_);
    scrolled_->setMinimumHeight(110);
    scrolled_->installEventFilter(this);
    connect(lanes_, &widgets::holder_lanes::time_chosen, chain_, &widgets::holder_chain::show_time);
    connect(lanes_, &widgets::holder_lanes::hovered, this, &payload_view::hovered);
    connect(chain_, &widgets::holder_chain::hovered, this, &payload_view::hovered);
    connect(chain_, &widgets::holder_chain::holder_chosen, this, [this](qint64 event) {
        if (event != 0) Q_EMIT event_asked(event);
    });
    auto* const beside = new QSplitter(Qt::Horizontal, this);
    beside->addWidget(lanes_);
    beside->addWidget(scrolled_);
    beside->setChildrenCollapsible(false);
    beside->setObjectName(QStringLiteral("payload"));
    beside->setSizes({4000, 6000});
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(verdict_);
    layout->addWidget(beside, 1);
}

void payload_view::show_story(std::shared_ptr<scenes::payload_story const> const& story) {
    lanes_->set_scene(story);
    chain_->set_scene(story);
    verdict_->setText(story ? QString::fromStdString(story->verdict()) : QString());
}

bool payload_view::eventFilter(QObject* watched, QEvent* event) {
    if (watched == scrolled_ && event->type() == QEvent::Resize) chain_->set_room(scrolled_->maximumViewportSize());
    return QWidget::eventFilter(watched, event);
}

QString payload_view::verdict() const {
    return verdict_->text();
}

}  // namespace lastref::gui
