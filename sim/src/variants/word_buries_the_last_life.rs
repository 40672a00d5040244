//! `word-buries-the-last-life`: the first word of a new incarnation declares the one before gone.
//!
//! Where a supervisor starts the next before the last has ended, both live; each comes back anew and
//! buries the other, for ever (Systemorph/MeshWeaver#1366). It leaves out the last sentence of Ar1: a
//! statement never implies anything about another incarnation. Breaks `NoEviction`: membership named
//! nobody.

use std::collections::BTreeSet;

use handover_core::{Change, HostId, Input, Record, Refusal};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct WordBuriesTheLastLife;

impl Protocol for WordBuriesTheLastLife {
    fn name(&self) -> &'static str {
        "word-buries-the-last-life"
    }

    fn summary(&self) -> &'static str {
        "a word of the next incarnation declares the one before gone"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoEviction)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        let Input::Statement(statement) = input else {
            return record.fold(input, suspects);
        };
        let host = &statement.host;
        let mut lives = record.lines().map(|(other, _)| other);
        let last = lives.find(|last| last.name == host.name && last.incarnation < host.incarnation);
        let Some(last) = last else {
            return record.fold(input, suspects);
        };
        let gone = record.fold(&Input::Gone(last.clone()), suspects)?;
        let mut buried = record.clone();
        buried.apply(&gone).expect("it was folded on this record");
        let heard = buried.fold(input, suspects)?;
        Ok(gone.then(heard).expect("the one was folded on the other"))
    }
}
