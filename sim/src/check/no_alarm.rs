//! `NoAlarm`: correct hosts never raise one.
//!
//! Where an identity was used twice, alarms are in order: they are how it is noticed. Carried by
//! St2, Ar1, Ca2, Ca3 and Dr4.

use super::{Property, Transition, Violation};
use crate::mark::mark;
use crate::world::Fact;

pub(super) fn check(step: &Transition<'_>) -> Result<(), Violation> {
    if step.after.history().reused {
        mark!(NoAlarmReused);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use handover_core::{Input, Refusal};

    use super::*;
    use crate::check::testing::{A, G1, Made, building, judge_to_rest};
    use crate::world::ArbiterIndex;

    const PROPERTY: Property = Property::NoAlarm;

    fn with(fact: Fact) -> Made {
        let mut made = Made::still(&building());
        made.facts.push(fact);
        made
    }

    fn alarm() -> Fact {
        Fact::Alarm { who: A, text: "ForeignWord".into() }
    }

    fn refused(refusal: Refusal) -> Fact {
        Fact::Refused {
            arbiter: ArbiterIndex(0),
            input: Arc::new(Input::Lapse { grant: G1 }),
            refusal,
        }
    }

    #[test]
    fn a_rollout_raises_no_alarm() {
        judge_to_rest(building(), PROPERTY).expect("it holds");
    }

    #[test]
    fn an_alarm_of_a_host_breaks_it() {
        with(alarm()).breaks(PROPERTY, "a raised ForeignWord");
    }

    #[test]
    fn an_impossible_word_breaks_it_and_other_refusals_do_not() {
        assert!(with(refused(Refusal::Impossible)).judge(PROPERTY).is_err());
        with(refused(Refusal::NobodyElse)).holds(PROPERTY);
    }

    #[test]
    fn a_reused_identity_is_to_raise_one() {
        let mut made = with(alarm());
        made.after.edit_history(|history| history.reused = true);
        made.holds(PROPERTY);
    }
}
