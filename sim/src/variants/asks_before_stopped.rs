//! `asks-before-stopped`: a host asks again while its cancelled build is still being stopped.
//!
//! Its asking tells the record that it does not build, and the job is handed on: away from the report
//! that it has by then, or beside the build that still stops (hashicorp/consul#1843). It leaves out Ca4: in
//! cancelling nothing is said until the build has really stopped. Breaks `NoEviction`.

use std::collections::BTreeSet;

use handover_core::{
    Change, ExecutorEffect, HostId, Input, Priority, Record, Refusal, Standing, Statement, View,
};

use super::abandoned_before_stopped::{
    end_of_the_same_number, on_top, without_what_was_said_on_top,
};
use super::{Property, Protocol};
use crate::world::Process;

#[derive(Debug)]
pub(super) struct AsksBeforeStopped;

impl Protocol for AsksBeforeStopped {
    fn name(&self) -> &'static str {
        "asks-before-stopped"
    }

    fn summary(&self) -> &'static str {
        "a host asks again before its cancelled build has stopped"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoEviction)
    }

    fn says_on_top(&self, process: &Process, order: &ExecutorEffect) -> Option<Statement> {
        on_top(process, order, |_| Standing::Asking { priority: Priority(0) })
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        end_of_the_same_number(record, input, suspects)
    }

    fn hear(&self, view: &View, process: &Process) -> View {
        without_what_was_said_on_top(view, process)
    }
}
