//! Where the journal goes. What its lines mean is in [`handover_core::journal`].

use std::io;

/// Takes the lines of a journal. It is called between two steps of the node, so it is quick; where
/// it fails, the node goes on and notes how many lines were lost.
pub trait Journal: Send + 'static {
    /// Takes one line, without its end. The lines of one process are numbered.
    ///
    /// # Errors
    /// If the line was not written.
    fn write(&mut self, line: &str) -> io::Result<()>;
}
