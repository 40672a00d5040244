//! Files of lines: each read as a stream, with the place of whatever cannot be read.

use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use handover_core::journal::JournalLine;

/// The longest line that is read: above what a record of 100,000 hosts takes.
const LINE_MAX: u64 = 64 << 20;

/// How much of a file is read at once.
const CHUNK: usize = 64 << 10;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as it was given.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// Why journals cannot be read. Nothing is judged then.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It can be read only once, and a journal is read twice.
    #[error("{} is no file: write it to one first, for a journal is read twice", path.display())]
    NoFile {
        /// What was given.
        path: PathBuf,
    },
    /// A line was written by newer code.
    #[error(
        "{place}: a journal of the format {found}, and {} is the newest known here; use the \
         handover-sim that comes with the node which has written it",
        JournalLine::FORMAT
    )]
    NewerFormat {
        /// Where.
        place: Place,
        /// Its format.
        found: u64,
    },
    /// A line that is none of a journal, and no last one that was cut short.
    #[error(
        "{place}: no line of a journal: {why}; take it out, or the file away, to judge the rest"
    )]
    Corrupt {
        /// Where.
        place: Place,
        /// What is wrong.
        why: String,
    },
    /// The file changed between the two times that it was read.
    #[error("{place}: changed while it was read; judge a copy of the file")]
    Changed {
        /// Where.
        place: Place,
    },
}

/// A line as it stands in a file.
pub(super) struct Found {
    pub(super) offset: u64,
    pub(super) number: u64,
    pub(super) line: JournalLine,
}

/// Gives each line of a file to `visit`, and says whether its last one was cut short.
pub(super) fn scan(path: &Path, mut visit: impl FnMut(Found)) -> Result<bool, JournalError> {
    let read = |error| JournalError::Read { path: path.to_owned(), error };
    let file = File::open(path).map_err(read)?;
    if !file.metadata().map_err(read)?.is_file() {
        return Err(JournalError::NoFile { path: path.to_owned() });
    }
    let mut reader = BufReader::with_capacity(CHUNK, file);
    let (mut offset, mut number, mut text) = (0, 0, Vec::new());
    loop {
        text.clear();
        let length = reader.by_ref().take(LINE_MAX).read_until(b'\n', &mut text).map_err(read)?;
        if length == 0 {
            return Ok(false);
        }
        number += 1;
        let place = || Place { path: path.to_owned(), line: number };
        let whole = text.last() == Some(&b'\n');
        match parse(&text, place) {
            Ok(line) => visit(Found { offset, number, line }),
            Err(JournalError::Corrupt { .. }) if !whole && (length as u64) < LINE_MAX => {
                return Ok(true);
            }
            Err(error) => return Err(error),
        }
        offset += length as u64;
    }
}

/// What a line of any format has.
#[derive(serde::Deserialize)]
struct OfAnyFormat {
    format: u64,
}

fn parse(text: &[u8], place: impl Fn() -> Place) -> Result<JournalLine, JournalError> {
    let line = serde_json::from_slice::<JournalLine>(text);
    match line {
        Ok(line) if line.format <= JournalLine::FORMAT => Ok(line),
        Ok(line) => {
            Err(JournalError::NewerFormat { place: place(), found: u64::from(line.format) })
        }
        Err(error) => match serde_json::from_slice::<OfAnyFormat>(text) {
            Ok(OfAnyFormat { format }) if format > u64::from(JournalLine::FORMAT) => {
                Err(JournalError::NewerFormat { place: place(), found: format })
            }
            Ok(_) | Err(_) => Err(JournalError::Corrupt { place: place(), why: error.to_string() }),
        },
    }
}

/// Reads lines of a file from a place on. The file is open only while it is read from, so that
/// there may be more journals than open files.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    path: PathBuf,
    /// Of what is behind the buffer.
    offset: u64,
    number: u64,
    buffer: Vec<u8>,
    taken: usize,
}

impl Cursor {
    pub(super) fn new(path: &Path, offset: u64, number: u64) -> Self {
        Self { path: path.to_owned(), offset, number, buffer: Vec::new(), taken: 0 }
    }

    /// The next line, which was read before as one of a journal.
    pub(super) fn next(&mut self) -> Result<(Place, JournalLine), JournalError> {
        let end = loop {
            let rest = &self.buffer[self.taken..];
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                break self.taken + end + 1;
            }
            if self.fill()? == 0 {
                break self.buffer.len();
            }
        };
        let place = Place { path: self.path.clone(), line: self.number };
        let line = serde_json::from_slice(&self.buffer[self.taken..end])
            .map_err(|_| JournalError::Changed { place: place.clone() })?;
        self.taken = end;
        self.number += 1;
        Ok((place, line))
    }

    fn fill(&mut self) -> Result<u64, JournalError> {
        let read = |error| JournalError::Read { path: self.path.clone(), error };
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let mut file = File::open(&self.path).map_err(read)?;
        file.seek(SeekFrom::Start(self.offset)).map_err(read)?;
        let more = file.take(CHUNK as u64).read_to_end(&mut self.buffer).map_err(read)? as u64;
        self.offset += more;
        Ok(more)
    }
}
