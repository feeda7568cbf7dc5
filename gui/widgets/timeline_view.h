// Paints the timeline: tracks of threads, callbacks and streams, and the calls on them. Only what is seen is looked at,
// and calls that are too close to be told apart are one block.
//
// Keys, beside those of every view over time: Up and Down choose the track, Ctrl+Left and Ctrl+Right the call before
// and after on it, Return zooms to the chosen call, Escape chooses none.
#pragma once

#include "gui/widgets/time_view.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace lastref::gui::widgets {

class timeline_view : public time_view {
    Q_OBJECT

  public:
    explicit timeline_view(QWidget* parent = nullptr);

    void set_scene(std::shared_ptr<scenes::call_timeline const> scene);
    std::shared_ptr<scenes::call_timeline const> const& scene() const { return scene_; }

    // Leaves out tracks that are not asked for; empty: none.
    void show_only(std::function<bool(scenes::track const&)> wanted);

    // Chooses a call by its event, without a signal, and moves the view so that it is seen; its object's other calls
    // are marked. False where the timeline has no such call.
    bool select(qint64 event);
    void clear_selection();
    qint64 selected_event() const;

    // Of the latest painting.
    std::size_t looked_at() const { return looked_at_; }  // spans and summaries
    std::size_t painted() const { return painted_; }      // blocks

  Q_SIGNALS:
    // A call was chosen by the user; `object` is the model's id, 0 for none. (0, 0): none is chosen any more.
    void selected(qint64 event, quint64 object);

  protected:
    int content_height() const override { return height_; }
    int label_width() const override { return label_width_; }
    void draw(QPainter& painter) override;
    QString tip(QPoint const& at) const override;
    void click(QPoint const& at) override;
    void double_click(QPoint const& at) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    struct row {  // a track, or the heading of a process
        int top = 0;
        int height = 0;
        std::optional<std::size_t> track;
        std::size_t group = 0;
    };
    struct hit {
        std::size_t track = 0;
        scenes::block block;
    };
    void arrange();
    void mix_colours();
    void draw_row(QPainter& painter, row const& r);
    void draw_label(QPainter& painter, row const& r, QRect const& area) const;
    void draw_calls(QPainter& painter, row const& r, QRect const& area);
    void draw_block(scenes::block const& b, QRectF const& place);
    void flush(QPainter& painter, scenes::track const& t);
    void draw_selection(QPainter& painter) const;
    QRectF place_of(row const& r, scenes::span const& s) const;
    row const* row_at(int y) const;
    row const* row_of(std::size_t track) const;
    std::optional<hit> hit_at(QPoint const& at) const;
    void choose(hit const& what);
    void mark(scenes::call_timeline::place place);
    void choose_track(int step);
    void choose_call(int step);
    void zoom_to_selection();

    std::shared_ptr<scenes::call_timeline const> scene_;
    std::function<bool(scenes::track const&)> wanted_;
    std::vector<row> rows_;
    int height_ = 0;
    int label_width_ = 0;
    std::size_t current_ = 0;  // track
    std::optional<scenes::call_timeline::place> selection_;
    std::vector<scenes::call_timeline::place> related_;  // other calls on the same object
    // Of blocks by style and by how busy they are, and of texts on them: mixed once for each painting.
    static constexpr int tones = 8;
    struct tone {
        QColor fill, text;
        std::vector<QRectF> places;  // that wait to be painted: all of one tone cost little more than one alone
    };
    std::array<std::array<tone, tones>, static_cast<std::size_t>(scenes::style::count)> tones_;
    QColor error_;
    std::vector<QRectF> failures_;
    struct label {
        QRectF place;
        std::uint32_t entry = 0;
        QColor colour;
    };
    std::vector<label> labels_;
    std::size_t looked_at_ = 0;
    std::size_t painted_ = 0;
};

}  // namespace lastref::gui::widgets
