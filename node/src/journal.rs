//! Where the journal goes. What its lines mean is in [`handover_core::journal`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Takes the lines of a journal. It is called between two steps of the node, so it is quick; where
/// it fails, the node goes on, and notes in the next line that is written how many were lost.
pub trait Journal: Send + 'static {
    /// Takes one line, without its end. The lines of one process are numbered.
    ///
    /// # Errors
    /// If the line was not written, or not all of it.
    fn write(&mut self, line: &str) -> io::Result<()>;
}

/// A journal in files of bounded size: `name`, before it `name.1`, before that `name.2` and so on,
/// the oldest being deleted. What a process finds is moved on, so that each begins a file of its
/// own, and a line that a crash has cut short stays the last of its file.
///
/// Lines go to the operating system one by one, without waiting for the disk: they outlive the
/// process, not the machine.
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    file: Option<File>,
    /// What is whole in the file; a line that failed half-way is cut off before the next.
    whole: u64,
    bytes_max: u64,
    files_max: u32,
}

impl FileJournal {
    /// Begins a journal at this path, of at most `files_max` files (at least 1) of about `bytes_max`
    /// bytes each; a line that is longer has a file of its own.
    ///
    /// # Errors
    /// If what is there cannot be moved on, or the file not be made: so that a wrong path is seen at
    /// once. Later failures are left to the node.
    pub fn create(path: impl Into<PathBuf>, bytes_max: u64, files_max: u32) -> io::Result<Self> {
        let path = path.into();
        let files_max = files_max.max(1);
        let mut journal = Self { path, file: None, whole: 0, bytes_max, files_max };
        if fs::metadata(&journal.path).is_ok_and(|found| found.len() > 0) {
            journal.move_on()?;
        }
        journal.open()?;
        Ok(journal)
    }

    fn numbered(&self, number: u32) -> PathBuf {
        if number == 0 {
            return self.path.clone();
        }
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }

    /// Moves each file on by one; the oldest is overwritten by the one before.
    fn move_on(&mut self) -> io::Result<()> {
        self.file = None;
        for number in (0..self.files_max - 1).rev() {
            rename_if_there(&self.numbered(number), &self.numbered(number + 1))?;
        }
        if self.files_max == 1 {
            fs::remove_file(&self.path)?;
        }
        self.whole = 0;
        Ok(())
    }

    fn open(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = OpenOptions::new().create(true).append(true).open(&self.path)?;
                // The file may be another than before: somebody has cleaned up.
                self.whole = self.whole.min(file.metadata()?.len());
                file.set_len(self.whole)?;
                file
            }
        };
        Ok(self.file.insert(file))
    }
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        renamed => renamed,
    }
}

impl Journal for FileJournal {
    fn write(&mut self, line: &str) -> io::Result<()> {
        let bytes = line.len() as u64 + 1;
        if self.whole > 0 && self.whole + bytes > self.bytes_max {
            self.move_on()?;
        }
        let mut text = String::with_capacity(line.len() + 1);
        text.push_str(line);
        text.push('\n');
        let file = self.open()?;
        if let Err(error) = file.write_all(text.as_bytes()) {
            // Opened anew, it is cut to what is whole.
            self.file = None;
            return Err(error);
        }
        self.whole += bytes;
        Ok(())
    }
}
