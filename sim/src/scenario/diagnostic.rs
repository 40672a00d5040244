//! What is wrong with a file, in a form that a person and a program can use.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use annotate_snippets::{Annotation, AnnotationKind, Level, Origin, Renderer, Snippet};

use super::limits::DIAGNOSTICS_MAX;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is to blame, in bytes of [`Diagnostic::text`].
    pub span: Range<usize>,
    /// The line as it stands in the file; empty if it cannot be shown.
    pub text: String,
    /// What was found; a word of the file stands between backticks.
    pub found: String,
    /// What would have been valid instead.
    pub valid: String,
    /// The valid word that was probably meant.
    pub nearest: Option<String>,
    /// A remark that helps further.
    pub note: Option<String>,
    /// The form of the header, verb or fact that the line begins with.
    pub form: Option<&'static str>,
}

/// A file that is no scenario. Displayed without colour, in full.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render(false))]
pub struct ParseError {
    name: String,
    diagnostics: Vec<Diagnostic>,
    more: bool,
}

/// A file that could not be had, or is no scenario.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system did not hand the file out.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The writer of the file made mistakes.
    #[error(transparent)]
    Parse(#[from] ParseError),
}

impl ParseError {
    /// Invariant: never without a diagnostic, never more than [`DIAGNOSTICS_MAX`].
    pub(super) fn new(name: &str, mut diagnostics: Vec<Diagnostic>) -> Self {
        assert!(!diagnostics.is_empty(), "an error says what is wrong");
        diagnostics.sort_by_key(|diagnostic| diagnostic.line);
        let more = diagnostics.len() > DIAGNOSTICS_MAX;
        diagnostics.truncate(DIAGNOSTICS_MAX);
        Self { name: name.to_owned(), diagnostics, more }
    }

    /// The mistakes in the order of the file, at least one and at most [`DIAGNOSTICS_MAX`].
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The name of the file, as it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the file has more mistakes than are reported.
    #[must_use]
    pub const fn more(&self) -> bool {
        self.more
    }

    /// The mistakes for a terminal, each with its line and a mark below it.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let each = self.diagnostics.iter();
        let mut texts: Vec<String> =
            each.map(|diagnostic| diagnostic.render(&self.name, &renderer)).collect();
        if self.more {
            texts.push(format!("only the first {DIAGNOSTICS_MAX} mistakes are shown"));
        }
        texts.join("\n\n")
    }
}

impl Diagnostic {
    fn render(&self, name: &str, renderer: &Renderer) -> String {
        let title = format!("found {}", self.found);
        let group = Level::ERROR.primary_title(title);
        let mut group = if self.text.trim().is_empty() {
            // There is nothing to show, and an empty line would only look like a fault of ours.
            group.element(Origin::path(name).line(self.line).char_column(self.column))
        } else {
            group.element(self.snippet(name))
        };
        group = group.element(Level::HELP.message(wrap(&format!("valid here: {}", self.valid))));
        if let Some(note) = &self.note {
            group = group.element(Level::NOTE.message(wrap(note)));
        }
        if let Some(form) = self.form {
            group = group.element(Level::NOTE.message(wrap(&format!("the form is `{form}`"))));
        }
        renderer.render(&[group])
    }

    /// The line with a mark below what is to blame.
    fn snippet<'a>(&'a self, name: &'a str) -> Snippet<'a, Annotation<'a>> {
        let label = self.nearest.as_ref().map(|word| format!("did you mean `{word}`?"));
        let mark = AnnotationKind::Primary.span(self.span.clone()).label(label);
        Snippet::source(self.text.as_str()).line_start(self.line).path(name).annotation(mark)
    }
}

/// `text` in lines of at most [`MESSAGE_CHARS_MAX`], where its words allow it.
fn wrap(text: &str) -> String {
    let mut wrapped = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > 0 {
            let fits = column + 1 + width <= MESSAGE_CHARS_MAX;
            wrapped.push(if fits { ' ' } else { '\n' });
            column = if fits { column + 1 } else { 0 };
        }
        wrapped.push_str(word);
        column += width;
    }
    wrapped
}

/// Room is left for what stands before a message: the margin and its level.
const MESSAGE_CHARS_MAX: usize = 85;
