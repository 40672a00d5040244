//! `NoAlarm`: correct hosts never raise one.
//!
//! Where an identity was used twice, alarms are in order: they are how it is noticed. Carried by
//! St2, Ar1, Ca2, Ca3 and Dr4.

use super::{Property, Transition, Violation};
use crate::world::Fact;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    if step.after.history().reused {
        return Ok(());
    }
    for fact in step.facts {
        if let Fact::Alarm { who, text } = fact {
            let why = format!("{} raised {text}", step.after.label(*who));
            return Err(Violation::new(Property::NoAlarm, why));
        }
        if let Fact::Refused { refusal, input, .. } = fact
            && refusal.is_alarm()
        {
            let why = format!("{input:?} was refused: {refusal}");
            return Err(Violation::new(Property::NoAlarm, why));
        }
    }
    Ok(())
}
