#include "gui/widgets/hazard_view.h"

#include "gui/widgets/axis.h"

#include <QEvent>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QTextDocumentFragment>
#include <QVBoxLayout>

#include <algorithm>

namespace lastref::gui::widgets {
namespace {

QString paragraph(std::string const& words) {
    return QStringLiteral("<p>") + text(words).toHtmlEscaped() + QStringLiteral("</p>");
}

QString heading(QString const& words) {
    return QStringLiteral("<p><b>") + words.toHtmlEscaped() + QStringLiteral("</b></p>");
}

}  // namespace

hazard_view::hazard_view(QWidget* parent)
    : QWidget(parent), lanes_(new hazard_lanes), scroll_(new QScrollArea), split_(new QSplitter), words_(new QLabel) {
    scroll_->setWidget(lanes_);
    scroll_->setWidgetResizable(true);
    words_->setWordWrap(true);
    words_->setTextFormat(Qt::RichText);
    words_->setAlignment(Qt::AlignTop);
    words_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    words_->setMargin(fontMetrics().height() / 2);
    words_->setAccessibleName(tr("Explanation and fix"));
    auto* const beside = new QScrollArea;
    beside->setWidget(words_);
    beside->setWidgetResizable(true);
    beside->setMinimumWidth(fontMetrics().averageCharWidth() * 32);
    beside->setMinimumHeight(fontMetrics().height() * 5);
    scroll_->setMinimumHeight(fontMetrics().height() * 8);
    split_->addWidget(scroll_);
    split_->addWidget(beside);
    split_->setStretchFactor(0, 3);
    split_->setStretchFactor(1, 1);
    split_->setSizes({7000, 3500});
    split_->setChildrenCollapsible(false);
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(split_);
    lanes_->installEventFilter(this);
    connect(split_, &QSplitter::splitterMoved, this, [this] { by_hand_ = true; });
    setFocusProxy(lanes_);
    connect(scroll_->horizontalScrollBar(), &QScrollBar::valueChanged, lanes_, [this] { lanes_->update(); });
    connect(lanes_, &hazard_lanes::call_chosen, this, &hazard_view::call_chosen);
}

void hazard_view::set_scene(std::shared_ptr<scenes::hazard const> scene) {
    scene_ = std::move(scene);
    lanes_->set_scene(scene_);
    QString out;
    if (scene_) {
        out += heading(text(scene_->title));
        for (auto const& sentence : scene_->what) out += paragraph(sentence);
        if (!scene_->why.empty()) out += heading(tr("Why it matters")) + paragraph(scene_->why);
        if (!scene_->advice.empty()) out += heading(tr("The smallest fix")) + paragraph(scene_->advice);
    }
    words_->setText(out);
    to_show_ = true;
    arrange();
    show_missing();
}

// Beside each other where the lanes then need no scrolling, else one below the other.
void hazard_view::arrange() {
    if (!scene_ || by_hand_) return;
    auto const needed = lanes_->minimumSizeHint();
    bool const beside = needed.width() + 8 <= width() * 2 / 3;
    split_->setOrientation(beside ? Qt::Horizontal : Qt::Vertical);
    auto const bar = scroll_->horizontalScrollBar()->sizeHint().height();
    auto const high = std::min(needed.height() + bar + 8, height() * 2 / 3);
    split_->setSizes(beside ? QList<int>{width() * 2 / 3, width() / 3} : QList<int>{high, height() - high});
}

void hazard_view::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

bool hazard_view::eventFilter(QObject* watched, QEvent* event) {
    bool const placed = event->type() == QEvent::Resize || event->type() == QEvent::Show;
    if (watched == lanes_ && placed) QMetaObject::invokeMethod(this, &hazard_view::show_missing, Qt::QueuedConnection);
    return QWidget::eventFilter(watched, event);
}

// Long stories end where it matters. Once the lanes have their size; where a user scrolls to afterwards, they stay.
void hazard_view::show_missing() {
    if (!to_show_ || !scene_ || !scene_->missing || !isVisible()) return;
    if (lanes_->width() < lanes_->minimumSizeHint().width()) return;
    to_show_ = false;
    auto const from = lanes_->place_of(scene_->missing->from), to = lanes_->place_of(scene_->missing->to);
    scroll_->ensureVisible(from.left(), from.center().y(), 20, 20);
    scroll_->ensureVisible(to.right(), to.center().y(), 20, 20);
}

QString hazard_view::explanation() const {
    return QTextDocumentFragment::fromHtml(words_->text()).toPlainText();
}

}  // namespace lastref::gui::widgets
