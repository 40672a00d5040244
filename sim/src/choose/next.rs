//! What a picker has picked.

use super::agenda::Item;
use crate::world::Event;

/// What comes next.
#[derive(Clone, Debug)]
pub(super) enum Next {
    /// It happens by itself.
    Happens(Event),
    /// It is due.
    Due(Item),
    /// A fault strikes where the schedule departs from calm.
    Departs {
        /// The fault.
        event: Event,
        /// What ends it after a while.
        end: Option<Event>,
    },
}
