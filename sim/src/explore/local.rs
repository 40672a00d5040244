//! What a host does, worked out once for all states in which its place and the record are the same.
//!
//! A state is what is of no single place (the record, membership, what really happened) and each
//! place with its processes and links. Every such part is kept once and has a number, so that a
//! state is a few numbers. What happens at a place depends on the common part and on that place
//! alone, and changes these two alone; a publication reaches one place after another. So the steps
//! of each pair are worked out once, in a world that has no other place, and are looked up from
//! then on. Three checks look at other places as well; what they look for is known of each pair,
//! and a state in which it comes together is judged as a whole.
//!
//! Numbers of the protocol are kept small, else no part would ever come again: those of a place are
//! ranked when a step is worked out, and grants, which the whole state shares, when a state is put
//! together. The searches with and without this are compared in tests.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::action::{Action, Choice, choices};
use super::bounds::{Budget, Cost, PLACES_MAX, Price};
use super::index::Index;
use super::key::{Part, Role, Scratch, seal};
use super::parts::{Draft, Grants, PartOf, common_parts, draft, with_grants};
use super::search::{Marks, Outcome, take};
use super::{Bounds, Property};
use crate::check::counted_builds;
use crate::world::{ArbiterIndex, Common, Event, Ground, Member, Who, World};

/// A state: the number of its common part, those of its places, and the faults that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compact {
    common: u32,
    places: [u32; PLACES_MAX],
    pub(super) budget: Budget,
}

/// What is not worked out yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The steps that concern no place.
    Operators { common: u32 },
    /// The steps of a place.
    Steps { common: u32, place: u32 },
    /// What a step that concerns all places makes of one of them, and of the common part so far.
    Spread { what: Everywhere, common: u32, place: u32 },
    /// And of the common part in the end.
    SpreadEnds { what: Everywhere, common: u32 },
    /// A common part where only these grants can still be named.
    RenamedCommon { common: u32, grants: Grants },
    /// A place where only these grants can still be named.
    RenamedPlace { place: u32, grants: Grants },
}

/// A step that concerns all places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Everywhere {
    Publish,
    Heal,
}

impl Everywhere {
    fn event(self) -> Event {
        match self {
            Self::Publish => Event::Publish(ArbiterIndex(0)),
            Self::Heal => Event::Heal,
        }
    }
}

impl Question {
    pub(super) fn key(self) -> u128 {
        let key = |kind: u8, high: u32, low: u64| {
            u128::from(kind) << 96 | u128::from(high) << 64 | u128::from(low)
        };
        match self {
            Self::Operators { common } => key(1, common, 0),
            Self::Steps { common, place } => key(2, common, place.into()),
            Self::Spread { what, common, place } => key(3 + what as u8, common, place.into()),
            Self::SpreadEnds { what, common } => key(5 + what as u8, common, 0),
            Self::RenamedCommon { common, grants } => key(7, common, grants),
            Self::RenamedPlace { place, grants } => key(8, place, grants),
        }
    }
}

/// What a step makes of a pair.
#[derive(Clone, Copy, Debug)]
struct Step {
    price: Price,
    kind: StepKind,
    broken: Marks,
}

#[derive(Clone, Copy, Debug)]
enum StepKind {
    /// It makes these of the common part and the place.
    Here {
        common: u32,
        place: u32,
    },
    /// It makes this of the common part.
    Common(u32),
    Everywhere(Everywhere),
}

/// The steps of a pair, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    start: u32,
    end: u32,
    /// Nothing is stuck at the place.
    converged: bool,
    /// Builds that count for `SingleBuilder`.
    builds: u8,
    /// The holder is drained.
    drained_holder: bool,
}

/// What a part takes besides its bytes.
const PART_BYTES: usize = size_of::<Box<[u8]>>() + size_of::<(Grants, Grants)>() + 16;
const PAIR_BYTES: usize = size_of::<(u32, u32)>();

/// What was worked out.
pub(super) enum Worked {
    Block { steps: Vec<(Price, WorkedStep, Marks)>, block: Block },
    Pair(Box<Draft>),
    Common(Box<PartOf<Common>>),
    Place(Box<PartOf<Vec<Member>>>),
}

pub(super) enum WorkedStep {
    Here(Box<Draft>),
    Common(Box<PartOf<Common>>),
    Everywhere(Everywhere),
}

/// Parts of one kind, each once, as bytes: what is made of them once is looked up from then on.
#[derive(Debug)]
struct Shelf<T> {
    ids: Index<u128>,
    /// What each adds to the fingerprint, for each way to seat the places.
    prints: Vec<u128>,
    /// The grants that each names, and those that it only remembers.
    grants: Vec<(Grants, Grants)>,
    parts: Vec<Box<[u8]>>,
    bytes: usize,
    of: PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned> Shelf<T> {
    fn new() -> Self {
        let (prints, grants, parts) = (Vec::new(), Vec::new(), Vec::new());
        Self { ids: Index::new(), prints, grants, parts, bytes: 0, of: PhantomData }
    }

    fn put(&mut self, part: PartOf<T>) -> u32 {
        let next = u32::try_from(self.parts.len()).expect("fewer parts than states");
        let Some(content) = part.content else {
            return self.ids.find(part.key).expect("a part that is known has a number");
        };
        if let Some(known) = self.ids.find_or_insert(part.key, next) {
            return known;
        }
        self.prints.extend(content.prints);
        self.grants.push((content.named, content.remembered));
        self.bytes += content.bytes.len();
        self.parts.push(content.bytes);
        next
    }

    fn part(&self, id: u32) -> T {
        let bytes = &self.parts[id as usize];
        postcard::from_bytes(bytes).expect("what was encoded is decoded")
    }

    fn bytes(&self) -> usize {
        let prints = self.prints.len() * size_of::<u128>();
        self.ids.bytes() + prints + self.parts.len() * PART_BYTES + self.bytes
    }

    fn is_known(&self, key: u128) -> bool {
        self.ids.find(key).is_some()
    }
}

/// All parts and steps of a configuration that were met so far.
pub(super) struct Local<'a> {
    bounds: &'a Bounds,
    ground: Arc<Ground>,
    count: usize,
    ways: usize,
    commons: Shelf<Common>,
    places: Shelf<Vec<Member>>,
    answers: Index<u128>,
    blocks: Vec<Block>,
    steps: Vec<Step>,
    pairs: Vec<(u32, u32)>,
}

impl<'a> Local<'a> {
    /// With the first state.
    pub(super) fn new(bounds: &'a Bounds) -> (Self, Outcome<Compact>) {
        let mut scratch = Scratch::new(bounds);
        let mut local = Self {
            bounds,
            ground: Arc::new(Ground::new(bounds.setup())),
            count: bounds.hosts.len(),
            ways: scratch.seats.len(),
            commons: Shelf::new(),
            places: Shelf::new(),
            answers: Index::new(),
            blocks: Vec::new(),
            steps: Vec::new(),
            pairs: Vec::new(),
        };
        let world = World::new(bounds.setup());
        let common = world.common();
        let mut start = Compact { common: 0, places: [0; PLACES_MAX], budget: bounds.budget() };
        for (place, member) in world.members().enumerate() {
            let alone = local.world(&common, std::iter::once(member));
            let Draft { common, place: part } = local.draft(&alone, Some(place), &mut scratch);
            start.common = local.commons.put(common);
            start.places[place] = local.places.put(part.expect("it has a place"));
        }
        let print = local.print(&start);
        (local, Outcome { print, is_free: true, broken: Marks::NONE, node: Some(start) })
    }

    pub(super) fn scratch(&self) -> Scratch {
        Scratch::new(self.bounds)
    }

    pub(super) fn forget(&mut self) {
        (self.commons, self.places) = (Shelf::new(), Shelf::new());
        self.answers = Index::new();
        (self.blocks, self.steps, self.pairs) = (Vec::new(), Vec::new(), Vec::new());
    }

    /// Bytes that it holds, about.
    pub(super) fn bytes(&self) -> usize {
        let answers = self.blocks.len() * size_of::<Block>() + self.pairs.len() * PAIR_BYTES;
        let steps = self.steps.len() * size_of::<Step>();
        self.commons.bytes() + self.places.bytes() + self.answers.bytes() + answers + steps
    }

    fn world(&self, common: &Common, members: impl Iterator<Item = Member>) -> World {
        World::assemble(&self.ground, common, members)
    }

    fn pair(&self, common: u32, place: u32) -> World {
        self.world(&self.commons.part(common), self.places.part(place).into_iter())
    }

    fn without_places(&self, common: u32) -> World {
        self.world(&self.commons.part(common), std::iter::empty())
    }

    fn draft(&self, world: &World, place: Option<usize>, scratch: &mut Scratch) -> Draft {
        let of_common = common_parts(world, scratch);
        self.draft_with(world, place, &of_common, scratch)
    }

    fn draft_with(
        &self,
        world: &World,
        place: Option<usize>,
        of_common: &[(Role, Part)],
        scratch: &mut Scratch,
    ) -> Draft {
        let (commons, places) = (&self.commons, &self.places);
        let knows: (&dyn Fn(u128) -> bool, &dyn Fn(u128) -> bool) =
            (&|key| commons.is_known(key), &|key| places.is_known(key));
        draft(world, place, of_common, scratch, knows)
    }

    fn print(&self, state: &Compact) -> u64 {
        let of = |prints: &'_ [u128], id: u32, way: usize| prints[id as usize * self.ways + way];
        let print = |way: usize| {
            let places = state.places[..self.count].iter();
            places.fold(of(&self.commons.prints, state.common, way), |sum, place| {
                sum.wrapping_add(of(&self.places.prints, *place, way))
            })
        };
        let least = (0..self.ways).map(print).min().expect("each place has a seat");
        seal(least, state.budget)
    }
}

/// How the expansion of a state went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expanded {
    pub(super) is_converged: bool,
    /// What may be broken in the state, and has to be judged as a whole.
    pub(super) suspected: Marks,
}

impl Local<'_> {
    fn answer(&self, question: Question, missing: &mut Vec<Question>) -> Option<u32> {
        let answer = self.answers.find(question.key());
        if answer.is_none() {
            missing.push(question);
        }
        answer
    }

    fn block(&self, question: Question, missing: &mut Vec<Question>) -> Option<Block> {
        self.answer(question, missing).map(|block| self.blocks[block as usize])
    }

    fn steps(&self, block: Block) -> &[Step] {
        &self.steps[block.start as usize..block.end as usize]
    }

    /// What each choice of a state leads to; none where something is missing.
    pub(super) fn expand(
        &self,
        state: &Compact,
        outcomes: &mut Vec<Outcome<Compact>>,
        missing: &mut Vec<Question>,
    ) -> Option<Expanded> {
        let (asked, start) = (missing.len(), outcomes.len());
        let common = state.common;
        let mut is_converged = true;
        let (mut builds, mut drained_holder) = (0, false);
        if let Some(block) = self.block(Question::Operators { common }, missing) {
            is_converged &= block.converged;
            for step in self.steps(block) {
                self.follow(state, 0, step, outcomes, missing);
            }
        }
        for (at, place) in state.places[..self.count].iter().enumerate() {
            let question = Question::Steps { common, place: *place };
            let Some(block) = self.block(question, missing) else { continue };
            is_converged &= block.converged;
            builds += block.builds;
            drained_holder |= block.drained_holder;
            for step in self.steps(block) {
                self.follow(state, at, step, outcomes, missing);
            }
        }
        if missing.len() > asked {
            outcomes.truncate(start);
            return None;
        }
        let mut suspected = Marks::NONE;
        if builds > 1 {
            suspected.put(Property::SingleBuilder);
        }
        if drained_holder {
            suspected.put(Property::TruthfulIdle);
        }
        Some(Expanded { is_converged, suspected })
    }

    fn follow(
        &self,
        state: &Compact,
        at: usize,
        step: &Step,
        outcomes: &mut Vec<Outcome<Compact>>,
        missing: &mut Vec<Question>,
    ) {
        if !state.budget.allows(step.price) {
            return;
        }
        let mut after = Compact { budget: state.budget.less(step.price), ..*state };
        let went = match step.kind {
            StepKind::Here { common, place } => {
                after.common = common;
                after.places[at] = place;
                Some(())
            }
            StepKind::Common(common) => {
                after.common = common;
                Some(())
            }
            StepKind::Everywhere(what) => self.spread(what, &mut after, missing),
        };
        if went.and_then(|()| self.rename_grants(&mut after, missing)).is_some() {
            let print = self.print(&after);
            let is_free = step.price == Price::NOTHING;
            outcomes.push(Outcome { print, is_free, broken: step.broken, node: Some(after) });
        }
    }

    fn spread(
        &self,
        what: Everywhere,
        state: &mut Compact,
        missing: &mut Vec<Question>,
    ) -> Option<()> {
        for place in &mut state.places[..self.count] {
            let question = Question::Spread { what, common: state.common, place: *place };
            let pair = self.answer(question, missing)?;
            (state.common, *place) = self.pairs[pair as usize];
        }
        let question = Question::SpreadEnds { what, common: state.common };
        state.common = self.answer(question, missing)?;
        Some(())
    }

    /// Grants are numbered from 1 in the whole state; one that is only remembered is forgotten.
    fn rename_grants(&self, state: &mut Compact, missing: &mut Vec<Question>) -> Option<()> {
        let common = self.commons.grants[state.common as usize];
        let places = || {
            let places = state.places[..self.count].iter();
            places.map(|place| self.places.grants[*place as usize])
        };
        let (named, remembered) = places()
            .fold(common, |(named, remembered), (other, also)| (named | other, remembered | also));
        let grants = named;
        let fine: Grants = ((1 << (named >> 1).trailing_ones()) - 1) << 1;
        if (named | remembered) & !fine == 0 {
            return Some(());
        }
        let changes = |(named, remembered): (Grants, Grants)| (named | remembered) & !fine != 0;
        if changes(common) {
            let question = Question::RenamedCommon { common: state.common, grants };
            state.common = self.answer(question, missing)?;
        }
        for place in &mut state.places[..self.count] {
            if changes(self.places.grants[*place as usize]) {
                *place = self.answer(Question::RenamedPlace { place: *place, grants }, missing)?;
            }
        }
        Some(())
    }
}

/// Answers are worked out side by side, and taken in one after another.
impl Local<'_> {
    pub(super) fn work_out(&self, question: Question, scratch: &mut Scratch) -> Worked {
        match question {
            Question::Operators { common } => self.work_out_operators(common, scratch),
            Question::Steps { common, place } => self.work_out_steps(common, place, scratch),
            Question::Spread { what, common, place } => {
                let before = self.pair(common, place);
                let after = self.happens(&before, what.event());
                let at = place_of_all(&before, scratch);
                let common = self.commons.part(common);
                // The other places are yet to learn of it.
                let after = self.world(
                    &Common {
                        unpublished: common.unpublished,
                        oracle: common.oracle,
                        ..after.common()
                    },
                    after.members(),
                );
                Worked::Pair(Box::new(self.draft(&after, Some(at), scratch)))
            }
            Question::SpreadEnds { what, common } => {
                let after = self.happens(&self.without_places(common), what.event());
                Worked::Common(Box::new(self.draft(&after, None, scratch).common))
            }
            Question::RenamedCommon { common, grants } => {
                let renamed = with_grants(&self.without_places(common), grants);
                let world = self.world(&renamed.common(), std::iter::empty());
                Worked::Common(Box::new(self.draft(&world, None, scratch).common))
            }
            Question::RenamedPlace { place, grants } => {
                let renamed = with_grants(&self.pair(0, place), grants);
                let world = self.world(&self.commons.part(0), renamed.members());
                let draft = self.draft(&world, None, scratch);
                Worked::Place(Box::new(draft.place.expect("it has a place")))
            }
        }
    }

    fn happens(&self, world: &World, event: Event) -> World {
        let choice = Choice { action: Action::Happens(event), cost: Cost::Free };
        take(world, &choice, self.bounds).0
    }

    fn work_out_operators(&self, common: u32, scratch: &mut Scratch) -> Worked {
        let world = self.without_places(common);
        let choices = choices(&world, self.bounds.budget(), self.bounds);
        let mut steps = Vec::new();
        for choice in &choices {
            let kind = if let Action::Happens(Event::Publish(_)) = choice.action {
                (WorkedStep::Everywhere(Everywhere::Publish), Marks::NONE)
            } else {
                let (after, broken) = self.judged(&world, choice);
                let common = self.draft(&after, None, scratch).common;
                (WorkedStep::Common(Box::new(common)), broken)
            };
            steps.push((choice.cost.price(), kind.0, kind.1));
        }
        let converged = world.committed().hold().is_none();
        let block = Block { start: 0, end: 0, converged, builds: 0, drained_holder: false };
        Worked::Block { steps, block }
    }

    fn work_out_steps(&self, common: u32, place: u32, scratch: &mut Scratch) -> Worked {
        let world = self.pair(common, place);
        let at = place_of_all(&world, scratch);
        let choices = choices(&world, self.bounds.budget(), self.bounds);
        let mut steps = Vec::new();
        let mut of_common = None;
        for choice in choices.iter().filter(|choice| concerns_a_place(&choice.action)) {
            let kind = if choice.action == Action::Happens(Event::Heal) {
                (WorkedStep::Everywhere(Everywhere::Heal), Marks::NONE)
            } else {
                let (after, broken) = self.judged(&world, choice);
                let draft = if after.shares_record(&world) {
                    let of_common = of_common.get_or_insert_with(|| common_parts(&world, scratch));
                    self.draft_with(&after, Some(at), of_common, scratch)
                } else {
                    self.draft(&after, Some(at), scratch)
                };
                (WorkedStep::Here(Box::new(draft)), broken)
            };
            steps.push((choice.cost.price(), kind.0, kind.1));
        }
        let hold = world.committed().hold();
        let holder = hold.and_then(|hold| world.by_id(&hold.host)).map(|who| world.process(who));
        let block = Block {
            start: 0,
            end: 0,
            converged: hold.is_none() && world.is_converged(),
            builds: u8::try_from(counted_builds(&world)).unwrap_or(u8::MAX),
            drained_holder: holder.is_some_and(|each| each.lives() && each.host.is_drained()),
        };
        Worked::Block { steps, block }
    }

    /// What a choice makes of a world, and what it breaks, or may break where the holder is not
    /// there to be looked at.
    fn judged(&self, before: &World, choice: &Choice) -> (World, Marks) {
        let (after, violations) = take(before, choice, self.bounds);
        let mut marks: Marks = violations.iter().map(|violation| violation.property).collect();
        let hold = before.committed().hold().filter(|hold| hold.is_started());
        if let Some(hold) = hold.filter(|hold| before.by_id(&hold.host).is_none()) {
            let now = after.committed().hold();
            let stays = now.is_some_and(|now| now.grant == hold.grant && now.is_started());
            if !stays && !after.history().revoked.contains(&hold.grant) {
                marks.put(Property::NoEviction);
            }
        }
        (after, marks)
    }

    pub(super) fn take_in(&mut self, question: Question, worked: Worked) {
        let answer = match worked {
            Worked::Block { steps, block } => {
                let start = self.steps.len();
                for (price, kind, broken) in steps {
                    let kind = match kind {
                        WorkedStep::Everywhere(what) => StepKind::Everywhere(what),
                        WorkedStep::Common(part) => StepKind::Common(self.commons.put(*part)),
                        WorkedStep::Here(draft) => {
                            let (common, place) = self.put(*draft);
                            StepKind::Here { common, place }
                        }
                    };
                    self.steps.push(Step { price, kind, broken });
                }
                let number = |at: usize| u32::try_from(at).expect("fewer steps than transitions");
                let end = number(self.steps.len());
                self.blocks.push(Block { start: number(start), end, ..block });
                self.blocks.len() - 1
            }
            Worked::Pair(draft) => {
                let pair = self.put(*draft);
                self.pairs.push(pair);
                self.pairs.len() - 1
            }
            Worked::Common(part) => self.commons.put(*part) as usize,
            Worked::Place(part) => self.places.put(*part) as usize,
        };
        let answer = u32::try_from(answer).expect("fewer answers than transitions");
        self.answers.find_or_insert(question.key(), answer);
    }

    fn put(&mut self, draft: Draft) -> (u32, u32) {
        let place = draft.place.expect("a step of a place has one");
        (self.commons.put(draft.common), self.places.put(place))
    }
}

/// The place of all processes of a world.
fn place_of_all(world: &World, scratch: &Scratch) -> usize {
    scratch.place(&world.process(Who::from(0)).name)
}

/// Record and membership are spoken to by operators, wherever a process is.
fn concerns_a_place(action: &Action) -> bool {
    let Action::Happens(event) = action else { return true };
    !matches!(
        event,
        Event::Publish(_)
            | Event::ArbiterCrash(_)
            | Event::Lapse(_)
            | Event::Cancel { .. }
            | Event::Revoke { .. }
            | Event::Retry { .. }
    )
}
