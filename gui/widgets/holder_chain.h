// Who holds a payload at one moment, drawn as a chain: payload ← graph ← executable graph ← launch. A holder that is
// gone but whose references another took over is drawn faintly. From left to right, or where that needs scrolling from
// top to bottom. Tab order within by Left, Right, Up, Down; Return
// chooses.
#pragma once

#include "gui/scenes/holders.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

namespace lastref::gui::widgets {

class holder_chain : public QWidget {
    Q_OBJECT

  public:
    explicit holder_chain(QWidget* parent = nullptr);

    void set_scene(std::shared_ptr<scenes::payload_story const> scene);  // at its end, or before its destructor
    void show_time(store::time_ns at);
    void set_room(QSize const& room);  // what is seen of it at once

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    // What is drawn, in words: also what screen readers are told.
    QStringList described() const;

  Q_SIGNALS:
    void holder_chosen(qint64 event);  // that made it; 0 for the program, the payload's creation for the payload
    void hovered(QString text);

  protected:
    void paintEvent(QPaintEvent*) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    enum class role : std::uint8_t { payload, holder, launches, more };
    struct box {
        role what = role::holder;
        std::size_t holder = 0;
        int column = 0, row = 0;
        QString title, detail;
        bool faint = false;
        std::optional<std::size_t> to;  // the box that it holds, or that it came from
        std::int64_t references = 0;    // it holds itself
    };
    void arrange();
    void add_holder(std::size_t holder);
    std::optional<std::size_t> box_of(std::size_t holder) const;
    int rows() const;
    QSize box_size() const;
    QRect place(box const& b) const;
    QSize extent() const;
    void turn();
    void draw_box(QPainter& painter, std::size_t number) const;
    void draw_link(QPainter& painter, box const& b) const;
    std::optional<std::size_t> box_at(QPoint const& at) const;
    void choose(std::size_t number);

    static constexpr std::size_t most_boxes = 40;

    std::shared_ptr<scenes::payload_story const> scene_;
    store::time_ns at_ = 0;
    std::vector<box> boxes_;
    std::size_t current_ = 0;
    QSize room_;
    bool upright_ = false;  // from top to bottom
};

}  // namespace lastref::gui::widgets
