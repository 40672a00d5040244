//! HTML: one page with the pictures and the traces, self-contained and without script.

use std::fmt::Write as _;

use super::svg::escape;
use super::{Picture, svg};

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 ui-sans-serif,system-ui,\"Segoe UI\",Helvetica,Arial,sans-serif;\
margin:0;padding:24px;background:#ffffff;color:#1f2328}\
figure{margin:0 0 12px;overflow-x:auto}\
pre{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-x:auto;\
padding:12px;border:1px solid #b8c0c8;border-radius:6px}\
summary{cursor:pointer}\
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}\
pre{border-color:#4a525c}}";

/// A page with a section for each picture.
pub(super) fn page(pictures: &[Picture]) -> String {
    let title = pictures.first().map(Picture::title).unwrap_or_default();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n",
        escape(&title)
    );
    for picture in pictures {
        // The picture begins with its title.
        let _ = writeln!(page, "<section aria-label=\"{}\">", escape(&picture.title()));
        page.push_str(&departures(picture));
        let _ = write!(page, "<figure>\n{}</figure>\n", svg(std::slice::from_ref(picture)));
        page.push_str(&folded("The trace", &picture.run.trace.to_string()));
        page.push_str(&folded("The scenario", &picture.scenario));
        if let Some(command) = &picture.replay {
            let _ = writeln!(page, "<p>Replay it with</p>\n<pre>{}</pre>", escape(command));
        }
        page.push_str("</section>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// What the schedule has that calm has not.
fn departures(picture: &Picture) -> String {
    if picture.departures.is_empty() {
        return String::new();
    }
    let items = picture.departures.iter().map(|each| format!("<li>{}</li>\n", escape(&each.words)));
    format!("<p>Departures from calm:</p>\n<ol>\n{}</ol>\n", items.collect::<String>())
}

fn folded(summary: &str, text: &str) -> String {
    let text = escape_lines(text);
    format!("<details>\n<summary>{summary}</summary>\n<pre>{text}</pre>\n</details>\n")
}

fn escape_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(escape).collect();
    lines.join("\n")
}
