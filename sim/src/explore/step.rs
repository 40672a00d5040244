//! One step of the explored system.

use super::Property;
use super::action::Choice;
use super::bounds::Bounds;
use super::tidy::tidy;
use crate::check::{self, Transition, Violation};
use crate::scenario::Keyword as _;
use crate::world::{Event, Fact, World};

/// A host that takes more steps than this at once will take them for ever.
const OWN_STEPS_MAX: usize = 1_000;

/// The steps that hosts take at once after a choice, one by one.
#[derive(Default)]
pub(super) struct OwnSteps {
    taken: usize,
}

impl OwnSteps {
    /// The next one in this world; none where nobody has one left.
    ///
    /// # Errors
    /// After [`OWN_STEPS_MAX`], each time: they do not end, which is a livelock.
    pub(super) fn next(&mut self, world: &World) -> Result<Option<Event>, Violation> {
        let Some(next) = world.next_own_step() else {
            return Ok(None);
        };
        if self.taken == OWN_STEPS_MAX {
            let why =
                format!("after {OWN_STEPS_MAX} steps of its own a host still has one to take");
            return Err(Violation { property: Property::NoLivelock, why });
        }
        self.taken += 1;
        Ok(Some(next))
    }
}

/// One step: the choice, then what its hosts do at once, then off the links what cannot matter.
pub(super) fn take(world: &World, choice: &Choice, bounds: &Bounds) -> (World, Vec<Violation>) {
    let mut taken = Taken { after: world.clone(), facts: Vec::new(), violations: Vec::new() };
    let mut before = Some(world);
    for event in choice.action.events(world) {
        taken.judge(before.take(), &event);
    }
    let mut own = OwnSteps::default();
    let endless = loop {
        match own.next(&taken.after) {
            Ok(Some(event)) => taken.judge(before.take(), &event),
            Ok(None) => break None,
            Err(endless) => break Some(endless),
        }
    };
    taken.violations.extend(endless);
    tidy(&mut taken.after, world, bounds);
    (taken.after, taken.violations)
}

struct Taken {
    after: World,
    facts: Vec<Fact>,
    violations: Vec<Violation>,
}

impl Taken {
    /// Applies and judges an event. What was before is copied where nobody else has it.
    fn judge(&mut self, before: Option<&World>, event: &Event) {
        self.facts.clear();
        if let Event::Lose(_) | Event::Overtake(_) | Event::Double(_) = event {
            let applied = self.after.apply(event, &mut self.facts);
            applied.expect("what is on a link can be lost and doubled");
            return;
        }
        let copied;
        let before = match before {
            Some(before) => before,
            None => {
                copied = self.after.clone();
                &copied
            }
        };
        self.after.apply(event, &mut self.facts).expect("what is chosen can happen");
        let step = Transition { before, event, facts: &self.facts, after: &self.after };
        if check::check(&step).is_err() {
            let all = Property::ALL.iter();
            let broken = all.filter_map(|property| check::check_one(*property, &step).err());
            self.violations.extend(broken);
        }
    }
}
