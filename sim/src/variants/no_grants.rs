//! `no-grants`: an acceptance counts for whatever its host is offered.
//!
//! One of an offer that has lapsed starts the next one, which its host has not seen. Number, life and
//! acknowledgement make up for that in all that follows; the fencing token is then no token. It leaves
//! out Ar1's "about a grant that is not the hold's". Breaks `StaleIsNoEffect`.

use std::collections::BTreeSet;

use handover_core::{Change, HostId, Input, Record, Refusal, Standing, Statement};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct NoGrants;

impl Protocol for NoGrants {
    fn name(&self) -> &'static str {
        "no-grants"
    }

    fn summary(&self) -> &'static str {
        "an acceptance counts for whatever its host is offered"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::StaleIsNoEffect)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        if let Input::Statement(statement) = input
            && let Standing::Accepted { plan, .. } = &statement.standing
            && let Some(hold) = record.hold().filter(|hold| hold.host == statement.host)
        {
            let standing = Standing::Accepted { grant: hold.grant, plan: plan.clone() };
            let statement = Statement { standing, ..statement.clone() };
            return record.fold(&Input::Statement(statement), suspects);
        }
        record.fold(input, suspects)
    }
}

/// A word as it would be if hand-overs had no numbers: it is about whatever its host holds.
pub(super) fn about_the_present_hold(record: &Record, statement: Statement) -> Statement {
    let Some(hold) = record.hold().filter(|hold| hold.host == statement.host) else {
        return statement;
    };
    let grant = hold.grant;
    let standing = match statement.standing {
        Standing::Accepted { plan, .. } => Standing::Accepted { grant, plan },
        Standing::Building { signed_off, .. } => Standing::Building { grant, signed_off },
        Standing::Finished { outcome, signed_off, .. } => {
            Standing::Finished { grant, outcome, signed_off }
        }
        standing @ (Standing::Asking { .. } | Standing::StoodDown) => standing,
    };
    Statement { standing, ..statement }
}
