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
    open: BTreeMap<(BarKind, usize, String), usize>,
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
            builder.begin(BarKind::Dead, lane, String::new(), 0);
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
                    commit: None,
                });
            }
            Moment::Step(step) => self.step(step),
            Moment::Broken(violation) => {
                let row = self.diagram.rows.len().saturating_sub(1);
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
        let commit = self.commit(step);
        self.diagram.rows.push(Row { text, kind, label: told, fault, commit });
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

    fn commit(&self, step: &Transition<'_>) -> Option<Commit> {
        let mut commits = step.facts.iter().filter_map(|fact| {
            if let Fact::Committed { arbiter, after, .. } = fact {
                let revision = Some(after.revision().to_string());
                return Some(Commit { lane: self.lanes.arbiter(*arbiter), revision });
            }
            let Fact::Conflicted { arbiter, .. } = fact else { return None };
            Some(Commit { lane: self.lanes.arbiter(*arbiter), revision: None })
        });
        commits.next_back()
    }

    /// Offers and holds, as the committed record has them.
    fn holds(&mut self, step: &Transition<'_>, row: usize) {
        let bar = |record: &Record, world: &World| {
            let hold = record.hold()?;
            let kind = if hold.is_started() { BarKind::Hold } else { BarKind::Offer };
            Some((kind, 1, format!("{} {}", world.host_label(&hold.host), hold.grant)))
        };
        let was = bar(step.before.committed(), step.before);
        let is = bar(step.after.committed(), step.after);
        let key = |bar: &Option<(BarKind, usize, String)>| bar.as_ref().map(|bar| bar.0);
        let grant = |record: &Record| record.hold().map(|hold| hold.grant);
        let same = grant(step.before.committed()) == grant(step.after.committed());
        if key(&was) == key(&is) && same {
            return;
        }
        let open: Vec<_> =
            self.open.keys().filter(|(kind, ..)| is_of_record(*kind)).cloned().collect();
        for (kind, lane, what) in open {
            self.end(kind, lane, &what, row);
        }
        if let Some((kind, lane, what)) = is {
            self.begin(kind, lane, what, row);
        }
    }

    fn builds(&mut self, step: &Transition<'_>, row: usize) {
        for fact in step.facts {
            if let Fact::BuildRuns { who, work } = fact {
                let lane = self.lanes.host(step.after, *who);
                self.begin(BarKind::Build, lane, Work::to_string(work), row);
            }
            if let Fact::BuildEnded { who, work, .. } | Fact::BuildStopped { who, work } = fact {
                let lane = self.lanes.host(step.after, *who);
                self.end(BarKind::Build, lane, &Work::to_string(work), row);
            }
            if let Fact::Crashed { who } | Fact::Exited { who } = fact {
                let lane = self.lanes.host(step.after, *who);
                let open: Vec<_> =
                    self.open.keys().filter(|(_, at, _)| *at == lane).cloned().collect();
                for (kind, lane, what) in open {
                    self.end(kind, lane, &what, row);
                }
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
            let open =
                self.open.keys().filter(|(kind, at, _)| (*kind, *at) == (BarKind::Slot, lane));
            let open: Vec<String> = open.map(|(.., what)| what.clone()).collect();
            for what in open.iter().filter(|what| !words.contains(*what)) {
                self.end(BarKind::Slot, lane, what, row);
            }
            for what in words.into_iter().filter(|what| !open.contains(what)) {
                self.begin(BarKind::Slot, lane, what, row);
            }
            self.slots.insert(who, holders);
        }
    }

    /// What lasts: slow hosts, stalled links, drains, and places without a process.
    fn stretches(&mut self, step: &Transition<'_>, row: usize) {
        for (index, arbiter) in step.after.arbiters() {
            let lane = self.lanes.arbiter(index);
            self.stretch(BarKind::Stalled, lane, "record", arbiter.stalled, row);
        }
        let places: Vec<(Name, usize)> =
            self.lanes.places.iter().map(|(name, lane)| (name.clone(), *lane)).collect();
        for (name, lane) in places {
            let Some(who) = step.after.newest(&name) else {
                continue;
            };
            let (process, link) = (step.after.process(who), step.after.link(who));
            let mut named = step.after.processes().filter(|(_, other)| other.name == name);
            let is_dead = !named.any(|(_, other)| other.lives());
            let is_slow = process.slow > 1 || process.stale > 0;
            let is_stalled = process.life == Life::Paused
                || link.cut
                || link.statements_stalled
                || link.views_stalled;
            let drains = process.host.executor().is_draining();
            self.stretch(BarKind::Dead, lane, "", is_dead, row);
            self.stretch(BarKind::Slow, lane, "", is_slow && !is_dead, row);
            self.stretch(BarKind::Stalled, lane, "", is_stalled && !is_dead, row);
            self.stretch(BarKind::Drain, lane, "", drains && !is_dead, row);
        }
    }

    fn stretch(&mut self, kind: BarKind, lane: usize, what: &str, lasts: bool, row: usize) {
        let is_open = self.open.contains_key(&(kind, lane, what.to_owned()));
        if lasts && !is_open {
            self.begin(kind, lane, what.to_owned(), row);
        } else if !lasts && is_open {
            self.end(kind, lane, what, row);
        }
    }

    fn begin(&mut self, kind: BarKind, lane: usize, what: String, row: usize) {
        self.open.insert((kind, lane, what.clone()), self.diagram.bars.len());
        self.diagram.bars.push(Bar { kind, lane, what, from: row, to: None });
    }

    fn end(&mut self, kind: BarKind, lane: usize, what: &str, row: usize) {
        if let Some(bar) = self.open.remove(&(kind, lane, what.to_owned())) {
            self.diagram.bars[bar].to = Some(row);
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
            self.note_no_return(setup, &violation);
            let text = format!("{} is broken: {}", violation.property, violation.why);
            self.diagram.notes.push(Note { row, text, tone: Tone::Broken });
        }
        self.diagram.notes.sort_by_key(|note| note.row);
        self.diagram
    }

    fn note_no_return(&mut self, setup: &Setup, violation: &Violation) {
        if Class::of(violation.property) != Class::Liveness {
            return;
        }
        if let Ok(lost) = no_return(setup, &self.events(), &LIMITS) {
            let row = self.schedule[lost.step].1;
            let text = format!("no return: {}", lost.evidence);
            self.diagram.notes.push(Note { row, text, tone: Tone::Lost });
        }
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
