//! A line of a scenario and its place in the file.

use super::{Command, Header};

/// Where a line stands in its file. All zero: made by a program, not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The line, from 1.
    pub line: usize,
    /// The first byte of the line's text in the file, without indent.
    pub start: usize,
    /// The byte after the last, a trailing comment included.
    pub end: usize,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Unmarked text of the head; begins with an upper-case letter.
    Prose(String),
    /// A line of the head that sets the scene.
    Header(Header),
    /// A line of the body that does or judges something.
    Command(Command),
    /// A line of its own after `#`; may be empty.
    Comment(String),
    /// An empty line.
    Blank,
}

/// One line after the title. Equality is that of the text; the span does not count.
#[derive(Clone, Debug)]
pub struct Line {
    content: Content,
    comment: Option<String>,
    span: Span,
}

impl Line {
    /// A line as it was read. `comment` is what stands behind `#` at the end of a header or a
    /// command; it is not empty.
    #[must_use]
    pub const fn new(content: Content, comment: Option<String>, span: Span) -> Self {
        Self { content, comment, span }
    }

    /// What the line says.
    #[must_use]
    pub const fn content(&self) -> &Content {
        &self.content
    }

    /// The remark at the end of a header or a command.
    #[must_use]
    pub fn comment(&self) -> Option<&str> {
        self.comment.as_deref()
    }

    /// The place in the file.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }

    /// The command, if the line is one.
    #[must_use]
    pub const fn command(&self) -> Option<&Command> {
        match &self.content {
            Content::Command(command) => Some(command),
            Content::Prose(_) | Content::Header(_) | Content::Comment(_) | Content::Blank => None,
        }
    }

    /// The header, if the line is one.
    #[must_use]
    pub const fn header(&self) -> Option<&Header> {
        match &self.content {
            Content::Header(header) => Some(header),
            Content::Prose(_) | Content::Command(_) | Content::Comment(_) | Content::Blank => None,
        }
    }
}

impl From<Content> for Line {
    /// A line without a place and without a remark.
    fn from(content: Content) -> Self {
        Self::new(content, None, Span::default())
    }
}

impl PartialEq for Line {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content && self.comment == other.comment
    }
}

impl Eq for Line {}
