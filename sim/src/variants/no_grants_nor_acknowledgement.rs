//! `no-grants-nor-acknowledgement`: hand-overs have no number, and an offer is taken in any view.
//!
//! The one makes up for the other: an acceptance that answers an older asking names, by its grant, a
//! hold that is over. Without both it starts a hold that its host has since given back. It leaves out
//! the grants of Ar1 and Ar8, and St2. Breaks `NoEviction`.

use handover_core::{Record, Statement, View};

use super::accept_without_acknowledgement::as_if_acknowledged;
use super::no_grants::about_the_present_hold;
use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct NoGrantsNorAcknowledgement;

impl Protocol for NoGrantsNorAcknowledgement {
    fn name(&self) -> &'static str {
        "no-grants-nor-acknowledgement"
    }

    fn summary(&self) -> &'static str {
        "a word counts for whatever its host holds, and offers are taken in any view"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoEviction)
    }

    fn hear(&self, view: &View, process: &Process) -> View {
        as_if_acknowledged(view, process)
    }

    fn take(&self, record: &Record, statement: Statement) -> Statement {
        about_the_present_hold(record, statement)
    }
}
