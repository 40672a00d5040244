//! Lines of journals: each file read as a stream, with the place of whatever cannot be read.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use handover_core::journal::{JournalEntry, JournalLine};

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

/// Lines of one file.
#[derive(Clone, Debug)]
pub(super) struct Source {
    path: Arc<Path>,
    /// The lines, where somebody has read them already.
    lines: Option<Arc<[JournalLine]>>,
}

/// Where a line is. Places of one file are in the order of its lines.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    source: Source,
    offset: u64,
    number: u64,
}

impl Source {
    pub(super) fn file(path: &Path) -> Self {
        Self { path: path.into(), lines: None }
    }

    pub(super) fn lines(name: &Path, lines: Vec<JournalLine>) -> Self {
        Self { path: name.into(), lines: Some(lines.into()) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Spot {
    fn key(&self) -> (&Path, u64) {
        (&self.source.path, self.number)
    }

    /// The line there.
    pub(super) fn read(&self) -> Result<(Place, JournalLine), JournalError> {
        Cursor::new(self).next()
    }
}

impl PartialEq for Spot {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Spot {}

impl PartialOrd for Spot {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Spot {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
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
    /// It is a folder.
    #[error("{} is a folder: name the journals in it", path.display())]
    Folder {
        /// What was given.
        path: PathBuf,
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
    /// It begins with a record that was written by newer code.
    #[error(
        "{place}: a record of the format {found}, which is newer than what is known here; use the \
         handover-sim that comes with the node which has written it"
    )]
    NewerRecord {
        /// Where.
        place: Place,
        /// Its format.
        found: u32,
    },
    /// A line was written by older code.
    #[error(
        "{place}: a journal of the format {found}, whose lines do not say of which boot and record \
         they are; use the handover-sim that comes with the node which has written it"
    )]
    OlderFormat {
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
    pub(super) spot: Spot,
    pub(super) line: JournalLine,
}

/// Gives each line to `visit`, and says whether the last one was cut short.
pub(super) fn scan(source: &Source, mut visit: impl FnMut(Found)) -> Result<bool, JournalError> {
    let path = source.path();
    let spot = |offset, number| Spot { source: source.clone(), offset, number };
    if let Some(lines) = &source.lines {
        for (line, number) in lines.iter().zip(1..) {
            let line = consistent(line.clone(), || place(path, number))?;
            visit(Found { spot: spot(0, number), line });
        }
        return Ok(false);
    }
    let read = |error| JournalError::Read { path: path.to_owned(), error };
    // Asked first: to open a pipe that nobody writes to would wait for ever.
    let found = fs::metadata(path).map_err(read)?;
    if found.is_dir() {
        return Err(JournalError::Folder { path: path.to_owned() });
    }
    if !found.is_file() {
        return Err(JournalError::NoFile { path: path.to_owned() });
    }
    let file = File::open(path).map_err(read)?;
    let mut reader = BufReader::with_capacity(CHUNK, file);
    let (mut offset, mut number, mut text) = (0, 0, Vec::new());
    loop {
        text.clear();
        let length = reader.by_ref().take(LINE_MAX).read_until(b'\n', &mut text).map_err(read)?;
        if length == 0 {
            return Ok(false);
        }
        number += 1;
        let whole = text.last() == Some(&b'\n');
        match parse(&text, || place(path, number)) {
            Ok(line) => visit(Found { spot: spot(offset, number), line }),
            Err(JournalError::Corrupt { .. }) if !whole && (length as u64) < LINE_MAX => {
                return Ok(true);
            }
            Err(error) => return Err(error),
        }
        offset += length as u64;
    }
}

fn place(path: &Path, line: u64) -> Place {
    Place { path: path.to_owned(), line }
}

/// What a line of any format has.
#[derive(serde::Deserialize)]
struct OfAnyFormat {
    format: u64,
}

fn parse(text: &[u8], place: impl Fn() -> Place) -> Result<JournalLine, JournalError> {
    let known = u64::from(JournalLine::FORMAT);
    match serde_json::from_slice::<JournalLine>(text) {
        Ok(line) => consistent(line, place),
        Err(error) => Err(match serde_json::from_slice::<OfAnyFormat>(text) {
            Ok(OfAnyFormat { format }) if format != known => another_format(format, place()),
            Ok(_) | Err(_) => JournalError::Corrupt { place: place(), why: error.to_string() },
        }),
    }
}

fn another_format(found: u64, place: Place) -> JournalError {
    if found < u64::from(JournalLine::FORMAT) {
        JournalError::OlderFormat { place, found }
    } else {
        JournalError::NewerFormat { place, found }
    }
}

/// A line says one thing: of one process, and of one record.
fn consistent(line: JournalLine, place: impl Fn() -> Place) -> Result<JournalLine, JournalError> {
    if line.format != JournalLine::FORMAT {
        return Err(another_format(u64::from(line.format), place()));
    }
    let JournalLine { boot, host, record, .. } = &line;
    let why = if boot.name != host.name || boot.incarnation > host.incarnation {
        format!("{host} is no life of the process that booted as {boot}")
    } else if matches!(line.entry, JournalEntry::Boot { .. }) && boot != host {
        format!("{host} boots, and its process has booted as {boot}")
    } else if line.record_of_entry().is_some_and(|of_entry| Some(of_entry) != *record) {
        "it tells of another record than the one that it names".to_owned()
    } else {
        return Ok(line);
    };
    Err(JournalError::Corrupt { place: place(), why })
}

/// Reads lines of a file from a place on. The file is open only while it is read from, so that
/// there may be more journals than open files.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    source: Source,
    /// Of what is behind the buffer.
    offset: u64,
    number: u64,
    buffer: Vec<u8>,
    taken: usize,
}

impl Cursor {
    pub(super) fn new(spot: &Spot) -> Self {
        let Spot { source, offset, number } = spot.clone();
        Self { source, offset, number, buffer: Vec::new(), taken: 0 }
    }

    /// The next line, which was read before as one of a journal.
    pub(super) fn next(&mut self) -> Result<(Place, JournalLine), JournalError> {
        let place = place(self.source.path(), self.number);
        let line = self.take()?.ok_or_else(|| JournalError::Changed { place: place.clone() })?;
        self.number += 1;
        Ok((place, line))
    }

    fn take(&mut self) -> Result<Option<JournalLine>, JournalError> {
        if let Some(lines) = &self.source.lines {
            let at = usize::try_from(self.number - 1).ok();
            return Ok(at.and_then(|at| lines.get(at)).cloned());
        }
        let end = loop {
            let rest = &self.buffer[self.taken..];
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                break self.taken + end + 1;
            }
            if self.fill()? == 0 {
                break self.buffer.len();
            }
        };
        let line = serde_json::from_slice(&self.buffer[self.taken..end]).ok();
        self.taken = end;
        Ok(line)
    }

    fn fill(&mut self) -> Result<u64, JournalError> {
        let path = self.source.path();
        let read = |error| JournalError::Read { path: path.to_owned(), error };
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let mut file = File::open(path).map_err(read)?;
        file.seek(SeekFrom::Start(self.offset)).map_err(read)?;
        let more = file.take(CHUNK as u64).read_to_end(&mut self.buffer).map_err(read)? as u64;
        self.offset += more;
        Ok(more)
    }
}
