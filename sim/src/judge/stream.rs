//! The lines of one process in their order, out of all files that have some of them.

use handover_core::journal::JournalLine;
use handover_core::{HostId, RecordId};

use super::index::Extent;
use super::line::{Cursor, JournalError, Place};

/// The lines of one process.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    boot: HostId,
    extents: Vec<(Extent, Option<Cursor>)>,
    /// None behind the last number that there is.
    next: Option<u64>,
}

/// What comes next of a process.
#[derive(Debug)]
pub(super) enum Next {
    Line(Place, Box<JournalLine>),
    /// No file has these lines, the last one included, and there are later ones.
    Gap(u64, u64),
    /// Two files have this line, and it is not the same; of which record each of them is.
    Differs(Place, Place, [Option<RecordId>; 2]),
    End,
}

impl Stream {
    pub(super) fn new(boot: HostId, extents: Vec<Extent>) -> Self {
        let extents = extents.into_iter().map(|extent| (extent, None)).collect();
        Self { boot, extents, next: Some(0) }
    }

    /// The identity that the process booted under.
    pub(super) fn boot(&self) -> &HostId {
        &self.boot
    }

    pub(super) fn next(&mut self) -> Result<Next, JournalError> {
        let Some(number) = self.next else { return Ok(Next::End) };
        let mut found: Option<(Place, JournalLine)> = None;
        let mut differs = None;
        for (extent, cursor) in &mut self.extents {
            if !(extent.first..=extent.last).contains(&number) {
                continue;
            }
            let begin = || Cursor::new(&extent.spot);
            let (place, line) = cursor.get_or_insert_with(begin).next()?;
            match &found {
                None => found = Some((place, line)),
                Some((first, known)) if *known != line => {
                    differs = Some((first.clone(), place, [known.record, line.record]));
                }
                Some(_) => {}
            }
            if number == extent.last {
                *cursor = None;
            }
        }
        if let Some((place, line)) = found {
            self.next = number.checked_add(1);
            return Ok(match differs {
                Some((one, other, records)) => Next::Differs(one, other, records),
                None => Next::Line(place, Box::new(line)),
            });
        }
        let later = self.extents.iter().map(|(extent, _)| extent.first);
        match later.filter(|first| *first > number).min() {
            Some(first) => {
                self.next = Some(first);
                Ok(Next::Gap(number, first - 1))
            }
            None => Ok(Next::End),
        }
    }
}
