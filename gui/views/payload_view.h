// A payload's life with its references by owner, and who holds it at a moment of it as a chain.
#pragma once

#include "gui/scenes/holders.h"

#include <QWidget>

#include <memory>

class QLabel;
class QScrollArea;

namespace lastref::gui::widgets {
class holder_chain;
class holder_lanes;
}  // namespace lastref::gui::widgets

namespace lastref::gui {

class payload_view : public QWidget {
    Q_OBJECT

  public:
    explicit payload_view(QWidget* parent = nullptr);

    void show_story(std::shared_ptr<scenes::payload_story const> const& story);
    QString verdict() const;

  Q_SIGNALS:
    void event_asked(qint64 event);
    void hovered(QString const& text);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QLabel* verdict_;
    widgets::holder_lanes* lanes_;
    widgets::holder_chain* chain_;
    QScrollArea* scrolled_;
};

}  // namespace lastref::gui
