//! Every word of the language, once: its form, what it means, an example, and how it is read.
//!
//! In a form, upper-case words stand for what the writer puts there, square brackets enclose what
//! may be left out, `|` separates choices and `...` repeats.

mod facts;
mod faults;
mod headers;
mod verbs;

use std::fmt::Write as _;

use super::token::Problem;
use super::words::Words;
use super::{Command, Fact, Header, Keyword as _, Property, Refusal};

/// What the reference and the messages say of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How it is written; begins with the word itself.
    pub form: &'static str,
    /// What it means, in a line.
    pub meaning: &'static str,
    /// A line that parses, in a file with the hosts `b` and `c`, `d` idle, and two arbiters.
    pub example: &'static str,
}

impl Entry {
    /// The word itself.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.form.split(' ').next().unwrap_or(self.form)
    }
}

/// A word, and how the rest of its line becomes a `T`.
pub(super) struct Word<T> {
    pub(super) entry: Entry,
    pub(super) read: fn(&mut Words<'_>) -> Result<T, Problem>,
}

/// Words that the reference shows together.
struct Section<T: 'static> {
    title: &'static str,
    words: &'static [Word<T>],
}

/// The headers, in the order of the reference.
pub fn headers() -> impl Iterator<Item = &'static Entry> {
    entries(headers::SECTIONS)
}

/// The verbs, in the order of the reference.
pub fn verbs() -> impl Iterator<Item = &'static Entry> {
    entries(verbs::SECTIONS)
}

/// The facts that `expect` knows, in the order of the reference.
pub fn facts() -> impl Iterator<Item = &'static Entry> {
    entries(facts::SECTIONS)
}

/// The reference of the language, in Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from(PREFACE);
    text.push_str("\n## Headers\n");
    write_sections(&mut text, headers::SECTIONS);
    text.push_str("\nThe properties are ");
    let properties: Vec<&str> = Property::ALL.iter().map(|property| property.word()).collect();
    let _ = writeln!(text, "`{}`.", properties.join("`, `"));
    text.push_str("\n## Commands\n");
    write_sections(&mut text, verbs::SECTIONS);
    text.push_str("\n## Facts\n\nWhat `expect` and `expect under VARIANT` can say.\n");
    write_sections(&mut text, facts::SECTIONS);
    text.push_str("\nThe refusals are ");
    let refusals: Vec<&str> = Refusal::ALL.iter().map(|refusal| refusal.word()).collect();
    let _ = writeln!(text, "`{}`.", refusals.join("`, `"));
    text
}

pub(super) fn header(word: &str) -> Option<&'static Word<Header>> {
    find(headers::SECTIONS, word)
}

pub(super) fn verb(word: &str) -> Option<&'static Word<Command>> {
    find(verbs::SECTIONS, word)
}

pub(super) fn fact(word: &str) -> Option<&'static Word<Fact>> {
    find(facts::SECTIONS, word)
}

const PREFACE: &str = "# The scenario language

One command a line. The first line is the title, `# Title (source)`. After it prose may follow, in
lines that begin with an upper-case letter, up to the first header. Below that, text stands behind
`#`: in a line of its own, or at the end of a line. Blank lines separate.

Upper-case words stand for what you write there; `[ ]` may be left out, `|` separates choices,
`...` repeats. HOST is a name, `b`, or one life of it, `b.2`; LINK is `b -> record` or
`record -> b`; GRANT is `g1`; WORK is a build, `x1`, or a grant.
";

fn entries<T>(sections: &'static [Section<T>]) -> impl Iterator<Item = &'static Entry> {
    sections.iter().flat_map(|section| section.words).map(|word| &word.entry)
}

fn find<T>(sections: &'static [Section<T>], word: &str) -> Option<&'static Word<T>> {
    sections.iter().flat_map(|section| section.words).find(|each| each.entry.word() == word)
}

fn write_sections<T>(text: &mut String, sections: &[Section<T>]) {
    // Writing to a string cannot fail.
    for section in sections {
        if !section.title.is_empty() {
            let _ = write!(text, "\n### {}\n", section.title);
        }
        text.push_str("\n| form | meaning | example |\n|---|---|---|\n");
        for Word { entry, .. } in section.words {
            let form = entry.form.replace('|', "\\|");
            let Entry { meaning, example, .. } = entry;
            let _ = writeln!(text, "| `{form}` | {meaning} | `{example}` |");
        }
    }
}

const fn word<T>(
    form: &'static str,
    meaning: &'static str,
    example: &'static str,
    read: fn(&mut Words<'_>) -> Result<T, Problem>,
) -> Word<T> {
    Word { entry: Entry { form, meaning, example }, read }
}
