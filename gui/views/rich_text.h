// Text that is read, with links: to calls, findings and objects of the trace, and to source files, which it opens
// itself.
#pragma once

#include <QTextBrowser>

namespace lastref::gui {

class rich_text : public QTextBrowser {
    Q_OBJECT

  public:
    explicit rich_text(QString const& name, QWidget* parent = nullptr);  // for screen readers

  Q_SIGNALS:
    void event_asked(qint64 event);
    void finding_asked(std::size_t finding);
    void object_asked(qint64 process, quint64 handle);
    void told(QString const& text);  // what could not be opened

  private:
    void follow(QString const& link);
};

// Passes on what a text asks for, or a widget around one: they have the same signals.
template <class From, class To>
void pass_on(From& from, To* to) {
    QObject::connect(&from, &From::event_asked, to, &To::event_asked);
    QObject::connect(&from, &From::finding_asked, to, &To::finding_asked);
    QObject::connect(&from, &From::object_asked, to, &To::object_asked);
    QObject::connect(&from, &From::told, to, &To::told);
}

}  // namespace lastref::gui
