// A finding about order: its lanes, and beside or below them what happened, why it matters and the smallest fix.
#pragma once

#include "gui/widgets/hazard_lanes.h"

class QLabel;
class QScrollArea;
class QSplitter;

namespace lastref::gui::widgets {

class hazard_view : public QWidget {
    Q_OBJECT

  public:
    explicit hazard_view(QWidget* parent = nullptr);

    void set_scene(std::shared_ptr<scenes::hazard const> scene);
    hazard_lanes& lanes() { return *lanes_; }
    QString explanation() const;  // plain text

  Q_SIGNALS:
    void call_chosen(qint64 event);

  protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void arrange();
    void show_missing();

    hazard_lanes* lanes_;
    QScrollArea* scroll_;
    QSplitter* split_;
    QLabel* words_;
    std::shared_ptr<scenes::hazard const> scene_;
    bool to_show_ = false;  // the missing order, as soon as there are sizes
    bool by_hand_ = false;  // the user divided the view
};

}  // namespace lastref::gui::widgets
