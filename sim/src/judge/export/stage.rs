//! The world in which a journal is played again, and the commands that did it.

use std::collections::{BTreeMap, BTreeSet};

use handover_core::journal::{HostInput, JournalEntry};
use handover_core::{
    Acknowledgement, Chunk, Effect, ExecutorEffect, HostId, Ledger, Name, Phase, Revision, Version,
};

use super::super::line::Place as Where;
use super::super::tape::{Committed, Moment, Stand, Told};
use super::ExportError;
use super::books::{Books, is_empty, nameless};
use super::deeds::{bad_chunk, deed, step_of};
use super::plain::plain_reason;
use crate::scenario::{Command, command_of};
use crate::variants::Current;
use crate::world::{Direction, Event, Place, Setup, Step, StepKind, Who, Wire, World};

/// The world as far as it has come.
pub(super) struct Stage {
    world: World,
    commands: Vec<Command>,
    /// The process of each journal.
    who: BTreeMap<usize, Who>,
    /// What each life is called here.
    ids: BTreeMap<HostId, HostId>,
    /// The last moment of each process.
    last: BTreeMap<usize, usize>,
    /// The process of each boot that is still to come or has been.
    newest: BTreeMap<Name, usize>,
    /// Where a process has gone another way than its journal; it may be a step ahead.
    astray: BTreeMap<usize, (Where, String)>,
    /// Processes that could not read the record while a slot was reserved for their asking, and gave
    /// it back. No command does that: in the world they hold it until a view answers.
    gave_back: BTreeSet<usize>,
    /// Chunks that failed, each with its host and why.
    bad_chunks: Vec<String>,
    books: Books,
}

impl Stage {
    pub(super) fn new(moments: &[Moment]) -> Result<Self, ExportError> {
        let mut last = BTreeMap::new();
        let mut places: Vec<Place> = Vec::new();
        let mut plans: BTreeSet<BTreeSet<Chunk>> = BTreeSet::new();
        for (at, moment) in moments.iter().enumerate() {
            let Moment::Line(told) = moment else { continue };
            last.insert(told.process, at);
            if let JournalEntry::Input(HostInput::Plan { plan, .. }) = &told.line.entry {
                plans.insert(plan.clone());
            }
            let JournalEntry::Boot { version, priority, settings, .. } = &told.line.entry else {
                continue;
            };
            let name = told.line.host.name.clone();
            let place = Place {
                version: version.clone(),
                slots: settings.slots(),
                priority: *priority,
                pinned: settings.pinned(),
                up: places.is_empty(),
                ..Place::new(name.as_str(), "")
            };
            match places.iter().find(|known| known.name == name) {
                None => places.push(place),
                Some(known) => {
                    let same = (known.slots, known.priority, known.pinned)
                        == (place.slots, place.priority, place.pinned);
                    if !same {
                        let why = format!("{name} boots with other settings than before");
                        return Err(no_command(&told.place, why));
                    }
                }
            }
        }
        // The plan of the header is what a plan without chunks means.
        let chunks = plans.into_iter().next().unwrap_or_default();
        let setup = Setup { places, chunks, arbiters: 1, protocol: &Current };
        Ok(Self {
            world: World::new(setup),
            commands: Vec::new(),
            who: BTreeMap::new(),
            ids: BTreeMap::new(),
            last,
            newest: BTreeMap::new(),
            astray: BTreeMap::new(),
            gave_back: BTreeSet::new(),
            bad_chunks: Vec::new(),
            books: Books::of(moments),
        })
    }

    pub(super) fn world(&self) -> &World {
        &self.world
    }

    pub(super) fn ids(&self) -> &BTreeMap<HostId, HostId> {
        &self.ids
    }

    pub(super) fn commands(&self) -> Vec<Command> {
        self.commands.clone()
    }

    /// What is said of lives that have another number here.
    pub(super) fn renamed(&self) -> Option<String> {
        let exact = |id: &HostId| format!("{}.{}", id.name, id.incarnation);
        let others = self.ids.iter().filter(|(id, here)| id != here);
        let told: Vec<_> =
            others.map(|(id, here)| format!("{} is {} here", exact(id), exact(here))).collect();
        listed("Lives are numbered anew", &told)
    }

    /// What is said of chunks that failed: no command takes the reason.
    pub(super) fn failed(&self) -> Option<String> {
        listed("Chunks that failed, with why", &self.bad_chunks)
    }

    /// Makes an event happen.
    pub(super) fn act(&mut self, event: Event, place: &Where) -> Result<(), ExportError> {
        let command = command_of(&self.world, &event);
        match self.world.apply(&event, &mut Vec::new()) {
            Ok(()) => {
                self.commands.push(command);
                Ok(())
            }
            Err(missing) => Err(no_command(place, format!("`{command}`: {missing}"))),
        }
    }

    pub(super) fn line(&mut self, at: usize, told: &Told) -> Result<(), ExportError> {
        let place = &told.place;
        if let JournalEntry::Boot { version, ledger, .. } = &told.line.entry {
            return self.boot(at, told, version, ledger.as_ref());
        }
        let Some(who) = self.who.get(&told.process).copied() else {
            return Err(no_command(place, "its process has not booted".into()));
        };
        self.play(who, told)?;
        self.compare(who, told)
    }

    fn play(&mut self, who: Who, told: &Told) -> Result<(), ExportError> {
        let place = &told.place;
        match &told.line.entry {
            JournalEntry::Input(HostInput::View(view)) => self.read(who, view.revision, place),
            JournalEntry::Input(HostInput::ComeBack { .. }) => {
                let step = Step { kind: StepKind::Return, work: None };
                self.act(Event::Step { who, step }, place)?;
                let id = self.world.process(who).host.id().clone();
                self.name(&told.line.host, id, place)
            }
            JournalEntry::Input(HostInput::Unreadable(_)) => {
                let host = &self.world.process(who).host;
                if host.candidate().phase() == Phase::Asking && host.executor().has_reservation() {
                    self.gave_back.insert(told.process);
                }
                Ok(())
            }
            JournalEntry::Input(input) => match deed(&self.world, who, input) {
                Ok(Some(event)) if self.has_to(who, input, told) => {
                    self.bad_chunks.extend(bad_chunk(&told.line.host, input));
                    self.act(event, place)
                }
                Ok(_) => Ok(()),
                Err(why) => Err(no_command(place, why)),
            },
            JournalEntry::Acknowledged { effect, outcome } => {
                self.step(who, effect, *outcome, told)
            }
            JournalEntry::Ended => self.end(who, place),
            JournalEntry::Boot { .. }
            | JournalEntry::Loaded(_)
            | JournalEntry::Proposed { .. }
            | JournalEntry::Answered { .. }
            | JournalEntry::Refused { .. }
            | JournalEntry::Lost { .. } => Ok(()),
        }
    }

    /// A wish is always told: it may be one for later. What was refused, or has happened already,
    /// is not.
    fn has_to(&self, who: Who, input: &HostInput, told: &Told) -> bool {
        let is_wish = matches!(
            input,
            HostInput::Ask | HostInput::Watch | HostInput::StandDown | HostInput::StandDownAfter
        );
        is_wish || !self.is_there(who, told)
    }

    /// Is this process where its journal says? One that gave its reserved slot back may still hold
    /// it here: that is told apart from all else only where somebody else gets it, and then the
    /// rest differs too.
    fn is_there(&self, who: Who, told: &Told) -> bool {
        let host = &self.world.process(who).host;
        let here = Stand::of(host);
        let holds_on = self.gave_back.contains(&told.process) && host.executor().has_reservation();
        told.stand
            .as_ref()
            .is_some_and(|stand| *stand == here || holds_on && *stand == here.with_one_more_free())
    }

    /// Both have to be in the same state, or at the next line again.
    fn compare(&mut self, who: Who, told: &Told) -> Result<(), ExportError> {
        let here = Stand::of(&self.world.process(who).host);
        let Some(stand) = told.stand.as_ref().filter(|_| self.world.process(who).lives()) else {
            return Ok(());
        };
        if *stand == here {
            self.gave_back.remove(&told.process);
        }
        if self.is_there(who, told) {
            self.astray.remove(&told.process);
            return Ok(());
        }
        if let Some((place, why)) = self.astray.get(&told.process) {
            return Err(no_command(place, why.clone()));
        }
        let why = format!("its host is then {stand:?}, and in the world {here:?}");
        self.astray.insert(told.process, (told.place.clone(), why));
        Ok(())
    }

    fn boot(
        &mut self,
        at: usize,
        told: &Told,
        version: &Version,
        ledger: Option<&Ledger>,
    ) -> Result<(), ExportError> {
        let (host, place) = (&told.line.host, &told.place);
        let before = self.newest.insert(host.name.clone(), told.process);
        let who = match (before, self.world.newest(&host.name)) {
            (None, Some(who)) => who,
            (before, newest) => {
                if let Some((before, newest)) = before.zip(newest) {
                    let goes_on = self.last.get(&before).is_some_and(|last| *last > at);
                    if !goes_on {
                        self.crash(newest, Some(at), place)?;
                    }
                }
                if let Some(newest) = newest.filter(|_| ledger.is_none_or(is_empty)) {
                    self.lose_disk(newest, place)?;
                }
                let lives = newest.is_some_and(|who| self.world.process(who).lives());
                let (name, version) = (host.name.clone(), Some(version.clone()));
                let event = if lives {
                    Event::Overlap { name, version }
                } else {
                    Event::Boot { name, version }
                };
                self.act(event, place)?;
                let newest = self.world.newest(&host.name);
                newest.ok_or_else(|| no_command(place, "it has no place".into()))?
            }
        };
        self.who.insert(told.process, who);
        let id = self.world.process(who).host.id().clone();
        self.name(host, id, place)?;
        let here = nameless(self.world.process(who).ledger.as_ref());
        let found = nameless(&ledger.cloned().unwrap_or_default());
        if here != found {
            let why = format!("its book is {found:?}, and the lines before have written {here:?}");
            return Err(no_command(place, why));
        }
        self.compare(who, told)
    }

    /// A life has its name; later ones have higher numbers there as here.
    fn name(&mut self, host: &HostId, here: HostId, place: &Where) -> Result<(), ExportError> {
        let mut known = self.ids.iter().filter(|(known, _)| known.name == host.name);
        let in_order =
            known.all(|(known, named)| (known < host) == (*named < here) && *known != *host);
        if !in_order {
            return Err(no_command(place, format!("{host} has begun before an earlier life")));
        }
        self.ids.insert(host.clone(), here);
        Ok(())
    }

    /// The process dies, with what its disk has by the next boot at this moment.
    pub(super) fn crash(
        &mut self,
        who: Who,
        next: Option<usize>,
        place: &Where,
    ) -> Result<(), ExportError> {
        if !self.world.process(who).lives() {
            return Ok(());
        }
        let name = self.world.process(who).name.clone();
        if let Some(write) = self.books.last_write(&self.world, who, &name, next) {
            self.act(write, place)?;
        }
        self.act(Event::Crash(who), place)
    }

    /// Where a process that is dead has left something in its book, that is lost with its disk.
    fn lose_disk(&mut self, who: Who, place: &Where) -> Result<(), ExportError> {
        let process = self.world.process(who);
        if process.lives() || is_empty(&process.ledger) {
            return Ok(());
        }
        self.act(Event::LoseDisk(who), place)
    }

    /// The host reads this revision, which is the newest.
    fn read(&mut self, who: Who, wanted: Revision, place: &Where) -> Result<(), ExportError> {
        let process = self.world.process(who);
        let id = process.host.id().clone();
        let view = process.host.candidate().view();
        let has = view.filter(|view| view.host == id).map_or(Revision(0), |view| view.revision);
        if wanted <= has {
            // Read once more: it says only that the record can be read.
            return Ok(());
        }
        let wire = Wire { who, direction: Direction::FromRecord };
        loop {
            let link = self.world.link(who);
            let Some(view) = link.views.front() else {
                let newest = link.newest.as_ref().map(|view| view.revision);
                if newest != Some(wanted) {
                    return Err(no_command(place, format!("{wanted} is not what is published")));
                }
                self.act(Event::Repeat(wire), place)?;
                continue;
            };
            if view.revision == wanted && view.host == id {
                return self.act(Event::Read(who), place);
            }
            self.act(Event::Lose(wire), place)?;
        }
    }

    fn step(
        &mut self,
        who: Who,
        effect: &Effect,
        outcome: Acknowledgement,
        told: &Told,
    ) -> Result<(), ExportError> {
        let Some(step) = Step::of(effect) else { return Ok(()) };
        let event = Event::Step { who, step };
        let is_drained = matches!(effect, Effect::Executor(ExecutorEffect::Drained { .. }));
        let happens = match outcome {
            Acknowledgement::Done => true,
            // It is looked at again in the step that ends the process, and that is what failed.
            Acknowledgement::Failed if is_drained => !self.world.process(who).host.is_drained(),
            // It is handed out once more, and done then; unless nobody wants it any more.
            Acknowledgement::Failed | Acknowledgement::Unknown => self.leads_there(&event, told),
        };
        let is_ordered =
            step_of(&event).is_some_and(|step| self.world.process(who).order(step).is_some());
        if happens && is_ordered { self.act(event, &told.place) } else { Ok(()) }
    }

    /// Is a process where its journal says once this has happened, and not before?
    fn leads_there(&self, event: &Event, told: &Told) -> bool {
        let Some(who) = event.who().filter(|who| !self.is_there(*who, told)) else { return false };
        let mut tried = self.world.clone();
        tried.apply(event, &mut Vec::new()).is_ok()
            && told.stand.as_ref() == Some(&Stand::of(&tried.process(who).host))
    }

    /// The process ends in order: by its drain's end action, or because it was told to.
    fn end(&mut self, who: Who, place: &Where) -> Result<(), ExportError> {
        let step = Step { kind: StepKind::Drained, work: None };
        let ends = self.world.process(who).order(&step).is_some_and(|order| {
            let Effect::Executor(ExecutorEffect::Drained { end, .. }) = order else { return false };
            *end != handover_core::EndAction::Nothing
        });
        if ends {
            return self.act(Event::Step { who, step }, place);
        }
        self.crash(who, None, place)
    }

    /// Has this process more lines behind this moment?
    fn goes_on(&self, who: Who, at: usize) -> bool {
        let process = self.who.iter().find(|(_, known)| **known == who).map(|(process, _)| process);
        let last = process.and_then(|process| self.last.get(process));
        last.is_some_and(|last| *last > at)
    }

    pub(super) fn commit(&mut self, at: usize, committed: &Committed) -> Result<(), ExportError> {
        let Committed { place, inputs, suspects } = committed;
        self.suspect(suspects, place)?;
        for input in inputs {
            let before = self.world.committed().revision();
            self.fold(at, input, place)?;
            if self.world.committed().revision() != before.next() {
                return Err(no_command(place, format!("the world refuses {input:?}")));
            }
        }
        if inputs.is_empty() {
            self.act(Event::ArbiterCrash(crate::world::ArbiterIndex(0)), place)?;
        }
        self.act(Event::Publish(crate::world::ArbiterIndex(0)), place)
    }

    fn suspect(&mut self, wanted: &BTreeSet<HostId>, place: &Where) -> Result<(), ExportError> {
        let wanted: BTreeSet<HostId> =
            wanted.iter().filter_map(|host| self.ids.get(host)).cloned().collect();
        let now = self.world.oracle().suspects.clone();
        for host in now.symmetric_difference(&wanted) {
            // A life that is over stands in no election.
            let Some(who) = self.world.by_id(host) else { continue };
            let event = if now.contains(host) { Event::Trust(who) } else { Event::Suspect(who) };
            self.act(event, place)?;
        }
        Ok(())
    }

    fn fold(
        &mut self,
        at: usize,
        input: &handover_core::Input,
        place: &Where,
    ) -> Result<(), ExportError> {
        use handover_core::Input;
        let event = match input {
            Input::Statement(statement) => {
                let who = self.process_of(&statement.host, place)?;
                return self.deliver(who, statement, place);
            }
            Input::Gone(host) => {
                let who = self.process_of(host, place)?;
                if !self.goes_on(who, at) {
                    self.crash(who, Some(at), place)?;
                }
                Event::Gone(who)
            }
            Input::Lapse { grant } => Event::Lapse(*grant),
            Input::Cancel { grant, reason, then } => {
                let reason = plain_reason(reason);
                Event::Cancel { grant: *grant, then: *then, reason }
            }
            Input::Revoke { grant, reason } => {
                let reason = plain_reason(reason);
                Event::Revoke { grant: *grant, reason }
            }
            Input::Retry { version, grant } => {
                Event::Retry { version: version.clone(), grant: *grant }
            }
        };
        self.act(event, place)
    }

    fn process_of(&self, host: &HostId, place: &Where) -> Result<Who, ExportError> {
        let here = self.ids.get(host);
        let who = here.and_then(|here| self.world.by_id(here));
        who.ok_or_else(|| {
            no_command(place, format!("{host} has no journal, or lives on as another"))
        })
    }

    /// The record hears this word: those before it were lost, or are repeated.
    fn deliver(
        &mut self,
        who: Who,
        said: &handover_core::Statement,
        place: &Where,
    ) -> Result<(), ExportError> {
        let wire = Wire { who, direction: Direction::ToRecord };
        let here = self.ids.get(&said.host).cloned();
        loop {
            let Some(front) = self.world.link(who).statements.front() else {
                let present = self.world.process(who).host.statement();
                if present.is_none_or(|present| present.seq != said.seq) {
                    return Err(no_command(place, format!("{said} is not on its way any more")));
                }
                self.act(Event::Repeat(wire), place)?;
                continue;
            };
            if front.seq == said.seq && Some(&front.host) == here.as_ref() {
                let to = crate::world::ArbiterIndex(0);
                return self.act(Event::Deliver { from: who, to }, place);
            }
            if Some(&front.host) == here.as_ref() && front.seq > said.seq {
                return Err(no_command(place, format!("{said} is not on its way any more")));
            }
            self.act(Event::Lose(wire), place)?;
        }
    }
}

fn listed(what: &str, each: &[String]) -> Option<String> {
    let shown = each.iter().take(LISTED_MAX).cloned().collect::<Vec<_>>().join(", ");
    let more = each.len().saturating_sub(LISTED_MAX);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    (!each.is_empty()).then(|| format!("{what}: {shown}{more}."))
}

/// So many renumbered lives, and failed chunks, are told.
const LISTED_MAX: usize = 8;

pub(super) fn no_command(place: &Where, why: String) -> ExportError {
    ExportError::NoCommand { place: place.clone(), why }
}
