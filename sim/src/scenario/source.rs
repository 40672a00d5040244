//! A file as lines, and what its head says before the lines are read in turn.

use std::ops::Range;

use super::limits::LINE_CHARS_MAX;
use super::token::{Problem, Token};
use super::words::{Names, Words};
use super::{Diagnostic, Header, Span, vocabulary};

/// One line of the file, as it stands there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a> {
    /// From 1.
    pub(super) number: usize,
    /// Of its first byte, in the file.
    offset: usize,
    pub(super) text: &'a str,
}

impl<'a> Raw<'a> {
    /// The line without its comment, and the comment.
    pub(super) fn parts(self) -> (&'a str, Option<&'a str>) {
        let mut before = ' ';
        for (at, c) in self.text.char_indices() {
            if c == '#' && before.is_whitespace() {
                return (&self.text[..at], Some(&self.text[at + 1..]));
            }
            before = c;
        }
        (self.text, None)
    }

    /// The first word before any comment.
    pub(super) fn word(self) -> Option<Token<'a>> {
        let code = self.parts().0;
        let text = code.split_whitespace().next()?;
        let start = code.len() - code.trim_start().len();
        Some(Token { text, start })
    }

    pub(super) fn span(self) -> Span {
        let trimmed = self.text.trim();
        let start = self.offset + self.text.len() - self.text.trim_start().len();
        Span { line: self.number, start, end: start + trimmed.len() }
    }

    pub(super) fn is_too_long(self) -> bool {
        self.text.chars().nth(LINE_CHARS_MAX).is_some()
    }

    pub(super) fn diagnostic(self, problem: Problem) -> Diagnostic {
        let Problem { span, found, valid, nearest, note, form } = problem;
        let column = self.text[..span.start].chars().count() + 1;
        let text = self.text.to_owned();
        Diagnostic {
            line: self.number,
            column,
            span,
            text,
            found,
            valid,
            nearest: nearest.map(String::from),
            note,
            form,
        }
    }

    pub(super) fn too_long(self) -> Problem {
        let found = format!("a line of {} characters", self.text.chars().count());
        let mut problem = self.problem(found, format!("at most {LINE_CHARS_MAX} characters"));
        // The whole line would be a mark of hundreds of columns.
        problem.span.end = problem.span.start;
        problem
    }

    /// A problem with the whole line.
    pub(super) fn problem(self, found: impl Into<String>, valid: impl Into<String>) -> Problem {
        let start = self.text.len() - self.text.trim_start().len();
        let span: Range<usize> = start..start + self.text.trim().len();
        Problem {
            span,
            found: found.into(),
            valid: valid.into(),
            nearest: None,
            note: None,
            form: None,
        }
    }
}

/// The lines of a file.
pub(super) struct Source<'a> {
    pub(super) lines: Vec<Raw<'a>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut offset = 0;
        let mut lines = vec![];
        for (index, whole) in text.split_inclusive('\n').enumerate() {
            let text = whole.strip_suffix('\n').unwrap_or(whole);
            let text = text.strip_suffix('\r').unwrap_or(text);
            lines.push(Raw { number: index + 1, offset, text });
            offset += whole.len();
        }
        Self { lines }
    }

    /// The names that the head introduces. Mistakes are not reported here but when the line is
    /// read in its turn.
    pub(super) fn names<'v>(&self, variants: &'v [&'v str]) -> Names<'v> {
        let mut names = Names { variants, complete: true, ..Names::default() };
        let is_verb =
            |raw: &Raw<'_>| raw.word().is_some_and(|word| vocabulary::verb(word.text).is_some());
        let head = || self.lines.iter().take_while(|raw| !is_verb(raw));
        // `hosts` first, as `idle` may not repeat them.
        for pass in ["hosts", "idle", "arbiters", "under"] {
            let of_pass = |raw: &&Raw<'_>| raw.word().is_some_and(|word| word.text == pass);
            for raw in head().filter(of_pass) {
                match read_line(*raw, &names, vocabulary::header) {
                    Ok(Header::Hosts(hosts)) => {
                        names.versions.extend(hosts.iter().map(|host| host.version.clone()));
                        names.booted.extend(hosts.into_iter().map(|host| host.name));
                    }
                    Ok(Header::Idle(hosts)) => {
                        names.versions.extend(hosts.iter().map(|host| host.version.clone()));
                        names.idle.extend(hosts.into_iter().map(|host| host.name));
                    }
                    Ok(Header::Arbiters(arbiters)) => names.two_arbiters = arbiters == 2,
                    Ok(Header::Under { variant, .. }) => {
                        names.under.insert(variant);
                    }
                    Ok(
                        Header::Chunks(_)
                        | Header::Slots(_)
                        | Header::Priority(_)
                        | Header::Pinned(_)
                        | Header::SingleSteps,
                    ) => {}
                    Err(_) if pass == "under" => {
                        names.under.extend(variants.iter().map(|variant| (*variant).to_owned()));
                    }
                    Err(_) if pass == "arbiters" => names.two_arbiters = true,
                    Err(_) => names.complete = false,
                }
            }
        }
        names.versions.extend(self.lines.iter().filter_map(|raw| booted_version(*raw)));
        names.complete &= !names.booted.is_empty();
        names
    }
}

/// The version of `boot HOST:VERSION` and `overlap HOST:VERSION`.
fn booted_version(raw: Raw<'_>) -> Option<String> {
    let mut words = raw.parts().0.split_whitespace();
    words.next().filter(|verb| ["boot", "overlap"].contains(verb))?;
    let (_, version) = words.next()?.split_once(':')?;
    Some(version.to_owned())
}

/// Reads a line whose first word `find` knows, down to its last word.
pub(super) fn read_line<T: 'static>(
    raw: Raw<'_>,
    names: &Names<'_>,
    find: fn(&str) -> Option<&'static vocabulary::Word<T>>,
) -> Result<T, Problem> {
    if raw.is_too_long() {
        return Err(raw.too_long());
    }
    let mut words = Words::new(raw.parts().0, names);
    let first = words.take("a word")?;
    let Some(word) = find(first.text) else {
        return Err(first.problem("another word"));
    };
    let read = (word.read)(&mut words);
    let whole = read.and_then(|value| words.end().map(|()| value));
    whole.map_err(|problem| problem.of(word.entry.form))
}
