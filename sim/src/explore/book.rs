//! Which rows of an executor's book nobody will ask about again.
//!
//! The build of a grant that has ended is never started again (Ex5): its row stays in the book, and
//! decides nothing. Whoever writes a book by serde finds out here which rows these are.

/// What was written last of a book.
#[derive(Debug, Default)]
pub(super) struct Book {
    begins: bool,
    is_granted: bool,
    has_ended: bool,
}

impl Book {
    /// This field is written next.
    pub(super) fn field(&mut self, name: &str) {
        self.begins = name == "entries";
    }

    /// A sequence begins: is it the rows of a book?
    pub(super) fn begins(&mut self) -> bool {
        std::mem::take(&mut self.begins)
    }

    /// This variant is written next.
    pub(super) fn variant(&mut self, of: &str, variant: &str) {
        match of {
            "Work" => self.is_granted = variant == "Granted",
            "BuildState" => self.has_ended = !matches!(variant, "Pending" | "Admitted"),
            _ => {}
        }
    }

    /// Is the row that was just written one that decides nothing?
    pub(super) fn row_is_spent(&self) -> bool {
        self.is_granted && self.has_ended
    }
}
