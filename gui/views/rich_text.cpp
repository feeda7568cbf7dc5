#include "gui/views/rich_text.h"

#include "gui/views/editor.h"
#include "gui/views/html.h"

#include <QUrl>

namespace lastref::gui {

rich_text::rich_text(QString const& name, QWidget* parent) : QTextBrowser(parent) {
    setAccessibleName(name);
    setOpenLinks(false);
    document()->setDocumentMargin(10);
    connect(this, &QTextBrowser::anchorClicked, this, [this](QUrl const& url) { follow(url.toString()); });
}

void rich_text::follow(QString const& link) {
    auto const parts = link.split(QLatin1Char(':'));
    if (parts[0] == QStringLiteral("event"))
        Q_EMIT event_asked(parts.value(1).toLongLong());
    else if (parts[0] == QStringLiteral("finding"))
        Q_EMIT finding_asked(parts.value(1).toULongLong());
    else if (parts[0] == QStringLiteral("object"))
        Q_EMIT object_asked(parts.value(1).toLongLong(), parts.value(2).toULongLong(nullptr, 16));
    else if (auto const problem = open_source(source_of_link(link)); !problem.isEmpty())
        Q_EMIT told(problem);
}

}  // namespace lastref::gui
