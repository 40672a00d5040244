//! From text to scenario. One mistake does not hide the next: reading goes on at the next line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::limits::{BUILDS_MAX, COMMANDS_MAX, DIAGNOSTICS_MAX, FILE_BYTES_MAX};
use super::source::{Raw, Source, read_line};
use super::token::{Problem, Token, list};
use super::words::Names;
use super::{
    CURRENT, Command, Content, Diagnostic, Header, Line, LoadError, ParseError, Scenario,
    vocabulary,
};

impl Scenario {
    /// Reads a scenario. `name` is what messages call the file; `variants` are the protocols that
    /// `under` may name besides [`CURRENT`].
    ///
    /// # Errors
    /// All mistakes of the text, up to [`DIAGNOSTICS_MAX`].
    pub fn parse(name: &str, text: &str, variants: &[&str]) -> Result<Self, ParseError> {
        refuse_too_long(name, text.len())?;
        if let Some(at) = text.find('\0') {
            return Err(binary(name, text.as_bytes(), at, "a byte 0"));
        }
        let source = Source::new(text);
        let reader = Reader::new(source.names(variants));
        reader.read(&source).map_err(|diagnostics| ParseError::new(name, diagnostics))
    }

    /// As [`Scenario::parse`], of bytes that may be no text at all.
    ///
    /// # Errors
    /// As [`Scenario::parse`]; bytes that are no UTF-8 are one mistake.
    pub fn parse_bytes(name: &str, bytes: &[u8], variants: &[&str]) -> Result<Self, ParseError> {
        refuse_too_long(name, bytes.len())?;
        match str::from_utf8(bytes) {
            Ok(text) => Self::parse(name, text, variants),
            Err(error) => {
                let at = error.valid_up_to();
                Err(binary(name, bytes, at, &format!("a byte 0x{:02x}", bytes[at])))
            }
        }
    }

    /// Reads the regular file at `path`, never more than [`FILE_BYTES_MAX`] of it.
    ///
    /// # Errors
    /// What the system says of the file, or its mistakes.
    pub fn load(path: impl AsRef<Path>, variants: &[&str]) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let bytes = read_bounded(path)
            .map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
        let name = path.display().to_string();
        Ok(Self::parse_bytes(&name, &bytes, variants)?)
    }
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    // To open a pipe would wait for its writer, perhaps for ever.
    if !fs::metadata(path)?.is_file() {
        let what = "this is no regular file, and a pipe or a device is not read";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut bytes = vec![];
    // One byte more than allowed shows that the file is too long.
    let bound = u64::try_from(FILE_BYTES_MAX + 1).expect("the bound is small");
    File::open(path)?.take(bound).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn refuse_too_long(name: &str, bytes: usize) -> Result<(), ParseError> {
    if bytes <= FILE_BYTES_MAX {
        return Ok(());
    }
    let found = format!("a file of more than {FILE_BYTES_MAX} bytes");
    Err(ParseError::new(name, vec![whole_file(1, 1, found, "a file of at most 1 MiB")]))
}

/// A file that is no text, because of the byte at `at`.
fn binary(name: &str, bytes: &[u8], at: usize, found: &str) -> ParseError {
    let before = &bytes[..at];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    let found = format!("{found} at offset {at}: this is no text");
    ParseError::new(name, vec![whole_file(line, column, found, "a text in UTF-8")])
}

fn whole_file(line: usize, column: usize, found: String, valid: &str) -> Diagnostic {
    Diagnostic {
        line,
        column,
        span: 0..0,
        text: String::new(),
        found,
        valid: valid.to_owned(),
        nearest: None,
        note: None,
        form: None,
    }
}

/// Which lines may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Prose and headers.
    Prose,
    /// Headers.
    Headers,
    /// Commands.
    Body,
}

/// Goes through the lines and keeps what was understood and what was not.
#[derive(Debug)]
struct Reader<'a> {
    names: Names<'a>,
    part: Part,
    title: String,
    lines: Vec<Line>,
    commands: usize,
    builds: usize,
    /// The line of each header so far, by its word, of `under` by word and variant.
    headers: BTreeMap<String, usize>,
    /// The words of the headers that could not be read; they are not missing as well.
    broken: BTreeSet<&'a str>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    const fn new(names: Names<'a>) -> Self {
        Self {
            names,
            part: Part::Prose,
            title: String::new(),
            lines: vec![],
            commands: 0,
            builds: 0,
            headers: BTreeMap::new(),
            broken: BTreeSet::new(),
            diagnostics: vec![],
        }
    }

    fn read(mut self, source: &Source<'a>) -> Result<Scenario, Vec<Diagnostic>> {
        let blank = source.lines.iter().all(|raw| raw.text.trim().is_empty());
        let (false, Some((first, rest))) = (blank, source.lines.split_first()) else {
            return Err(vec![whole_file(1, 1, "an empty file".to_owned(), TITLE)]);
        };
        self.title(*first);
        for raw in rest {
            self.line(*raw);
            if self.diagnostics.len() > DIAGNOSTICS_MAX || self.commands > COMMANDS_MAX {
                return Err(self.diagnostics);
            }
        }
        if self.part != Part::Body {
            self.end_head(*rest.last().unwrap_or(first));
        }
        if self.diagnostics.is_empty() {
            Ok(Scenario::from_lines(self.title, self.lines))
        } else {
            Err(self.diagnostics)
        }
    }

    fn title(&mut self, raw: Raw<'a>) {
        let text = raw.text.trim_start_matches('\u{feff}').trim();
        match text.strip_prefix('#').map(str::trim) {
            Some("") => self.report(raw, raw.problem("a title without text", TITLE)),
            Some(_) if raw.is_too_long() => self.report(raw, raw.too_long()),
            Some(title) => title.clone_into(&mut self.title),
            None if text.is_empty() => self.report(raw, raw.problem("an empty line", TITLE)),
            None => {
                self.report(raw, raw.problem("a line without `#`", TITLE));
                // What is forgotten is the title, not what stands here.
                if raw.word().is_some_and(|word| is_known(word.text)) {
                    self.line(raw);
                }
            }
        }
    }

    fn line(&mut self, raw: Raw<'a>) {
        let prose = raw.text.trim();
        let Some(first) = raw.word() else {
            let comment = raw.parts().1.map(comment_text);
            return self.keep(raw, comment.map_or(Content::Blank, Content::Comment), None);
        };
        if self.part == Part::Prose && prose.starts_with(char::is_uppercase) {
            return self.keep(raw, Content::Prose(prose.to_owned()), None);
        }
        if vocabulary::verb(first.text).is_some() {
            self.command(raw);
        } else if vocabulary::header(first.text).is_none() {
            self.report(raw, unknown_word(first, self.part));
        } else if self.part == Part::Body {
            let problem = first.problem("a command");
            self.report(raw, problem.note("a header stands before the first command"));
        } else {
            self.header(raw, first.text);
        }
    }

    fn header(&mut self, raw: Raw<'a>, word: &'a str) {
        self.part = Part::Headers;
        let header = match read_line(raw, &self.names, vocabulary::header) {
            Ok(header) => header,
            Err(problem) => {
                self.broken.insert(word);
                return self.report(raw, problem);
            }
        };
        let key = match &header {
            Header::Under { variant, .. } => format!("under {variant}"),
            Header::Hosts(_)
            | Header::Idle(_)
            | Header::Chunks(_)
            | Header::Slots(_)
            | Header::Priority(_)
            | Header::Arbiters(_)
            | Header::Pinned(_)
            | Header::SingleSteps => word.to_owned(),
        };
        if let Some(line) = self.headers.get(&key) {
            let valid = format!("`{key}` once; it stands on line {line}");
            return self.report(raw, raw.problem(format!("`{key}` a second time"), valid));
        }
        self.headers.insert(key, raw.number);
        self.keep(raw, Content::Header(header), raw.parts().1);
    }

    fn command(&mut self, raw: Raw<'a>) {
        if self.part != Part::Body {
            self.end_head(raw);
        }
        self.commands += 1;
        if self.commands > COMMANDS_MAX {
            let found = format!("more than {COMMANDS_MAX} commands");
            return self
                .report(raw, raw.problem(found, format!("at most {COMMANDS_MAX} commands")));
        }
        match read_line(raw, &self.names, vocabulary::verb) {
            Ok(command) => {
                self.builds += usize::from(matches!(command, Command::Submit { .. }));
                if self.builds == BUILDS_MAX + 1 {
                    let found = format!("more than {BUILDS_MAX} builds");
                    self.report(raw, raw.problem(found, format!("at most {BUILDS_MAX} builds")));
                }
                self.keep(raw, Content::Command(command), raw.parts().1);
            }
            Err(problem) => self.report(raw, problem),
        }
    }

    /// Misses at `raw` what the head should have said.
    fn end_head(&mut self, raw: Raw<'a>) {
        self.part = Part::Body;
        let under = format!("under {CURRENT}");
        for (word, key) in [("hosts", "hosts"), ("under", &under)] {
            if self.headers.contains_key(key) || self.broken.contains(word) {
                continue;
            }
            let form = vocabulary::header(word).map_or(word, |word| word.entry.form);
            let found = format!("no `{key}` in the lines before");
            let mut problem = raw.problem(found, format!("`{form}` before the first command"));
            let mut prose = self.lines.iter().filter_map(|line| match line.content() {
                Content::Prose(text) => Some((line.span().line, text)),
                Content::Header(_) | Content::Command(_) | Content::Comment(_) | Content::Blank => {
                    None
                }
            });
            let is_word = |text: &str| {
                text.split_whitespace().next().is_some_and(|first| first.to_lowercase() == word)
            };
            if let Some((line, _)) = prose.find(|(_, text)| is_word(text)) {
                let note = format!("line {line} is prose: it begins with an upper-case letter");
                problem = problem.note(note);
            }
            self.report(raw, problem);
        }
    }

    fn keep(&mut self, raw: Raw<'a>, content: Content, comment: Option<&str>) {
        if raw.is_too_long() {
            return self.report(raw, raw.too_long());
        }
        let comment = comment.map(comment_text).filter(|text| !text.is_empty());
        self.lines.push(Line::new(content, comment, raw.span()));
    }

    fn report(&mut self, raw: Raw<'a>, problem: Problem) {
        self.diagnostics.push(raw.diagnostic(problem));
    }
}

const TITLE: &str = "the title: `# Title (source)`";

fn is_known(word: &str) -> bool {
    vocabulary::header(word).is_some() || vocabulary::verb(word).is_some()
}

fn unknown_word(word: Token<'_>, part: Part) -> Problem {
    let headers = vocabulary::headers().map(|entry| entry.word());
    let headers: Vec<&str> = if part == Part::Body { vec![] } else { headers.collect() };
    let verbs: Vec<&str> = vocabulary::verbs().map(|entry| entry.word()).collect();
    let valid = match part {
        Part::Body => format!("a command: {}", list(&verbs)),
        Part::Prose | Part::Headers => {
            format!("a header: {}; or a command: {}", list(&headers), list(&verbs))
        }
    };
    let mut problem = word.problem(valid).near(headers.into_iter().chain(verbs));
    if problem.nearest.is_some() {
        // The word that was meant is there; all the others would only hide it.
        let of_part = match part {
            Part::Body => "a command",
            Part::Prose | Part::Headers => "a header or a command",
        };
        problem.valid = format!("{of_part}; `handover-sim vocabulary` lists them");
    }
    if is_known(&word.text.to_lowercase()) {
        return problem.note("the words of the language are lower-case");
    }
    if vocabulary::fact(word.text).is_some() {
        return problem.note(format!("`{0}` is a fact: `expect {0} ...`", word.text));
    }
    if word.text.starts_with(char::is_uppercase) {
        return problem.note("below the first header, text stands behind `#`");
    }
    problem
}

/// A comment without the space that sets it off.
fn comment_text(behind: &str) -> String {
    behind.strip_prefix(' ').unwrap_or(behind).trim_end().to_owned()
}
