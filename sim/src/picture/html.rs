//! HTML: one page with the pictures and the traces, self-contained and without script.

use std::fmt::Write as _;

use super::svg::escape;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 ui-sans-serif,system-ui,\"Segoe UI\",Helvetica,Arial,sans-serif;\
margin:0;padding:24px;background:#ffffff;color:#1f2328}\
h1{font-size:22px;margin:0 0 16px}\
figure{margin:0 0 12px;overflow-x:auto}\
pre{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-x:auto;\
padding:12px;border:1px solid #b8c0c8;border-radius:6px}\
summary{cursor:pointer}\
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}\
pre{border-color:#4a525c}}";

/// A page of sections: each a heading, a picture, and the trace that says the same in words.
pub(super) fn page(sections: &[(String, String, String)]) -> String {
    let title = sections.first().map_or("", |(title, ..)| title.as_str());
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n",
        escape(title)
    );
    for (title, svg, trace) in sections {
        let _ = write!(
            page,
            "<section>\n<h1>{}</h1>\n<figure>\n{svg}</figure>\n\
             <details>\n<summary>The trace</summary>\n<pre>{}</pre>\n</details>\n</section>\n",
            escape(title),
            escape_lines(trace)
        );
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn escape_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(escape).collect();
    lines.join("\n")
}
