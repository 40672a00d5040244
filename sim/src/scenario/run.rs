//! The script: a scenario run under one protocol.

use std::collections::BTreeSet;

use handover_core::Priority;

use super::events::{NoEvent, event_of};
use super::trace::{Entry, Trace, tell};
use super::{Command, Content, Ending, Fact as Expected, Line, Scenario, expect};
use crate::check::{self, Property, Transition, Violation};
use crate::digest::Digest;
use crate::variants::Protocol;
use crate::world::{ArbiterIndex, Event, Fact, Place, Setup, World};

/// Steps that may follow one command by themselves; a world that goes on longer is in a livelock.
const CALM_MAX: usize = 10_000;

/// How a scenario went under one protocol.
#[derive(Clone, Debug)]
pub struct Run {
    /// The protocol.
    pub protocol: &'static str,
    /// The ending that the head demands; none where the head is not about this protocol.
    pub expected: Option<Ending>,
    /// The ending that it had.
    pub ended: Ended,
    /// Expectations of the file that were false.
    pub failures: Vec<Failure>,
    /// Commands whose event could not happen. Under the right protocol the run ends there; under a
    /// wrong one it goes on, since what a wrong protocol omits is part of its story.
    pub stale: Vec<Stale>,
    /// The story.
    pub trace: Trace,
    /// Atomic steps taken.
    pub steps: usize,
    /// The chain over all steps.
    pub digest: Digest,
}

/// The ending of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All properties held in each step, and healed and rested it converged.
    Holds,
    /// The first property that broke.
    Breaks {
        /// The line at which it broke; the last one for a liveness property.
        line: usize,
        /// What showed it.
        violation: Violation,
    },
}

/// A false expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The line of the expectation.
    pub line: usize,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

/// A command whose event could not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// Its line.
    pub line: usize,
    /// The command.
    pub command: String,
    /// What is missing.
    pub why: String,
}

impl Run {
    /// Is all as the file says?
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        let ended = match &self.ended {
            Ended::Holds => Ending::Holds,
            Ended::Breaks { violation, .. } => Ending::Breaks(violation.property),
        };
        self.failures.is_empty()
            && !self.is_stale()
            && self.expected.is_none_or(|expected| expected == ended)
    }

    /// Did a command of the right protocol's story name an event that is not there?
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.protocol == super::CURRENT && !self.stale.is_empty()
    }
}

/// Something that an onlooker of a run sees.
#[derive(Clone, Copy, Debug)]
pub enum Moment<'a> {
    /// A command of the file is about to be played.
    Command(&'a Command),
    /// It could not happen; this is missing.
    Stale(&'a str),
    /// An atomic step was taken.
    Step(&'a Transition<'a>),
    /// A property was seen broken, by the last step or at rest; only the first one is told.
    Broken(&'a Violation),
    /// The file has ended: all faults end, and calm goes on to rest.
    End,
}

/// Runs a scenario under a protocol.
#[must_use]
pub fn run(scenario: &Scenario, protocol: &'static dyn Protocol) -> Run {
    watch(scenario, protocol, &mut |_| ())
}

/// Runs a scenario under a protocol before the eyes of an onlooker.
#[must_use]
pub fn watch(
    scenario: &Scenario,
    protocol: &'static dyn Protocol,
    seen: &mut dyn FnMut(Moment<'_>),
) -> Run {
    let _span =
        tracing::info_span!("scenario", title = scenario.title(), protocol = protocol.name())
            .entered();
    let mut script = Script::new(scenario, protocol, seen);
    let mut line = 0;
    for each in scenario.lines() {
        line = each.span().line.max(line);
        if !script.line(each, line) {
            break;
        }
    }
    script.end(line);
    Run {
        protocol: protocol.name(),
        expected: scenario.setup().ending(protocol.name()),
        ended: script
            .broken
            .map_or(Ended::Holds, |(line, violation)| Ended::Breaks { line, violation }),
        failures: script.failures,
        stale: script.stale,
        trace: script.trace,
        steps: script.steps,
        digest: script.digest,
    }
}

struct Script<'a> {
    seen: &'a mut dyn FnMut(Moment<'_>),
    world: World,
    protocol: &'static dyn Protocol,
    single_steps: bool,
    /// On the way to rest.
    calm: bool,
    trace: Trace,
    steps: usize,
    digest: Digest,
    broken: Option<(usize, Violation)>,
    /// The properties that were said to be broken; each is said once.
    told: BTreeSet<Property>,
    failures: Vec<Failure>,
    stale: Vec<Stale>,
    /// What the last command brought about.
    last: Vec<Fact>,
}

impl<'a> Script<'a> {
    fn new(
        scenario: &Scenario,
        protocol: &'static dyn Protocol,
        seen: &'a mut dyn FnMut(Moment<'_>),
    ) -> Self {
        let trace = Trace {
            title: scenario.title().to_owned(),
            protocol: protocol.name().to_owned(),
            entries: Vec::new(),
        };
        Self {
            seen,
            world: World::new(setup_of(scenario, protocol)),
            protocol,
            single_steps: scenario.setup().single_steps,
            calm: false,
            trace,
            steps: 0,
            digest: Digest::new(),
            broken: None,
            told: BTreeSet::new(),
            failures: Vec::new(),
            stale: Vec::new(),
            last: Vec::new(),
        }
    }

    /// Plays one line of the file; false where the story ends here.
    fn line(&mut self, line: &Line, number: usize) -> bool {
        let text = match line.content() {
            Content::Prose(text) => text.clone(),
            Content::Comment(text) if text.is_empty() => "#".to_owned(),
            Content::Comment(text) => format!("# {text}"),
            Content::Blank => String::new(),
            Content::Header(_) => return true,
            Content::Command(command) => {
                let comment = line.comment().map(|text| format!("  # {text}"));
                let text = format!("{command}{}", comment.unwrap_or_default());
                self.trace.entries.push(Entry { line: number, text, consequences: vec![] });
                return self.command(command, number);
            }
        };
        self.trace.entries.push(Entry { line: number, text, consequences: vec![] });
        true
    }

    fn command(&mut self, command: &Command, line: usize) -> bool {
        (self.seen)(Moment::Command(command));
        if let Command::Expect { under, fact } = command {
            self.expect(under.as_deref(), fact, line);
        } else if let Command::Check { property } = command {
            self.check(*property);
        } else if *command == Command::Rest {
            self.last.clear();
            self.go_calmly(line);
        } else {
            return match event_of(&self.world, command) {
                Ok(Some(event)) => self.event(&event, command, line),
                Ok(None) => true,
                Err(NoEvent(why)) => self.note_stale(command, why, line),
            };
        }
        true
    }

    fn event(&mut self, event: &Event, command: &Command, line: usize) -> bool {
        if let Err(why) = self.world.permits(event) {
            return self.note_stale(command, why.to_string(), line);
        }
        self.last.clear();
        self.step(event, line);
        if !self.single_steps {
            self.follow(line);
        }
        true
    }

    /// What follows a command by itself: hosts that are not slow take their steps, arbiters that
    /// are not stalled publish.
    fn follow(&mut self, line: usize) {
        for _ in 0..CALM_MAX {
            let Some(event) = self.next_to_follow() else {
                return;
            };
            self.step(&event, line);
        }
    }

    fn next_to_follow(&self) -> Option<Event> {
        let step = self.world.next_own_step();
        let mut arbiters = self.world.arbiters();
        let publishes = arbiters.find(|(_, arbiter)| arbiter.unpublished && !arbiter.stalled);
        step.or_else(|| publishes.map(|(index, _): (ArbiterIndex, _)| Event::Publish(index)))
    }

    fn go_calmly(&mut self, line: usize) {
        for _ in 0..CALM_MAX {
            let Some(event) = self.world.next_calm() else {
                return;
            };
            self.calm = true;
            let holds = self.step(&event, line);
            self.calm = false;
            if !holds {
                return self.say("(rests here, since a property is broken)".to_owned());
            }
        }
        let why = format!("after {CALM_MAX} calm steps it still goes on");
        self.note_broken(line, Violation { property: Property::NoLivelock, why });
    }

    /// One atomic step: applied, judged, told. Says whether all properties held.
    fn step(&mut self, event: &Event, line: usize) -> bool {
        let before = self.world.clone();
        let mut facts = Vec::new();
        self.world.apply(event, &mut facts).expect("the event was permitted");
        self.steps += 1;
        tracing::debug!(step = self.steps, event = %before.name_of(event));
        self.digest.step(event, &before, &self.world);
        self.tell(&facts);
        let step = Transition { before: &before, event, facts: &facts, after: &self.world };
        (self.seen)(Moment::Step(&step));
        let judged = check::check(&step);
        self.last.extend(facts);
        judged.map_err(|violation| self.note_broken(line, violation)).is_ok()
    }

    /// On the way to rest only what changes something is told.
    fn tell(&mut self, facts: &[Fact]) {
        let lone = facts.iter().all(Fact::is_only_news);
        for fact in facts {
            if self.calm && (lone || fact.is_publication()) {
                continue;
            }
            if let Some(text) = tell(&self.world, fact) {
                tracing::trace!("{text}");
                self.say(text);
            }
        }
    }

    fn expect(&mut self, under: Option<&str>, fact: &Expected, line: usize) {
        if under.unwrap_or(super::CURRENT) != self.protocol.name() {
            let who = under.unwrap_or(super::CURRENT);
            return self.say(format!("(about {who})"));
        }
        match expect::found(&self.world, &self.last, fact) {
            Ok(()) => self.say("yes".to_owned()),
            Err(found) => {
                self.say(format!("NO: {found}"));
                self.failures.push(Failure { line, expected: fact.to_string(), found });
            }
        }
    }

    /// Safety is judged after each step anyhow; this says so at this place.
    fn check(&mut self, property: Option<Property>) {
        let broken = self.broken.as_ref().map(|(_, violation)| violation);
        let broken = broken.filter(|broken| property.is_none_or(|asked| asked == broken.property));
        let text = broken.map_or_else(|| "holds so far".to_owned(), Violation::to_string);
        self.say(text);
    }

    fn note_stale(&mut self, command: &Command, why: String, line: usize) -> bool {
        self.last.clear();
        (self.seen)(Moment::Stale(&why));
        self.say(format!("cannot happen: {why}"));
        self.stale.push(Stale { line, command: command.to_string(), why });
        self.protocol.breaks().is_some()
    }

    fn note_broken(&mut self, line: usize, violation: Violation) {
        if self.told.insert(violation.property) {
            self.say(format!("BROKEN {violation}"));
        }
        if self.broken.is_none() {
            (self.seen)(Moment::Broken(&violation));
            self.broken = Some((line, violation));
        }
    }

    /// The ending: all faults end, calm to rest, and the rollout has to have come to its end.
    fn end(&mut self, line: usize) {
        if self.broken.is_some() || self.protocol.breaks().is_none() && !self.stale.is_empty() {
            return;
        }
        (self.seen)(Moment::End);
        let text = "(the end: heal, rest)".to_owned();
        self.trace.entries.push(Entry { line: 0, text, consequences: vec![] });
        self.step(&Event::Heal, line);
        self.go_calmly(line);
        if self.broken.is_some() {
            return;
        }
        let stuck = self.world.stuck();
        if stuck.is_empty() {
            return self.say("converged".to_owned());
        }
        let stuck: Vec<String> = stuck.into_iter().map(|stuck| stuck.0).collect();
        let why = stuck.join("; ");
        self.note_broken(line, Violation { property: Property::NoWedge, why });
    }

    fn say(&mut self, text: String) {
        if let Some(entry) = self.trace.entries.last_mut() {
            entry.say(text);
        }
    }
}

/// The world that a scenario begins with.
pub(crate) fn setup_of(scenario: &Scenario, protocol: &'static dyn Protocol) -> Setup {
    let setup = scenario.setup();
    let places = setup.hosts.iter().map(|host| Place {
        slots: host.slots,
        priority: Priority(host.priority),
        pinned: host.pinned,
        up: host.booted,
        ..Place::new(&host.name, &host.version)
    });
    Setup {
        places: places.collect(),
        chunks: setup.chunks.iter().map(|chunk| chunk.as_str().into()).collect(),
        arbiters: if setup.arbiters == 2 { 2 } else { 1 },
        protocol,
    }
}
