//! `finished-stays-down`: a host whose build did not approve does not ask again.
//!
//! After the operator's `Retry` there is nobody to be offered the job. It leaves out Ca5: an
//! acknowledged end without an approval goes back to asking. Breaks `NoWedge`.

use handover_core::{Phase, Standing};

use super::{Property, Protocol, Said, Saying};

#[derive(Debug)]
pub(super) struct FinishedStaysDown;

impl Protocol for FinishedStaysDown {
    fn name(&self) -> &'static str {
        "finished-stays-down"
    }

    fn summary(&self) -> &'static str {
        "a host whose build failed does not ask again"
    }

    fn breaks(&self) -> Option<Property> {
        Some(Property::NoWedge)
    }

    fn say(&self, saying: &Saying<'_>) -> Said {
        let asks = matches!(saying.statement.standing, Standing::Asking { .. });
        if asks && matches!(saying.from, Phase::Finished { .. }) {
            Said::Kept { acknowledged: false }
        } else {
            Said::Sent(saying.statement.clone())
        }
    }
}
