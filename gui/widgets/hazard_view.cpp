#include "gui/widgets/hazard_view.h"

#include "gui/widgets/axis.h"

#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QTextDocumentFragment>
#include <QVBoxLayout>

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
    : QWidget(parent), lanes_(new hazard_lanes), scroll_(new QScrollArea), words_(new QLabel) {
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
    auto* const split = new QSplitter;
    split->addWidget(scroll_);
    split->addWidget(beside);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 1);
    split->setSizes({7000, 3500});
    split->setChildrenCollapsible(false);
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(split);
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
    QMetaObject::invokeMethod(this, &hazard_view::show_missing,
                              Qt::QueuedConnection);  // once the lanes have their size
}

// Long stories end where it matters.
void hazard_view::show_missing() {
    if (!scene_ || !scene_->missing) return;
    auto const place = lanes_->place_of(scene_->missing->to);
    scroll_->ensureVisible(place.right(), place.center().y(), 20, 20);
}

QString hazard_view::explanation() const {
    return QTextDocumentFragment::fromHtml(words_->text()).toPlainText();
}

}  // namespace lastref::gui::widgets
