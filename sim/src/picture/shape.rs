//! The shapes that a picture is made of, and how wide a text is.

/// What a shape means; its colours follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Title,
    About,
    Good,
    Broken,
    BrokenNote,
    LostNote,
    Lane,
    Detail,
    Command,
    Follows,
    Stale,
    Label,
    GoodLabel,
    FaultLabel,
    LaneLine,
    BrokenFill,
    LostFill,
    PlainFill,
    Statement,
    View,
    QuietView,
    Open,
    Commit,
    Cross,
    Offer,
    Hold,
    Build,
    Slot,
    Drain,
    Slow,
    Stalled,
    Dead,
    Bolt,
}

impl Class {
    /// Its name in a style sheet.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::About => "about",
            Self::Good => "good",
            Self::Broken => "broken",
            Self::BrokenNote => "broken-note",
            Self::LostNote => "lost-note",
            Self::Lane => "lane",
            Self::Detail => "detail",
            Self::Command => "command",
            Self::Follows => "follows",
            Self::Stale => "stale",
            Self::Label => "label",
            Self::GoodLabel => "good-label",
            Self::FaultLabel => "fault-label",
            Self::LaneLine => "lane-line",
            Self::BrokenFill => "broken-fill",
            Self::LostFill => "lost-fill",
            Self::PlainFill => "plain-fill",
            Self::Statement => "statement",
            Self::View => "view",
            Self::QuietView => "quiet",
            Self::Open => "open",
            Self::Commit => "commit",
            Self::Cross => "cross",
            Self::Offer => "offer",
            Self::Hold => "hold",
            Self::Build => "build",
            Self::Slot => "slot",
            Self::Drain => "drain",
            Self::Slow => "slow",
            Self::Stalled => "stalled",
            Self::Dead => "dead",
            Self::Bolt => "bolt",
        }
    }

    /// The size of its letters, in pixels.
    pub(super) const fn letters(self) -> i32 {
        match self {
            Self::Title => 19,
            Self::Good | Self::Broken | Self::BrokenNote | Self::LostNote | Self::Lane => 14,
            Self::Detail => 11,
            Self::About
            | Self::Command
            | Self::Follows
            | Self::Stale
            | Self::Label
            | Self::GoodLabel
            | Self::FaultLabel
            | Self::LaneLine
            | Self::BrokenFill
            | Self::LostFill
            | Self::PlainFill
            | Self::Statement
            | Self::View
            | Self::QuietView
            | Self::Open
            | Self::Commit
            | Self::Cross
            | Self::Offer
            | Self::Hold
            | Self::Build
            | Self::Slot
            | Self::Drain
            | Self::Slow
            | Self::Stalled
            | Self::Dead
            | Self::Bolt => 13,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) x: i32,
    /// The line that the letters stand on.
    pub(super) y: i32,
    pub(super) text: String,
    pub(super) class: Class,
    pub(super) anchor: Anchor,
}

#[derive(Clone, Debug)]
pub(super) enum Shape {
    Text(Text),
    Line {
        x1: i32,
        y1: i32,
        x2: i32,
        y2: i32,
        class: Class,
    },
    Arrow {
        x1: i32,
        y1: i32,
        x2: i32,
        y2: i32,
        class: Class,
    },
    Rect {
        x: i32,
        y: i32,
        w: i32,
        h: i32,
        class: Class,
    },
    /// Where something is lost.
    Cross {
        x: i32,
        y: i32,
        class: Class,
    },
    /// Where something goes wrong.
    Bolt {
        x: i32,
        y: i32,
    },
}

impl Text {
    /// How wide a text is at most, in pixels: fonts differ, and this is a wide one.
    pub(super) fn width_of(text: &str) -> i32 {
        width(text, 13)
    }
}

/// Three fifths of the size for each character, which is what a monospaced font needs.
fn width(text: &str, size: i32) -> i32 {
    let chars = i32::try_from(text.chars().count()).unwrap_or(i32::MAX / 100);
    chars * size * 61 / 100
}

/// Breaks a text into lines that fit.
pub(super) fn wrap(text: &str, room: i32, class: Class) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if line.is_empty() || width(&longer, class.letters()) <= room {
            *line = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
