//! All processes of a record beside one another, and the record between them.

use std::collections::BTreeSet;
use std::ops::Bound;

use handover_core::journal::{JournalEntry, JournalLine};
use handover_core::{GrantId, Host, HostId, Input, Phase, Record, RecordError, RecordId, Revision};

use super::fold::{Proposed, refold};
use super::index::Group;
use super::line::{JournalError, Place, Spot};
use super::player::{Moved, Player, Truth};
use super::reading::Reading;
use super::stream::{Next, Stream};
use super::tape::{Committed, Stand, Tape, Told};
use super::{Breach, Finding, Judged, Verdict};
use crate::check::{Around, Property, Violation, judge_report};
use crate::world::RealEnd;

/// The journals of one record, as far as they are judged.
#[derive(Clone)]
pub(super) struct Merge {
    id: Option<RecordId>,
    pub(super) group: Group,
    pub(super) players: Vec<Player>,
    scene: Scene,
    /// None where it is not known what it was.
    record: Option<Record>,
    pub(super) findings: Vec<Finding>,
    pub(super) missing: Vec<String>,
    commits: u64,
    /// What was played, where somebody wants to play it again.
    tape: Option<Tape>,
    /// How often it may still be gone two ways.
    pub(super) forks_left: u32,
}

/// What really happened, as far as the journals tell.
#[derive(Clone, Debug, Default)]
struct Scene {
    truth: Truth,
    revoked: BTreeSet<GrantId>,
    /// What was before is not known: its grants count as revoked.
    known_from: GrantId,
}

impl Merge {
    pub(super) fn new(id: Option<RecordId>, mut group: Group) -> Self {
        let processes = std::mem::take(&mut group.processes);
        let streams = processes.into_iter().map(|(boot, extents)| Stream::new(boot, extents));
        let players = streams.map(Player::new);
        Self {
            id,
            players: players.collect(),
            group,
            scene: Scene::default(),
            record: None,
            findings: Vec::new(),
            missing: Vec::new(),
            commits: 0,
            tape: None,
            forks_left: FORKS_MAX,
        }
    }

    pub(super) fn judge(mut self) -> Result<Judged, JournalError> {
        self.merge()?;
        Ok(self.judged())
    }

    /// The same, and all that was played, in its order.
    pub(super) fn tape(mut self) -> Result<(Judged, Tape), JournalError> {
        self.tape = Some(Tape::default());
        self.merge()?;
        let tape = self.tape.take().unwrap_or_default().finish();
        Ok((self.judged(), tape))
    }

    fn merge(&mut self) -> Result<(), JournalError> {
        match self.group.loads.first_key_value().map(|(at, spot)| (*at, spot.clone())) {
            Some((at, spot)) => self.resume(Revision(0), at, &spot)?,
            None => self.missing.push("no line has the record as a process has loaded it".into()),
        }
        self.go_on()
    }

    pub(super) fn go_on(&mut self) -> Result<(), JournalError> {
        while !self.is_decided() {
            for at in 0..self.players.len() {
                self.advance(at)?;
            }
            if self.is_decided() || !self.commit_next()? {
                break;
            }
        }
        Ok(())
    }

    fn judged(self) -> Judged {
        let verdict = match (self.findings.is_empty(), self.missing.is_empty()) {
            (false, _) => Verdict::Broken,
            (true, false) => Verdict::Unknown,
            (true, true) => Verdict::Holds,
        };
        Judged {
            record: self.id,
            verdict,
            findings: self.findings,
            missing: self.missing,
            processes: self.players.len(),
            commits: self.commits,
        }
    }

    /// After a property is broken nothing tells any more what should be.
    fn is_decided(&self) -> bool {
        let is_property = |finding: &Finding| matches!(finding.breach, Breach::Property(_));
        self.findings.iter().any(is_property)
    }

    pub(super) fn find(&mut self, finding: Finding) {
        // One cause has many consequences, and the first tells most.
        let known = self.findings.iter().any(|known| known.breach == finding.breach);
        if !known && !self.is_decided() {
            self.findings.push(finding);
            if let Some(tape) = &mut self.tape {
                tape.stop();
            }
        }
    }

    pub(super) fn break_property(&mut self, violation: Violation, place: &Place) {
        let Violation { property, why } = violation;
        self.find(Finding::new(Breach::Property(property), place, why));
    }

    /// Takes the record up as it was loaded, from where it is not known on.
    fn resume(&mut self, from: Revision, at: Revision, spot: &Spot) -> Result<(), JournalError> {
        let (place, line) = spot.read()?;
        let JournalEntry::Loaded(parts) = line.entry else {
            return Err(JournalError::Changed { place });
        };
        match Record::from_parts(*parts) {
            Ok(record) => {
                if at > from {
                    self.missing.push(format!(
                        "no journal that is given has the changes from {from} to {at}"
                    ));
                    self.scene.known_from = record.next_grant();
                }
                if let Some(tape) = &mut self.tape {
                    tape.begin(&record);
                }
                self.record = Some(record);
            }
            Err(RecordError::NewerFormat { found }) => {
                return Err(JournalError::NewerRecord { place, found });
            }
            Err(error) => {
                let why = format!("{} has loaded a record that is none: {error}", line.host);
                self.find(Finding::new(Breach::Replay, &place, why));
                self.record = None;
            }
        }
        Ok(())
    }

    /// Plays the lines of a process up to where it knows more than the record is.
    fn advance(&mut self, at: usize) -> Result<(), JournalError> {
        while !self.players[at].is_over && !self.is_decided() {
            let player = &mut self.players[at];
            let next = match player.waiting.take() {
                Some((place, line)) => Next::Line(place, line),
                None => player.stream.next()?,
            };
            match next {
                Next::Line(place, line) if self.is_ahead(at, &line) => {
                    self.players[at].waiting = Some((place, line));
                    return Ok(());
                }
                Next::Line(place, line) => self.play(at, &place, &line),
                Next::Gap(first, last) => {
                    let boot = self.players[at].stream.boot();
                    let why = format!("lines {first} to {last} of {boot} are in no file");
                    self.missing.push(why);
                    self.players[at].lose();
                }
                Next::Differs(one, other, [None, None]) => {
                    // They may be hosts of two records, which have one name by chance.
                    let boot = self.players[at].stream.boot();
                    let why =
                        format!("two processes are {boot}, and of which record: {one}, {other}");
                    self.missing.push(why);
                    self.players[at].lose();
                }
                Next::Differs(one, other, _) => {
                    let why = format!("two processes have one identity: not as at {one}");
                    self.find(Finding::new(Breach::Replay, &other, why));
                    self.players[at].lose();
                }
                Next::End => self.players[at].is_over = true,
            }
        }
        Ok(())
    }

    fn is_ahead(&self, at: usize, line: &JournalLine) -> bool {
        let is_told = line.record == self.id && !self.players[at].is_lost;
        let record = self.record.as_ref().filter(|_| is_told);
        record.zip(shown(&line.entry)).is_some_and(|(record, shown)| shown > record.revision())
    }

    fn play(&mut self, at: usize, place: &Place, line: &JournalLine) {
        let is_ours = line.record == self.id;
        self.players[at].is_ours = is_ours;
        if line.record.is_some() && !is_ours {
            if let Some(tape) = &mut self.tape {
                tape.foreign.get_or_insert_with(|| place.clone());
            }
            // What is wrong with it is said where the record is judged that it follows.
            if self.players[at].play(place, line, &mut self.scene.truth).is_err() {
                self.players[at].lose();
            }
            return;
        }
        if let JournalEntry::Lost { lines } = &line.entry {
            let why = format!("{lines} lines of {} were lost with their disk: {place}", line.host);
            self.missing.push(why);
        }
        if let JournalEntry::Refused { refusal, input, .. } = &line.entry
            && refusal.is_alarm()
        {
            let why = format!("{input:?} was refused: {refusal}");
            self.break_property(Violation::new(Property::NoAlarm, why), place);
        }
        let moved = match self.players[at].play(place, line, &mut self.scene.truth) {
            Ok(moved) => moved,
            Err(finding) => {
                self.find(finding);
                if let Err(violation) = self.judge_host(at, line, None) {
                    self.break_property(violation, place);
                }
                self.players[at].lose();
                return;
            }
        };
        self.record_line(at, place, line);
        if let Err(violation) = self.judge_host(at, line, moved) {
            self.break_property(violation, place);
        } else if let Some(why) = self.unlike(at, line) {
            self.find(Finding::new(Breach::Replay, place, why));
        }
    }

    fn record_line(&mut self, process: usize, place: &Place, line: &JournalLine) {
        let Some(tape) = &mut self.tape else { return };
        let stand = self.players[process].host.as_ref().map(Stand::of);
        let (place, line, reads) = (place.clone(), line.clone(), shown(&line.entry));
        tape.line(Told { process, place, line, stand }, reads);
    }

    /// Judges what a line has made of a host by the record that it has read.
    fn judge_host(
        &self,
        at: usize,
        line: &JournalLine,
        moved: Option<Moved>,
    ) -> Result<(), Violation> {
        let Some((record, host)) = self.record.as_ref().zip(self.players[at].host.as_ref()) else {
            return Ok(());
        };
        let around = Surroundings { players: &self.players, scene: &self.scene };
        let (id, is_newest) = (host.id(), line.revision == record.revision());
        if is_newest && host.gate().is_open() {
            let verdict = record.verdict(host.version());
            if !verdict.is_some_and(handover_core::Verdict::is_approved) {
                let version = host.version();
                let why = format!("the gate of {id} is open, and {version} is not approved");
                return Err(Violation::new(Property::GateTruth, why));
            }
        }
        let Some(Moved { from, to }) = moved.filter(|moved| moved.from != moved.to) else {
            return Ok(());
        };
        if let Phase::Finished { grant } = from
            && !matches!(to, Phase::Expelled { .. })
            && !record.is_gone(id)
        {
            judge_report(&around, record, host, grant)?;
        }
        match to {
            Phase::Building { grant } if is_newest => self.judge_start(at, id, grant, record),
            Phase::Building { .. }
            | Phase::Idle
            | Phase::Asking
            | Phase::Planning { .. }
            | Phase::Accepted { .. }
            | Phase::Cancelling { .. }
            | Phase::Finished { .. }
            | Phase::StoodDown
            | Phase::Expelled { .. } => Ok(()),
        }
    }

    /// Who begins to build holds, and nobody else builds.
    fn judge_start(
        &self,
        at: usize,
        id: &HostId,
        grant: GrantId,
        record: &Record,
    ) -> Result<(), Violation> {
        let broken = |why| Err(Violation::new(Property::SingleBuilder, why));
        if !record.hold().is_some_and(|hold| hold.grant == grant && hold.host == *id) {
            let held = record.hold().map_or_else(|| "no hold".to_owned(), ToString::to_string);
            return broken(format!("{id} builds under {grant}, and the record says {held}"));
        }
        let others = self.players.iter().enumerate().filter(|(other, _)| *other != at);
        for (_, player) in others {
            let Some((host, running)) = player.host.as_ref().zip(player.running()) else {
                continue;
            };
            if !self.scene.is_revoked(running) && !record.is_gone(host.id()) {
                let other = host.id();
                return broken(format!(
                    "{id} builds under {grant} and {other} builds under {running}"
                ));
            }
        }
        Ok(())
    }

    /// Where a process has read something else than the record is.
    fn unlike(&self, at: usize, line: &JournalLine) -> Option<String> {
        let record = self.record.as_ref()?;
        let version = self.players[at].host.as_ref().map(Host::version);
        let reading = Reading::of(&line.entry)?;
        if reading.is_of(record, version)? {
            return None;
        }
        Some(match reading {
            Reading::Whole(_) => format!("{} has loaded another record", line.host),
            Reading::View(view) => {
                let revision = view.revision;
                format!("{} has read a view that is not of {revision}", line.host)
            }
        })
    }

    /// Moves the record on by one change; false where there is none.
    fn commit_next(&mut self) -> Result<bool, JournalError> {
        let Some(record) = self.record.take() else { return Ok(false) };
        let candidates = self.choose(&record)?;
        match candidates.as_slice() {
            [] => return self.skip(record),
            [(place, line)] => self.commit(&record, place, line)?,
            _ => self.try_each(record, &candidates)?,
        }
        Ok(true)
    }

    /// Goes on behind changes that are missing; false where nothing comes behind them.
    pub(super) fn skip(&mut self, record: Record) -> Result<bool, JournalError> {
        let at = record.revision();
        let later = (Bound::Excluded(at), Bound::Unbounded);
        let Some(known) = self.group.known.range(later).next_back().copied() else {
            self.record = Some(record);
            return Ok(false);
        };
        let load = self.group.loads.range(later).next();
        match load.map(|(at, spot)| (*at, spot.clone())) {
            Some((to, spot)) => self.resume(at, to, &spot)?,
            None => self.missing.push(format!(
                "no journal that is given has all changes from {at} to {known}; what comes \
                 after {at} is judged without the record"
            )),
        }
        Ok(true)
    }

    /// Moves the record on by this change.
    pub(super) fn commit(
        &mut self,
        record: &Record,
        place: &Place,
        line: &JournalLine,
    ) -> Result<(), JournalError> {
        let JournalEntry::Proposed { change, inputs, suspects, .. } = &line.entry else {
            return Err(JournalError::Changed { place: place.clone() });
        };
        let revoked = inputs.iter().filter_map(|input| match input {
            Input::Revoke { grant, .. } => Some(*grant),
            Input::Statement(_)
            | Input::Gone(_)
            | Input::Retry { .. }
            | Input::Lapse { .. }
            | Input::Cancel { .. } => None,
        });
        self.scene.revoked.extend(revoked);
        let proposed = Proposed { change, inputs, suspects };
        let around = Surroundings { players: &self.players, scene: &self.scene };
        let (after, findings) = refold(record, &proposed, &around, place);
        self.commits += 1;
        if let Some((tape, after)) =
            self.tape.as_mut().zip(after.as_ref().filter(|_| findings.is_empty()))
        {
            let (inputs, suspects) = (inputs.clone(), suspects.clone());
            tape.commit(Committed { place: place.clone(), inputs, suspects }, after);
        }
        for finding in findings {
            self.find(finding);
        }
        let approved = change.verdicts.iter().filter_map(|(version, verdict)| {
            Some((version, verdict.as_ref().filter(|verdict| verdict.is_approved())?))
        });
        for (version, verdict) in approved {
            if !self.players.iter().any(|player| player.sees(&verdict.host)) {
                let (host, grant) = (&verdict.host, verdict.grant);
                let why =
                    format!("no whole journal of {host} tells how it built {version} ({grant})");
                self.missing.push(why);
            }
        }
        self.record = after;
        Ok(())
    }
}

pub(super) fn change(line: &JournalLine) -> Option<&handover_core::Change> {
    match &line.entry {
        JournalEntry::Proposed { change, .. } => Some(change),
        JournalEntry::Boot { .. }
        | JournalEntry::Input(_)
        | JournalEntry::Acknowledged { .. }
        | JournalEntry::Loaded(_)
        | JournalEntry::Answered { .. }
        | JournalEntry::Refused { .. }
        | JournalEntry::Lost { .. }
        | JournalEntry::Ended => None,
    }
}

/// More would be tried for too long.
const FORKS_MAX: u32 = 4;

/// The revision that a process reads in this line.
fn shown(entry: &JournalEntry) -> Option<Revision> {
    Reading::of(entry).map(|reading| reading.revision())
}

/// What a commit is judged by.
struct Surroundings<'a> {
    players: &'a [Player],
    scene: &'a Scene,
}

impl Scene {
    fn is_revoked(&self, grant: GrantId) -> bool {
        grant < self.known_from || self.revoked.contains(&grant)
    }
}

impl Around for Surroundings<'_> {
    fn host_label(&self, host: &HostId) -> String {
        host.to_string()
    }

    fn is_revoked(&self, grant: GrantId) -> bool {
        self.scene.is_revoked(grant)
    }

    fn is_seen(&self, host: &HostId) -> bool {
        self.players.iter().any(|player| player.sees(host))
    }

    fn real_end(&self, grant: GrantId) -> Option<&RealEnd> {
        self.scene.truth.ended.get(&grant)
    }

    fn living_phase(&self, host: &HostId) -> Option<Phase> {
        let mut hosts = self.players.iter().filter(|player| !player.is_over);
        let host = hosts.find_map(|player| player.host.as_ref().filter(|it| it.id() == host))?;
        Some(host.candidate().phase())
    }
}
