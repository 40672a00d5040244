//! The files that a command is given: inputs that have to be there, outputs that must not be lost.
//!
//! All of it is asked before the work starts, for an hour of walks is no price for a slip of the
//! finger; and an output is opened only when there is something to write.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use handover_sim::suite::{Judgement, Suite};

use super::complain;

/// Says of each input that is not there that it is not, once.
pub(super) fn refuse_missing(paths: &[PathBuf]) -> Result<(), Judgement> {
    let mut named: Vec<&PathBuf> = Vec::new();
    for path in paths {
        let Err(error) = fs::metadata(path) else {
            continue;
        };
        if !named.contains(&path) {
            complain(&format!("error: {}: {error}", path.display()));
            if path.as_os_str() == "-" {
                complain("help: stdin is not read; name a file");
            }
            named.push(path);
        }
    }
    if named.is_empty() { Ok(()) } else { Err(Judgement::Unreadable) }
}

/// Reads the text of a regular file. To open a pipe would wait for its writer, and a device may have
/// no end.
pub(super) fn read_regular(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        let what = "this is no regular file, and a folder, a pipe or a device is not read";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    fs::read_to_string(path)
}

/// Refuses an output that is one of the inputs, or that cannot be written. Nothing is changed.
pub(super) fn refuse_output(output: Option<&Path>, inputs: &Suite) -> Result<(), Judgement> {
    let Some(output) = output else {
        return Ok(());
    };
    if inputs.files().any(|(input, _)| is_same(input, output)) {
        return Err(is_an_input(output));
    }
    probe(output).map_err(|error| cannot_be_written(output, &error))
}

/// The same, where the inputs are files by name.
pub(super) fn refuse_output_among(output: &Path, inputs: &[PathBuf]) -> Result<(), Judgement> {
    if inputs.iter().any(|input| is_same(input, output)) {
        return Err(is_an_input(output));
    }
    probe(output).map_err(|error| cannot_be_written(output, &error))
}

fn is_an_input(output: &Path) -> Judgement {
    complain(&format!(
        "error: {} is read by this command, so it cannot be its output\n\
         help: name another file",
        output.display()
    ));
    Judgement::Unreadable
}

/// Makes the folder that takes what is found, where there is none; refuses one that takes no file.
pub(super) fn make_folder(folder: &Path) -> Result<(), Judgement> {
    let made = match fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
        Err(_) => fs::create_dir_all(folder),
    };
    // Another run may ask the same folder at this moment.
    let name = format!(".handover-sim-{}", std::process::id());
    made.and_then(|()| probe(&folder.join(name))).map_err(|error| cannot_be_written(folder, &error))
}

/// Writes results to a file; one that is new and did not become whole is taken away again.
pub(super) fn write(path: &Path, text: &str) -> Judgement {
    let is_new = !path.exists();
    match fs::write(path, text) {
        Ok(()) => Judgement::AsExpected,
        Err(error) => {
            if is_new {
                let _ = fs::remove_file(path);
            }
            cannot_be_written(path, &error)
        }
    }
}

fn cannot_be_written(path: &Path, error: &io::Error) -> Judgement {
    complain(&format!("error: {} cannot be written: {error}", path.display()));
    if error.kind() == io::ErrorKind::NotFound {
        complain("help: make its folder first, or name one that is there");
    }
    Judgement::Unreadable
}

/// One file under two names?
fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        (Ok(_) | Err(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

/// Can this be written? A file that is there keeps what is in it; one that is not is not there
/// afterwards either. A pipe or a device is not asked, since to open it already does something.
fn probe(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => OpenOptions::new().append(true).open(path).map(drop),
        Ok(_) => Ok(()),
        // A link that leads nowhere yet: writing makes its target.
        Err(_) if path.is_symlink() => Ok(()),
        Err(_) => {
            File::create_new(path)?;
            fs::remove_file(path)
        }
    }
}
