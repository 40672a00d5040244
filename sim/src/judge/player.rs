//! One process, replayed through the core.

use std::collections::{BTreeMap, BTreeSet};

use handover_core::journal::{HostInput, JournalEntry, JournalLine};
use handover_core::{
    Candidate, Chunk, Effect, End, Executor, GrantId, Host, HostId, Input, Phase, Revision,
    SignOff, Work,
};

use super::line::Place;
use super::stream::Stream;
use super::{Breach, Finding};
use crate::check::Property;
use crate::world::RealEnd;

/// What really became of the builds under grants.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    pub(super) ended: BTreeMap<GrantId, RealEnd>,
    plans: BTreeMap<GrantId, BTreeSet<Chunk>>,
    signed_off: BTreeMap<GrantId, BTreeSet<Chunk>>,
}

/// A process that is replayed.
#[derive(Clone, Debug)]
pub(super) struct Player {
    pub(super) stream: Stream,
    /// None before its boot, and where lines of it are missing.
    pub(super) host: Option<Host>,
    /// Read, and to be played when the record is as far.
    pub(super) waiting: Option<(Place, Box<JournalLine>)>,
    pub(super) is_over: bool,
    /// All identities that it had.
    pub(super) ids: BTreeSet<HostId>,
    /// Of a line of it nothing more than that it was read can be said.
    pub(super) is_lost: bool,
    /// It follows the record that is judged.
    pub(super) is_ours: bool,
    handed_out: Vec<Effect>,
}

/// What a line has moved.
pub(super) struct Moved {
    pub(super) from: Phase,
    pub(super) to: Phase,
}

impl Player {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            host: None,
            waiting: None,
            is_over: false,
            ids: BTreeSet::new(),
            is_lost: false,
            is_ours: false,
            handed_out: Vec::new(),
        }
    }

    /// Its lines do not tell any more what it is in.
    pub(super) fn lose(&mut self) {
        self.host = None;
        self.is_lost = true;
    }

    /// Does one of its lines tell what this host's builds did?
    pub(super) fn sees(&self, host: &HostId) -> bool {
        self.host.is_some() && self.ids.contains(host)
    }

    /// The build under a grant of this record that it runs, as far as is known.
    pub(super) fn running(&self) -> Option<GrantId> {
        if self.is_over || !self.is_ours { None } else { self.host.as_ref()?.candidate().running() }
    }

    /// Plays a line.
    pub(super) fn play(
        &mut self,
        place: &Place,
        line: &JournalLine,
        truth: &mut Truth,
    ) -> Result<Option<Moved>, Finding> {
        self.ids.insert(line.host.clone());
        let broken = |why: String| Finding::new(Breach::Replay, place, why);
        let from = self.host.as_ref().map(|host| host.candidate().phase());
        if line.number == 0 && !matches!(line.entry, JournalEntry::Boot { .. }) {
            return Err(broken(format!("{} begins with something else than its boot", line.boot)));
        }
        match &line.entry {
            JournalEntry::Boot { .. } if self.host.is_some() => {
                return Err(broken(format!("{} boots twice", line.host)));
            }
            JournalEntry::Boot { .. } => self.boot(line).map_err(broken)?,
            JournalEntry::Input(input) => {
                let Some(host) = &mut self.host else { return Ok(None) };
                // Grants are numbers of one record.
                if self.is_ours {
                    truth.note(host, input);
                }
                host.replay(input.clone());
            }
            JournalEntry::Acknowledged { effect, outcome } => {
                let Some(host) = &mut self.host else { return Ok(None) };
                let Some(at) = self.handed_out.iter().position(|known| known == effect) else {
                    return Err(broken(format!(
                        "{} acknowledges what was not handed out to it: {effect:?}",
                        line.host
                    )));
                };
                self.handed_out.swap_remove(at);
                host.acknowledge(effect, *outcome);
            }
            JournalEntry::Proposed { inputs, .. } => {
                let Some(host) = &self.host else { return Ok(None) };
                said(host, inputs).map_err(broken)?;
            }
            JournalEntry::Lost { .. } => {
                self.lose();
                return Ok(None);
            }
            JournalEntry::Loaded(_)
            | JournalEntry::Answered { .. }
            | JournalEntry::Refused { .. }
            | JournalEntry::Ended => {}
        }
        self.settle(place, line)?;
        let to = self.host.as_ref().map(|host| host.candidate().phase());
        Ok(from.zip(to).map(|(from, to)| Moved { from, to }))
    }

    fn boot(&mut self, line: &JournalLine) -> Result<(), String> {
        let JournalEntry::Boot { version, priority, settings, ledger } = &line.entry else {
            return Ok(());
        };
        let candidate = Candidate::new(line.host.clone(), version.clone(), *priority);
        let executor = match ledger {
            None => Executor::new(*settings, version.clone()),
            Some(ledger) => {
                Executor::recover(*settings, version.clone(), ledger.clone()).map_err(|error| {
                    format!("{} boots from a book that is none: {error}", line.host)
                })?
            }
        };
        self.host = Some(Host::new(candidate, executor));
        Ok(())
    }

    /// Takes what the host orders, and sees that it is where the line says.
    fn settle(&mut self, place: &Place, line: &JournalLine) -> Result<(), Finding> {
        let Some(host) = &mut self.host else { return Ok(()) };
        while let Some(effect) = host.poll_effect() {
            if let Effect::Alarm(alarm) = &effect {
                let why = format!("{} raised {alarm:?}", line.host);
                return Err(Finding::new(Breach::Property(Property::NoAlarm), place, why));
            }
            self.handed_out.push(effect);
        }
        let revision = host.candidate().view().map_or(Revision(0), |view| view.revision);
        let (id, seq) = (host.id(), host.candidate().seq());
        if (id, seq, revision) == (&line.host, line.seq, line.revision) {
            return Ok(());
        }
        let why = format!(
            "the line says {} at seq {} and {}, and the core {id} at seq {seq} and {revision}",
            line.host, line.seq, line.revision
        );
        Err(Finding::new(Breach::Replay, place, why))
    }
}

/// Is what a driver says for its host what the host says?
fn said(host: &Host, inputs: &[Input]) -> Result<(), String> {
    let present = host.candidate().seq();
    for input in inputs {
        let Input::Statement(statement) = input else { continue };
        // Between the fold and the line another thread may have moved the host on.
        if statement.host != *host.id() || statement.seq < present {
            continue;
        }
        let says = host.statement();
        if says.as_ref() != Some(statement) {
            let says = says.map_or_else(|| "nothing".to_owned(), |says| says.to_string());
            return Err(format!("{statement} is folded for {}, which says {says}", host.id()));
        }
    }
    Ok(())
}

impl Truth {
    fn note(&mut self, host: &Host, input: &HostInput) {
        match input {
            HostInput::Plan { grant, plan } => drop(self.plans.insert(*grant, plan.clone())),
            HostInput::SignOff { grant, chunk, sign_off } => {
                let signed_off = self.signed_off.entry(*grant).or_default();
                match sign_off {
                    SignOff::Clean => signed_off.insert(chunk.clone()),
                    SignOff::Failed(_) => signed_off.remove(chunk),
                };
            }
            HostInput::BuildEnd { work: work @ Work::Granted(grant), end }
                if host.executor().is_running(work) =>
            {
                self.end(host, *grant, *end == End::Succeeded);
            }
            HostInput::BuildEnd { .. }
            | HostInput::BuildStop { .. }
            | HostInput::Ask
            | HostInput::Watch
            | HostInput::StandDown
            | HostInput::StandDownAfter
            | HostInput::Submit { .. }
            | HostInput::Cancel { .. }
            | HostInput::Drain(_)
            | HostInput::Undrain
            | HostInput::Deadline
            | HostInput::Interrupt
            | HostInput::View(_)
            | HostInput::Unreadable(_)
            | HostInput::NoPlan { .. }
            | HostInput::ComeBack { .. } => {}
        }
    }

    fn end(&mut self, host: &Host, grant: GrantId, clean: bool) {
        let plan = self.plans.get(&grant).cloned().unwrap_or_default();
        let signed_off = self.signed_off.get(&grant).cloned().unwrap_or_default();
        let end = RealEnd { host: host.id().clone(), clean, plan, signed_off };
        self.ended.entry(grant).or_insert(end);
    }
}
