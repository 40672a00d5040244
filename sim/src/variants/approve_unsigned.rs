//! `approve-unsigned`: a build that ended well approves, whatever its chunks say.
//!
//! A chunk that was never signed off, or that failed, is served all the same
//! (Systemorph/MeshWeaver#1437). It leaves out the second half of Ar7's condition: every planned chunk
//! is signed off clean. Breaks `ApprovalTruth`.

use std::collections::BTreeSet;

use handover_core::{
    Change, HostId, Input, Outcome, Record, Refusal, SignOff, Stage, Standing, Statement,
};

use super::{Property, Protocol};

#[derive(Debug)]
pub(super) struct ApproveUnsigned;

impl Protocol for ApproveUnsigned {
    fn name(&self) -> &'static str {
        "approve-unsigned"
    }

    fn summary(&self) -> &'static str {
        "a clean end approves although a chunk is not signed off"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::ApprovalTruth)
    }

    fn fold(
        &self,
        record: &Record,
        input: &Input,
        suspects: &BTreeSet<HostId>,
    ) -> Result<Change, Refusal> {
        if let Input::Statement(statement) = input
            && let Standing::Finished { grant, outcome: Outcome::Clean, .. } = statement.standing
            && let Some(Stage::Started { plan }) = record.hold().map(|hold| &hold.stage)
        {
            let signed_off = plan.iter().map(|chunk| (chunk.clone(), SignOff::Clean)).collect();
            let standing = Standing::Finished { grant, outcome: Outcome::Clean, signed_off };
            let statement = Statement { standing, ..statement.clone() };
            return record.fold(&Input::Statement(statement), suspects);
        }
        record.fold(input, suspects)
    }
}
