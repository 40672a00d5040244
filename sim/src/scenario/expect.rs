//! `expect`: is this so, and if not, what is?

use handover_core::{
    self as protocol, BuildId, Gate as RealGate, GrantId, HostId, Phase, Ruling, Standing, Waiter,
    Work as RealWork,
};

use super::events::find;
use super::{
    BuildState, EndAction, Fact as Expected, Gate, HoldFact, HostRef, HostState, Keyword as _,
    Standing as StandingWord, VerdictState,
};
use crate::world::{Fact, Life, Process, World};

/// Ok if the fact is so; otherwise what was found instead.
pub(super) fn found(world: &World, last: &[Fact], expected: &Expected) -> Result<(), String> {
    match expected {
        Expected::Hold(hold) => is_hold(world, hold),
        Expected::Gate { host, gate } => {
            let found = process(world, host)?.host.gate();
            same(gate_word(&found) == *gate, || format!("the gate is {found}"))
        }
        Expected::Verdict { version, verdict } => {
            let found = world.committed().verdict(&version.as_str().into());
            let state = match found.map(|found| &found.ruling) {
                None => VerdictState::None,
                Some(Ruling::Approved) => VerdictState::Approved,
                Some(Ruling::Failed(_)) => VerdictState::Failed,
            };
            same(state == *verdict, || {
                found.map_or_else(|| "there is no verdict".into(), ToString::to_string)
            })
        }
        Expected::Line { host, standing } => {
            let id = process(world, host)?.host.id();
            let found = world.committed().line(id).map(|line| &line.standing);
            same(found.map(standing_word) == *standing, || {
                found.map_or_else(|| "there is no line".into(), ToString::to_string)
            })
        }
        Expected::Host { host, state } => {
            let process = process(world, host)?;
            same(is_state(process, *state), || match process.life {
                Life::Up | Life::Paused => format!("it is {}", process.phase()),
                Life::Crashed => "it has crashed".into(),
                Life::Exited => "it has ended".into(),
            })
        }
        Expected::Said { host, standing, grant } => {
            let found = process(world, host)?.host.statement();
            let is = found.as_ref().is_some_and(|found| {
                standing_word(&found.standing) == *standing
                    && grant.is_none_or(|grant| found.standing.grant() == Some(GrantId(grant.0)))
            });
            same(is, || found.map_or_else(|| "it has said nothing".into(), |s| s.to_string()))
        }
        Expected::Refused { refusal } => was_refused(last, refusal.word()),
        Expected::Answered { remark } => was_answered(last, &remark.to_string()),
        Expected::Building { host, yes } => {
            let builds = process(world, host)?.builds.keys().any(RealWork::is_granted);
            same(builds == *yes, || {
                if builds { "a build runs".into() } else { "no build runs".into() }
            })
        }
        Expected::Builders { count } => {
            let builds = |process: &Process| process.builds.keys().any(RealWork::is_granted);
            let builders = world.processes().filter(|(_, process)| builds(process));
            let found: Vec<String> = builders.map(|(who, _)| world.label(who)).collect();
            same(found.len() == *count as usize, || match found.as_slice() {
                [] => "nobody builds".into(),
                [one] => format!("1 builds: {one}"),
                [..] => format!("{} build: {}", found.len(), found.join(", ")),
            })
        }
        Expected::Offers { count } => {
            let found = world.committed().next_grant().0 - 1;
            same(found == u64::from(*count), || format!("{found} grants were given"))
        }
        Expected::Converged => {
            let stuck = world.stuck();
            same(stuck.is_empty(), || join(stuck.into_iter().map(|stuck| stuck.0)))
        }
        Expected::Stuck => same(!world.is_converged(), || "it has converged".into()),
        Expected::Build { .. }
        | Expected::Workspace { .. }
        | Expected::Draining { .. }
        | Expected::Drained { .. }
        | Expected::FreeSlots { .. }
        | Expected::Queue { .. } => is_in_executor(world, expected),
    }
}

fn is_in_executor(world: &World, expected: &Expected) -> Result<(), String> {
    match expected {
        Expected::Build { host, build, state, attempts } => {
            let process = process(world, host)?;
            is_build(process, build, *state, *attempts)
        }
        Expected::Workspace { host, build, yes } => {
            let work = RealWork::Local(build.as_str().into());
            let prepared = process(world, host)?.workspaces.contains(&work);
            same(prepared == *yes, || {
                if prepared { "a workspace was prepared" } else { "none was prepared" }.into()
            })
        }
        Expected::Draining { host, yes, then } => {
            let drain = process(world, host)?.host.executor().active_drain();
            let is = drain.is_some() == *yes
                && then.is_none_or(|then| drain.is_some_and(|drain| end_word(drain.end) == then));
            same(is, || {
                drain.map_or_else(
                    || "no drain is in force".into(),
                    |drain| {
                        format!("the drain {} is in force, then {}", drain.id, end_word(drain.end))
                    },
                )
            })
        }
        Expected::Drained { host, yes } => {
            let drained = process(world, host)?.host.is_drained();
            same(drained == *yes, || {
                if drained { "it is drained" } else { "it is not drained" }.into()
            })
        }
        Expected::FreeSlots { host, count } => {
            let found = process(world, host)?.host.executor().slots_free();
            same(found == *count, || format!("{found} are free"))
        }
        Expected::Queue { host, builds } => {
            let queue = process(world, host)?.host.executor().queue();
            let waiting = queue.into_iter().filter_map(|queued| match queued.waiter {
                Waiter::Build(build) => Some(build.to_string()),
                Waiter::Candidate => None,
            });
            let found: Vec<String> = waiting.collect();
            same(found == *builds, || format!("in the queue: {}", join(found.iter().cloned())))
        }
        Expected::Hold(_)
        | Expected::Gate { .. }
        | Expected::Verdict { .. }
        | Expected::Line { .. }
        | Expected::Host { .. }
        | Expected::Said { .. }
        | Expected::Refused { .. }
        | Expected::Answered { .. }
        | Expected::Building { .. }
        | Expected::Builders { .. }
        | Expected::Offers { .. }
        | Expected::Converged
        | Expected::Stuck => Err("it is not about an executor".into()),
    }
}

fn is_hold(world: &World, expected: &HoldFact) -> Result<(), String> {
    let hold = world.committed().hold();
    let is = |host: &HostRef, grant: u64| {
        hold.is_some_and(|hold| {
            hold.grant == GrantId(grant)
                && find(world, host).is_ok_and(|who| *world.process(who).host.id() == hold.host)
                || is_past(host, hold.grant, grant, &hold.host)
        })
    };
    let holds = match expected {
        HoldFact::None => hold.is_none(),
        HoldFact::Offered { host, grant } => {
            hold.is_some_and(|hold| !hold.is_started()) && is(host, grant.0)
        }
        HoldFact::Started { host, grant, cancelling } => {
            hold.is_some_and(|hold| hold.is_started() && hold.is_cancelling() == *cancelling)
                && is(host, grant.0)
        }
    };
    same(holds, || hold.map_or_else(|| "nobody holds".into(), |hold| world.hold_label(hold)))
}

/// A hold of an identity that its process has given up since.
fn is_past(host: &HostRef, found: GrantId, grant: u64, holder: &HostId) -> bool {
    found == GrantId(grant)
        && holder.name.as_str() == host.name
        && host.incarnation == Some(holder.incarnation.0)
}

fn is_state(process: &Process, state: HostState) -> bool {
    let lives = process.lives();
    let phase = process.phase();
    match state {
        HostState::Idle => lives && phase == Phase::Idle,
        HostState::Asking => lives && phase == Phase::Asking,
        HostState::Planning => lives && matches!(phase, Phase::Planning { .. }),
        HostState::Accepted => lives && matches!(phase, Phase::Accepted { .. }),
        HostState::Building => lives && matches!(phase, Phase::Building { .. }),
        HostState::Cancelling => lives && matches!(phase, Phase::Cancelling { .. }),
        HostState::Finished => lives && matches!(phase, Phase::Finished { .. }),
        HostState::StoodDown => lives && phase == Phase::StoodDown && !process.host.is_queued(),
        HostState::Gone => lives && matches!(phase, Phase::Expelled { .. }),
        HostState::Crashed => process.life == Life::Crashed,
        HostState::Waiting => lives && process.host.is_queued(),
    }
}

fn is_build(
    process: &Process,
    build: &str,
    state: BuildState,
    attempts: Option<u32>,
) -> Result<(), String> {
    let work = RealWork::Local(BuildId::from(build));
    let executor = process.host.executor();
    let entry =
        if process.lives() { executor.entry(&work) } else { process.ledger.entries.get(&work) };
    let found = match entry.map(|entry| &entry.state) {
        None => BuildState::None,
        Some(protocol::BuildState::Pending) => BuildState::Pending,
        Some(protocol::BuildState::Admitted) => BuildState::Admitted,
        Some(protocol::BuildState::Succeeded) => BuildState::Succeeded,
        Some(protocol::BuildState::Failed(_)) => BuildState::Failed,
        Some(protocol::BuildState::Cancelled) => BuildState::Cancelled,
    };
    let made = entry.map_or(0, |entry| entry.attempts);
    same(found == state && attempts.is_none_or(|wanted| wanted == made), || {
        if found == BuildState::None {
            return "the ledger does not know it".into();
        }
        let attempts = if made == 1 { "attempt" } else { "attempts" };
        format!("it is {found} after {made} {attempts}")
    })
}

fn was_refused(last: &[Fact], wanted: &str) -> Result<(), String> {
    let refusals: Vec<&str> = last.iter().filter_map(Fact::refusal).collect();
    same(refusals.contains(&wanted), || {
        if refusals.is_empty() {
            "nothing was refused".into()
        } else {
            format!("refused: {}", refusals.join(", "))
        }
    })
}

fn was_answered(last: &[Fact], wanted: &str) -> Result<(), String> {
    let remarks: Vec<&str> = last.iter().filter_map(Fact::remark).collect();
    same(remarks.contains(&wanted), || {
        if remarks.is_empty() {
            "there was no remark".into()
        } else {
            format!("answered: {}", remarks.join(", "))
        }
    })
}

fn process<'a>(world: &'a World, host: &HostRef) -> Result<&'a Process, String> {
    find(world, host).map(|who| world.process(who)).map_err(|error| error.to_string())
}

fn same(holds: bool, found: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(found()) }
}

fn join(words: impl IntoIterator<Item = String>) -> String {
    let words: Vec<String> = words.into_iter().collect();
    if words.is_empty() { "none".into() } else { words.join("; ") }
}

fn gate_word(gate: &RealGate) -> Gate {
    match gate {
        RealGate::Open => Gate::Open,
        RealGate::Waiting { .. } => Gate::Waiting,
        RealGate::Blocked { .. } => Gate::Blocked,
        RealGate::Unknown { .. } => Gate::Unknown,
    }
}

fn standing_word(standing: &Standing) -> StandingWord {
    match standing {
        Standing::Asking { .. } => StandingWord::Asking,
        Standing::Accepted { .. } => StandingWord::Accepted,
        Standing::Building { .. } => StandingWord::Building,
        Standing::Finished { .. } => StandingWord::Finished,
        Standing::StoodDown => StandingWord::StoodDown,
    }
}

fn end_word(end: protocol::EndAction) -> EndAction {
    match end {
        protocol::EndAction::Nothing => EndAction::Nothing,
        protocol::EndAction::Restart => EndAction::Restart,
        protocol::EndAction::Stop => EndAction::Stop,
    }
}
