//! A word of a line, and what is wrong with it.

use std::ops::{Range, RangeInclusive};

/// Why a line cannot be read, with the bytes of the line that are to blame.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) span: Range<usize>,
    pub(super) found: String,
    pub(super) valid: String,
    pub(super) nearest: Option<Box<str>>,
    pub(super) note: Option<String>,
    pub(super) form: Option<&'static str>,
}

/// A word and the byte of the line at which it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

/// What a name is made of, for notes.
pub(super) const NAME: &str =
    "a name begins with a lower-case letter; letters, digits, `-` and `_` follow";

impl<'a> Token<'a> {
    /// This word where `valid` should stand.
    pub(super) fn problem(self, valid: impl Into<String>) -> Problem {
        Problem {
            span: self.start..self.start + self.text.len(),
            found: quote(self.text),
            valid: valid.into(),
            nearest: None,
            note: None,
            form: None,
        }
    }

    /// The word in two, before and behind the first `c`.
    pub(super) fn cut(self, c: char) -> Option<(Self, Self)> {
        let (before, behind) = self.text.split_once(c)?;
        let start = self.start + before.len() + c.len_utf8();
        Some((Self { text: before, start: self.start }, Self { text: behind, start }))
    }

    /// This word, which stands here for the second time.
    pub(super) fn again(self, valid: &str) -> Problem {
        let mut problem = self.problem(valid);
        problem.found.push_str(" a second time");
        problem
    }

    /// As [`Token::number`], of a range that fits.
    pub(super) fn small(self, what: &str, range: RangeInclusive<u64>) -> Result<u32, Problem> {
        let number = self.number(what, range)?;
        Ok(u32::try_from(number).expect("the ranges of the language end far below"))
    }

    /// The word as a number of `range`; `what` names it.
    pub(super) fn number(self, what: &str, range: RangeInclusive<u64>) -> Result<u64, Problem> {
        let digits = !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit());
        match self.text.parse() {
            Ok(number) if digits && range.contains(&number) => Ok(number),
            Ok(_) | Err(_) => Err(self.problem(number_range(what, &range))),
        }
    }

    /// The word as a version.
    pub(super) fn version(self) -> Result<String, Problem> {
        let alphanumeric = |c: char| c.is_ascii_alphanumeric();
        let fits = |c: char| alphanumeric(c) || matches!(c, '.' | '_' | '-');
        if self.text.starts_with(alphanumeric) && self.text.chars().all(fits) {
            return Ok(self.text.to_owned());
        }
        let note = "a version begins with a letter or a digit; `.`, `_` and `-` may follow, too";
        Err(self.problem("a version, as `v1`").note(note))
    }

    /// Whether the word has the form of a grant.
    pub(super) fn is_grant(&self) -> bool {
        let digits = self.text.strip_prefix('g').unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// Whether the word is an arbiter's.
    pub(super) fn is_arbiter(self) -> bool {
        matches!(self.text, "record" | "record2")
    }
}

impl Problem {
    /// With the nearest of `words`, if one is close.
    pub(super) fn near<'b>(mut self, words: impl IntoIterator<Item = &'b str>) -> Self {
        // The found word stands between backticks.
        self.nearest = nearest(self.found.trim_matches('`'), words).map(Box::from);
        self
    }

    /// With the form of the word that it is about, if nothing smaller gave one.
    pub(super) fn of(mut self, form: &'static str) -> Self {
        self.form.get_or_insert(form);
        self
    }

    /// With a remark.
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// Whether `text` can name a host, a build or a chunk.
pub(super) fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(fits)
}

/// The one of `words` that a slip of the finger turns `word` into.
#[must_use]
pub fn nearest<'b>(word: &str, words: impl IntoIterator<Item = &'b str>) -> Option<&'b str> {
    let length = word.chars().count();
    if length > LONGEST_NEAR {
        return None;
    }
    let word = word.to_lowercase();
    let close = |candidate: &&str| {
        let distance = strsim::damerau_levenshtein(&word, &candidate.to_lowercase());
        (distance <= (length / 3).max(1) && distance < length).then_some(distance)
    };
    let close = words.into_iter().filter_map(|word| Some((close(&word)?, word)));
    close.min().map(|(_, word)| word)
}

/// Words in backticks: `a`, `b` or `c`.
pub(super) fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [first @ .., last] => format!("`{}` or `{last}`", first.join("`, `")),
    }
}

/// The words of the language are all shorter; a longer one is no slip of the finger.
const LONGEST_NEAR: usize = 40;

/// `text` as a message shows it: control characters escaped, and not all of a long one.
fn quote(text: &str) -> String {
    let shown: String = text.chars().take(LONGEST_NEAR).collect();
    let shown = escaped(&shown);
    let more = if text.chars().count() > LONGEST_NEAR { "..." } else { "" };
    format!("`{shown}{more}`")
}

/// `text` with its control characters escaped: what a file says in a title, a comment or a reason
/// must not move the cursor of whoever reads of it.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

pub(super) fn number_range(what: &str, range: &RangeInclusive<u64>) -> String {
    format!("{what}: a number from {} to {}", range.start(), range.end())
}

/// The words of `text`, whose first byte is `offset` of the line; punctuation makes words of its
/// own.
pub(super) fn split(
    text: &str,
    offset: usize,
    punctuation: impl Fn(char) -> bool,
) -> Vec<Token<'_>> {
    let mut tokens = vec![];
    let mut begun = None;
    for (at, c) in text.char_indices() {
        let space = c.is_whitespace();
        let alone = punctuation(c);
        if (space || alone)
            && let Some(start) = begun.take()
        {
            tokens.push(Token { text: &text[start..at], start: offset + start });
        }
        if alone {
            tokens.push(Token { text: &text[at..at + c.len_utf8()], start: offset + at });
        } else if !space && begun.is_none() {
            begun = Some(at);
        }
    }
    if let Some(start) = begun {
        tokens.push(Token { text: &text[start..], start: offset + start });
    }
    tokens
}
