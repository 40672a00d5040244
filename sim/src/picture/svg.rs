//! SVG: self-contained, without script, readable in light and in dark.

use std::fmt::Write as _;

use super::layout::Layout;
use super::shape::{Anchor, Class, Shape, Text};

/// Colours, light and dark.
struct Ink {
    light: &'static str,
    dark: &'static str,
}

const fn ink(light: &'static str, dark: &'static str) -> Ink {
    Ink { light, dark }
}

const PAPER: Ink = ink("#ffffff", "#0d1117");
const TEXT: Ink = ink("#1f2328", "#e6edf3");
const SOFT: Ink = ink("#59636e", "#9ea7b3");
const RULE: Ink = ink("#b8c0c8", "#4a525c");
const BLUE: Ink = ink("#0550ae", "#79c0ff");
const PURPLE: Ink = ink("#8250df", "#d2a8ff");
const FAINT: Ink = ink("#c9b8ec", "#5b4a7a");
const AMBER: Ink = ink("#9a6700", "#d29922");
const GREEN: Ink = ink("#1a7f37", "#3fb950");
const ORANGE: Ink = ink("#bc4c00", "#f0883e");
const RED: Ink = ink("#cf222e", "#ff7b72");
const PALE_RED: Ink = ink("#ffebe9", "#3c1618");
const PINK: Ink = ink("#a40e72", "#f778ba");
const PALE_PINK: Ink = ink("#ffeff7", "#3a1730");

/// How a class is drawn.
enum Style {
    /// Letters on a ground, bold or not, monospaced or not.
    Letters { ink: Ink, on: Ink, bold: bool, mono: bool },
    /// A line of this width, solid or dashed.
    Stroke { ink: Ink, width: &'static str, dashes: &'static str },
    /// A filled shape with its outline.
    Fill { fill: Ink, outline: Ink, dashes: &'static str },
}

impl Style {
    fn of(class: Class) -> Self {
        let letters = |ink, bold, mono| Self::Letters { ink, on: PAPER, bold, mono };
        let note = |ink, on| Self::Letters { ink, on, bold: true, mono: false };
        let stroke = |ink, width, dashes| Self::Stroke { ink, width, dashes };
        let fill = |fill, outline, dashes| Self::Fill { fill, outline, dashes };
        match class {
            Class::Title | Class::Lane => letters(TEXT, true, false),
            Class::About => letters(SOFT, false, false),
            Class::Good => letters(GREEN, true, false),
            Class::Broken => letters(RED, true, false),
            Class::BrokenNote => note(RED, PALE_RED),
            Class::LostNote => note(PINK, PALE_PINK),
            Class::Detail => letters(SOFT, false, false),
            Class::Command => letters(TEXT, false, true),
            Class::Follows => letters(SOFT, false, true),
            Class::Stale => letters(ORANGE, false, true),
            Class::Label => letters(TEXT, false, false),
            Class::GoodLabel => letters(GREEN, false, false),
            Class::FaultLabel => letters(ORANGE, false, false),
            Class::LaneLine => stroke(RULE, "1", ""),
            Class::Statement => stroke(BLUE, "1.6", ""),
            Class::View => stroke(PURPLE, "1.6", ""),
            Class::QuietView => stroke(FAINT, "1", ""),
            Class::Open => stroke(SOFT, "1.2", "2 4"),
            Class::Commit => stroke(SOFT, "1", ""),
            Class::Cross => stroke(RED, "2.4", ""),
            Class::BrokenFill => fill(PALE_RED, RED, ""),
            Class::LostFill => fill(PALE_PINK, PINK, "6 3"),
            Class::PlainFill => fill(PAPER, RULE, ""),
            Class::Offer => fill(PAPER, AMBER, "3 2"),
            Class::Hold => fill(AMBER, AMBER, ""),
            Class::Build => fill(GREEN, GREEN, ""),
            Class::Slot => fill(FAINT, PURPLE, ""),
            Class::Drain => fill(BLUE, BLUE, ""),
            Class::Slow => fill(ORANGE, ORANGE, ""),
            Class::Stalled => fill(RED, RED, ""),
            Class::Dead => fill(SOFT, SOFT, ""),
            Class::Bolt => fill(ORANGE, PAPER, ""),
        }
    }

    fn css(&self, class: Class, is_dark: bool) -> String {
        let name = class.name();
        let of = |ink: &Ink| if is_dark { ink.dark } else { ink.light };
        match self {
            Self::Letters { ink, on, bold, mono } => {
                let (weight, size) = (if *bold { 600 } else { 400 }, class.letters());
                let family = if *mono { MONO } else { SANS };
                let (fill, halo) = (of(ink), of(on));
                if is_dark {
                    return format!(".{name}{{fill:{fill};stroke:{halo}}}");
                }
                format!(
                    ".{name}{{font:{weight} {size}px {family};fill:{fill};stroke:{halo};\
                     stroke-width:4;stroke-linejoin:round;paint-order:stroke}}"
                )
            }
            Self::Stroke { ink, width, dashes } => {
                let stroke = of(ink);
                let head = format!("#{name}-head path{{fill:{stroke}}}");
                if is_dark {
                    return format!(".{name}{{stroke:{stroke}}}{head}");
                }
                let dashes = dashed(dashes);
                format!(".{name}{{stroke:{stroke};stroke-width:{width};fill:none{dashes}}}{head}")
            }
            Self::Fill { fill, outline, dashes } => {
                let (fill, outline) = (of(fill), of(outline));
                if is_dark {
                    return format!(".{name}{{fill:{fill};stroke:{outline}}}");
                }
                let dashes = dashed(dashes);
                format!(".{name}{{fill:{fill};stroke:{outline};stroke-width:1.2{dashes}}}")
            }
        }
    }
}

fn dashed(dashes: &str) -> String {
    if dashes.is_empty() { String::new() } else { format!(";stroke-dasharray:{dashes}") }
}

const SANS: &str = "ui-sans-serif,system-ui,\"Segoe UI\",Helvetica,Arial,sans-serif";
const MONO: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace";

const CLASSES: &[Class] = &[
    Class::Title,
    Class::About,
    Class::Good,
    Class::Broken,
    Class::BrokenNote,
    Class::LostNote,
    Class::Lane,
    Class::Detail,
    Class::Command,
    Class::Follows,
    Class::Stale,
    Class::Label,
    Class::GoodLabel,
    Class::FaultLabel,
    Class::LaneLine,
    Class::Statement,
    Class::View,
    Class::QuietView,
    Class::Open,
    Class::Commit,
    Class::Cross,
    Class::BrokenFill,
    Class::LostFill,
    Class::PlainFill,
    Class::Offer,
    Class::Hold,
    Class::Build,
    Class::Slot,
    Class::Drain,
    Class::Slow,
    Class::Stalled,
    Class::Dead,
    Class::Bolt,
];

const ARROWS: &[Class] = &[Class::Statement, Class::View, Class::QuietView, Class::Commit];

/// One document with all pictures below each other.
pub(super) fn document(pictures: &[(String, Layout)]) -> String {
    let width = pictures.iter().map(|(_, layout)| layout.width).max().unwrap_or(0);
    let height: i32 = pictures.iter().map(|(_, layout)| layout.height).sum();
    let title = pictures.first().map_or("", |(title, _)| title.as_str());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\">\n\
         <title>{}</title>\n",
        escape(title),
        escape(title)
    );
    let _ = writeln!(svg, "<style>{}</style>", style());
    let _ = writeln!(svg, "<defs>{}</defs>", heads());
    let _ = writeln!(svg, "<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>");
    let mut y = 0;
    for (title, layout) in pictures {
        let _ = writeln!(svg, "<g transform=\"translate(0 {y})\">");
        let _ = writeln!(svg, "<title>{}</title>", escape(title));
        for shape in &layout.shapes {
            svg.push_str(&draw(shape));
            svg.push('\n');
        }
        svg.push_str("</g>\n");
        y += layout.height;
    }
    svg.push_str("</svg>\n");
    svg
}

fn style() -> String {
    let sheet = |is_dark: bool| -> String {
        let paper = if is_dark { PAPER.dark } else { PAPER.light };
        let classes = CLASSES.iter().map(|class| Style::of(*class).css(*class, is_dark));
        format!(".paper{{fill:{paper}}}{}", classes.collect::<String>())
    };
    format!("{}@media (prefers-color-scheme:dark){{{}}}", sheet(false), sheet(true))
}

fn heads() -> String {
    let heads = ARROWS.iter().map(|class| {
        format!(
            "<marker id=\"{}-head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" \
             markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path d=\"M0 1L10 5L0 9z\"/></marker>",
            class.name()
        )
    });
    heads.collect()
}

fn draw(shape: &Shape) -> String {
    match shape {
        Shape::Text(text) => words(text),
        Shape::Line { x1, y1, x2, y2, class } => format!(
            "<line class=\"{}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>",
            class.name()
        ),
        Shape::Arrow { x1, y1, x2, y2, class } => {
            let name = class.name();
            format!(
                "<line class=\"{name}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" \
                 marker-end=\"url(#{name}-head)\"/>"
            )
        }
        Shape::Rect { x, y, w, h, class } => format!(
            "<rect class=\"{}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"2\"/>",
            class.name()
        ),
        Shape::Cross { x, y, class } => {
            let (l, r, t, b) = (x - 5, x + 5, y - 5, y + 5);
            format!("<path class=\"{}\" d=\"M{l} {t}L{r} {b}M{l} {b}L{r} {t}\"/>", class.name())
        }
        Shape::Bolt { x, y } => {
            let (x, y) = (x - 5, y - 9);
            format!("<path class=\"bolt\" d=\"M{} {y}l-7 10h5l-3 8l9 -11h-5l4 -7z\"/>", x + 5)
        }
    }
}

fn words(text: &Text) -> String {
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let Text { x, y, class, .. } = text;
    let name = class.name();
    format!("<text class=\"{name}\" x=\"{x}\" y=\"{y}\"{anchor}>{}</text>", escape(&text.text))
}

/// Text for XML: markup is escaped, and what XML cannot carry is shown as what it is.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ if char.is_control() || matches!(char, '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(char));
            }
            _ => escaped.push(char),
        }
    }
    escaped
}
