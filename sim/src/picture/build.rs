//! From the steps of a run to what a picture shows.

use std::collections::{BTreeMap, BTreeSet};

use handover_core::executor::Stage;
use handover_core::{Name, Record, Waiter, Work};

use super::flight::Flight;
use super::label::label;
use super::model::{Bar, BarKind, Commit, Diagram, Lane, LaneKind, Note, Row, RowKind, Tone};
use crate::check::{Transition, Violation};
use crate::explain::{Class, Departure, Limits, departures, is_fault, no_return};
use crate::scenario::{CURRENT, Content, Ended, Moment, Run, Scenario, setup_of, watch};
use crate::variants::Protocol;
use crate::world::{Event, Fact, Life, Setup, Who, World};

/// A picture, the run that it shows, and of one that breaks a property its departures from calm.
pub(super) type Built = (Diagram, Run, Vec<Departure>);

/// Runs a scenario and makes the picture of the run.
pub(super) fn build(scenario: &Scenario, protocol: &'static dyn Protocol) -> Built {
    let setup = setup_of(scenario, protocol);
    let mut builder = Builder::new(&setup, scenario.setup().single_steps);
    let run = watch(scenario, protocol, &mut |moment| builder.see(moment));
    let departures = match &run.ended {
        Ended::Breaks { .. } => builder.departures(&setup),
        Ended::Holds => Vec::new(),
    };
    let mut diagram = builder.finish(&setup);
    diagram.title = scenario.title().to_owned();
    diagram.about = about(scenario, protocol);
    diagram.is_broken = run.ended != Ended::Holds;
    diagram.verdict = match &run.ended {
        Ended::Holds if run.is_stale() => format!("stale under {}", run.protocol),
        Ended::Holds => format!("all properties hold under {}", run.protocol),
        Ended::Breaks { violation, .. } => {
            let (property, class) = (violation.property, Class::of(violation.property));
            format!("{property} ({class}) is broken under {}", run.protocol)
        }
    };
    (diagram, run, departures)
}

/// What the scenario says of itself, and what a wrong protocol leaves out.
fn about(scenario: &Scenario, protocol: &'static dyn Protocol) -> Vec<String> {
    let prose = scenario.lines().iter().filter_map(|line| match line.content() {
        Content::Prose(text) => Some(text.as_str()),
        Content::Header(_) | Content::Command(_) | Content::Comment(_) | Content::Blank => None,
    });
    let prose: Vec<&str> = prose.collect();
    let mut about = vec![prose.join(" ")];
    if protocol.name() != CURRENT {
        about.push(format!("Under {}: {}.", protocol.name(), protocol.summary()));
    }
    about.retain(|text| !text.is_empty());
    about
}

/// A picture is wanted at once.
const LIMITS: Limits = Limits { steps_max: 400_000, states_max: 20_000, continuations: 1_000 };

/// A longer schedule is no explanation, and its departures are hundreds.
const EXPLAINED_MAX: usize = 500;

/// Steps without a command after which a picture ends: a world that comes to rest needs fewer.
const UNCOMMANDED_MAX: usize = 500;

struct Builder {
    diagram: Diagram,
    /// The command whose step is awaited.
    command: Option<String>,
    /// Each command is one step: those that say nothing new stand back.
    single_steps: bool,
    lanes: Lanes,
    flight: Flight,
    /// The bars that have begun and not ended, by what they are of.
    open: BTreeMap<Lasting, usize>,
    /// The works that have a slot.
    slots: BTreeMap<Who, BTreeSet<Work>>,
    /// The events up to the end of the file, each with its row.
    schedule: Vec<(Event, usize)>,
    has_ended: bool,
    /// Steps since the last command.
    uncommanded: usize,
    /// What goes on for ever is drawn for a while.
    is_full: bool,
    broken: Option<(usize, Violation)>,
}

/// What a bar is of. Two lives of one name have one lane, and each its own bars.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lasting {
    kind: BarKind,
    lane: usize,
    /// None: it is no process's.
    life: Option<Who>,
    what: String,
}

impl Lasting {
    fn new(kind: BarKind, lane: usize, what: impl Into<String>) -> Self {
        Self { kind, lane, life: None, what: what.into() }
    }

    fn of(who: Who, kind: BarKind, lane: usize, what: impl Into<String>) -> Self {
        Self { life: Some(who), ..Self::new(kind, lane, what) }
    }
}

/// Where each actor stands.
pub(super) struct Lanes {
    arbiters: usize,
    places: BTreeMap<Name, usize>,
}

impl Lanes {
    pub(super) fn arbiter(&self, index: crate::world::ArbiterIndex) -> usize {
        1 + usize::from(index.0).min(self.arbiters - 1)
    }

    pub(super) fn host(&self, world: &World, who: Who) -> usize {
        self.places[&world.process(who).name]
    }

    pub(super) fn place(&self, name: &Name) -> usize {
        self.places[name]
    }
}

impl Builder {
    fn new(setup: &Setup, single_steps: bool) -> Self {
        let world = World::new(setup.clone());
        let arbiters = world.arbiters().count();
        let lane = |name: &str, detail: &str, kind| {
            let (name, detail) = (name.to_owned(), detail.to_owned());
            Lane { name, detail, kind }
        };
        let mut lanes = vec![lane("store", "committed", LaneKind::Store)];
        lanes.push(lane("record", "arbiter", LaneKind::Record));
        if arbiters > 1 {
            lanes.push(lane("record2", "arbiter", LaneKind::Record));
        }
        let mut places = BTreeMap::new();
        for place in &setup.places {
            places.insert(place.name.clone(), lanes.len());
            lanes.push(lane(place.name.as_str(), place.version.as_str(), LaneKind::Host));
        }
        let flight = Flight::new(&world);
        let mut builder = Self {
            diagram: Diagram { lanes, ..Diagram::default() },
            command: None,
            single_steps,
            lanes: Lanes { arbiters, places },
            flight,
            open: BTreeMap::new(),
            slots: BTreeMap::new(),
            schedule: Vec::new(),
            has_ended: false,
            uncommanded: 0,
            is_full: false,
            broken: None,
        };
        for place in setup.places.iter().filter(|place| !place.up) {
            let lane = builder.lanes.place(&place.name);
            builder.begin(Lasting::new(BarKind::Dead, lane, ""), 0);
        }
        builder
    }

    fn see(&mut self, moment: Moment<'_>) {
        match moment {
            Moment::Command(command) => self.command = Some(command.to_string()),
            Moment::Stale(_) => {
                let text = self.command.take().unwrap_or_default();
                self.diagram.rows.push(Row {
                    text: format!("{text}: cannot happen"),
                    kind: RowKind::Stale,
                    label: None,
                    fault: None,
                    commits: Vec::new(),
                });
            }
            Moment::Step(step) => self.step(step),
            Moment::Broken(violation) => {
                let row = self.diagram.rows.len().saturating_sub(1);
                // What breaks a property is worth a row, though it says nothing new.
                if let Some(row) = self.diagram.rows.last_mut().filter(|row| row.is_quiet()) {
                    row.kind = RowKind::Follows;
                }
                self.broken = Some((row, violation.clone()));
            }
            Moment::End => {
                self.command = Some("(the end)".to_owned());
                self.has_ended = true;
            }
        }
    }

    fn step(&mut self, step: &Transition<'_>) {
        self.uncommanded = if self.command.is_some() { 0 } else { self.uncommanded + 1 };
        if self.is_full || self.uncommanded > UNCOMMANDED_MAX {
            self.is_full = true;
            return;
        }
        let row = self.diagram.rows.len();
        let told = label(step, &self.lanes);
        let command = self.command.take();
        let is_told = told.is_some() || is_fault(step.before, step.event);
        let kind = match (&command, is_told) {
            (Some(_), true) => RowKind::Command,
            (Some(_), false) if !self.single_steps || self.has_ended => RowKind::Command,
            (None, true) => RowKind::Follows,
            (Some(_) | None, false) => RowKind::Quiet,
        };
        let text = command.unwrap_or_else(|| step.before.name_of(step.event));
        let fault = is_fault(step.before, step.event).then(|| self.struck(step));
        let commits = self.commits(step);
        self.diagram.rows.push(Row { text, kind, label: told, fault, commits });
        self.flight.follow(step, row, !is_told, &self.lanes, &mut self.diagram.messages);
        self.holds(step, row);
        self.builds(step, row);
        self.slots(step, row);
        self.stretches(step, row);
        if !self.has_ended {
            self.schedule.push((step.event.clone(), row));
        }
    }

    /// The lane on which a fault strikes.
    fn struck(&self, step: &Transition<'_>) -> usize {
        let place = crate::explain::place_of(step.before, step.event);
        place.map_or(1, |name| self.lanes.place(&name))
    }

    fn commits(&self, step: &Transition<'_>) -> Vec<Commit> {
        let commits = step.facts.iter().filter_map(|fact| {
            if let Fact::Committed { arbiter, after, .. } = fact {
                let revision = Some(after.revision().to_string());
                return Some(Commit { lane: self.lanes.arbiter(*arbiter), revision });
            }
            let Fact::Conflicted { arbiter, .. } = fact else { return None };
            Some(Commit { lane: self.lanes.arbiter(*arbiter), revision: None })
        });
        commits.collect()
    }

    /// Offers and holds, as the committed record has them.
    fn holds(&mut self, step: &Transition<'_>, row: usize) {
        let bar = |record: &Record, world: &World| {
            let hold = record.hold()?;
            let kind = if hold.is_started() { BarKind::Hold } else { BarKind::Offer };
            let what = format!("{} {}", world.host_label(&hold.host), hold.grant);
            Some(Lasting::new(kind, 1, what))
        };
        let was = bar(step.before.committed(), step.before);
        let is = bar(step.after.committed(), step.after);
        let kind = |bar: &Option<Lasting>| bar.as_ref().map(|bar| bar.kind);
        let grant = |record: &Record| record.hold().map(|hold| hold.grant);
        let same = grant(step.before.committed()) == grant(step.after.committed());
        if kind(&was) == kind(&is) && same {
            return;
        }
        self.end_all(row, |bar| is_of_record(bar.kind));
        if let Some(bar) = is {
            self.begin(bar, row);
        }
    }

    fn builds(&mut self, step: &Transition<'_>, row: usize) {
        for fact in step.facts {
            if let Fact::BuildRuns { who, work } = fact {
                let lane = self.lanes.host(step.after, *who);
                self.begin(Lasting::of(*who, BarKind::Build, lane, Work::to_string(work)), row);
            }
            if let Fact::BuildEnded { who, work, .. } | Fact::BuildStopped { who, work } = fact {
                let lane = self.lanes.host(step.after, *who);
                self.end(&Lasting::of(*who, BarKind::Build, lane, Work::to_string(work)), row);
            }
            if let Fact::Crashed { who } | Fact::Exited { who } = fact {
                self.end_all(row, |bar| bar.life == Some(*who));
            }
        }
    }

    /// Who has a slot, from the step that hands it over to the one that gives it back.
    fn slots(&mut self, step: &Transition<'_>, row: usize) {
        for (who, _, process) in step.touched() {
            let lane = self.lanes.host(step.after, who);
            let executor = process.host.executor();
            let waiting = executor.queue().into_iter().filter_map(|queued| match queued.waiter {
                Waiter::Build(build) => Some(Work::Local(build)),
                Waiter::Candidate => None,
            });
            // What gives its slot back has left the current set: it is known from before.
            let known = self.slots.remove(&who).unwrap_or_default();
            let works = executor.current().map(|(work, _)| work.clone()).chain(waiting);
            let has = |work: &Work| executor.stage(work).is_some_and(Stage::needs_slot);
            let mut holders: BTreeSet<Work> = works.chain(known).filter(has).collect();
            if !process.lives() {
                holders.clear();
            }
            let reserved = executor.has_reservation() && process.lives();
            let words = holders.iter().map(Work::to_string);
            let words: Vec<String> = words.chain(reserved.then(|| "reserved".to_owned())).collect();
            self.end_all(row, |bar| {
                (bar.kind, bar.life) == (BarKind::Slot, Some(who)) && !words.contains(&bar.what)
            });
            for what in words {
                self.stretch(Lasting::of(who, BarKind::Slot, lane, what), true, row);
            }
            self.slots.insert(who, holders);
        }
    }

    /// What lasts: slow hosts, stalled links, drains, and places without a process.
    fn stretches(&mut self, step: &Transition<'_>, row: usize) {
        for (index, arbiter) in step.after.arbiters() {
            let lane = self.lanes.arbiter(index);
            let stalled = Lasting::new(BarKind::Stalled, lane, "record");
            self.stretch(stalled, arbiter.stalled, row);
        }
        let places: Vec<(Name, usize)> =
            self.lanes.places.iter().map(|(name, lane)| (name.clone(), *lane)).collect();
        for (name, lane) in places {
            let named = || step.after.processes().filter(|(_, process)| process.name == name);
            if named().next().is_none() {
                continue;
            }
            let is_dead = !named().any(|(_, process)| process.lives());
            self.stretch(Lasting::new(BarKind::Dead, lane, ""), is_dead, row);
            for (who, process) in named() {
                let (link, lives) = (step.after.link(who), process.lives());
                let is_slow = process.slow > 1 || process.stale > 0;
                let is_stalled = process.life == Life::Paused
                    || link.cut
                    || link.statements_stalled
                    || link.views_stalled;
                let drains = process.host.executor().is_draining();
                let bar = |kind| Lasting::of(who, kind, lane, "");
                self.stretch(bar(BarKind::Slow), is_slow && lives, row);
                self.stretch(bar(BarKind::Stalled), is_stalled && lives, row);
                self.stretch(bar(BarKind::Drain), drains && lives, row);
            }
        }
    }

    fn stretch(&mut self, bar: Lasting, lasts: bool, row: usize) {
        let is_open = self.open.contains_key(&bar);
        if lasts && !is_open {
            self.begin(bar, row);
        } else if !lasts && is_open {
            self.end(&bar, row);
        }
    }

    fn begin(&mut self, bar: Lasting, row: usize) {
        let Lasting { kind, lane, ref what, .. } = bar;
        let drawn = Bar { kind, lane, what: what.clone(), from: row, to: None };
        self.open.insert(bar, self.diagram.bars.len());
        self.diagram.bars.push(drawn);
    }

    fn end(&mut self, bar: &Lasting, row: usize) {
        if let Some(bar) = self.open.remove(bar) {
            self.diagram.bars[bar].to = Some(row);
        }
    }

    fn end_all(&mut self, row: usize, ends: impl Fn(&Lasting) -> bool) {
        let open: Vec<Lasting> = self.open.keys().filter(|bar| ends(bar)).cloned().collect();
        for bar in open {
            self.end(&bar, row);
        }
    }

    /// Those up to the end of the file.
    fn departures(&self, setup: &Setup) -> Vec<Departure> {
        if self.schedule.len() > EXPLAINED_MAX {
            return Vec::new();
        }
        departures(setup, &self.events())
    }

    fn events(&self) -> Vec<Event> {
        self.schedule.iter().map(|(event, _)| event.clone()).collect()
    }

    fn finish(mut self, setup: &Setup) -> Diagram {
        if self.is_full {
            let row = self.diagram.rows.len().saturating_sub(1);
            let text = "and so on: the rest is not drawn".to_owned();
            self.diagram.notes.push(Note { row, text, tone: Tone::Plain });
        }
        if let Some((row, violation)) = self.broken.take() {
            let text = format!("{} is broken: {}", violation.property, violation.why);
            self.diagram.notes.push(Note { row, text, tone: Tone::Broken });
            self.note_no_return(setup, &violation, row);
        }
        self.diagram.notes.sort_by_key(|note| note.row);
        self.diagram
    }

    /// Below the step that it is; below the one that breaks the property if there is none.
    fn note_no_return(&mut self, setup: &Setup, violation: &Violation, broken: usize) {
        if Class::of(violation.property) != Class::Liveness {
            return;
        }
        let (row, why, tone) = match no_return(setup, &self.events(), &LIMITS) {
            Ok(lost) => (self.schedule[lost.step].1, lost.evidence.to_string(), Tone::Lost),
            Err(why) => (broken, why.to_string(), Tone::Plain),
        };
        self.diagram.notes.push(Note { row, text: format!("no return: {why}"), tone });
    }
}

fn is_of_record(kind: BarKind) -> bool {
    match kind {
        BarKind::Offer | BarKind::Hold => true,
        BarKind::Build
        | BarKind::Slot
        | BarKind::Drain
        | BarKind::Slow
        | BarKind::Stalled
        | BarKind::Dead => false,
    }
}
