//! Events in words of the domain.

use handover_core::{GrantId, Hold, Standing, Verdict, View, Work};

use super::deed::Kind;
use crate::world::{
    ArbiterIndex, Direction, Event, Process, Step, StepKind, Target, Who, Wire, World,
};

/// What happens with an event, as a clause: "its offer g1 reaches b".
pub(super) fn clause(world: &World, event: &Event) -> String {
    let name = |who: &Who| world.label(*who);
    match event {
        Event::Ask(who) => format!("{} asks", name(who)),
        Event::Watch(who) => format!("{} begins to watch", name(who)),
        Event::StandDown { who, after: false } => format!("{} stands down", name(who)),
        Event::StandDown { who, after: true } => {
            format!("{} wants to stand down after its build", name(who))
        }
        Event::Reask(who) => format!("{} asks again", name(who)),
        Event::Deliver { from, to } => {
            format!("{} reaches the {}", oldest_word(world, *from), arbiter(*to))
        }
        Event::Publish(index) => {
            let revision = applied(world, *index);
            format!("the {} publishes {revision}", arbiter(*index))
        }
        Event::Read(who) => format!("{} reaches {}", oldest_news(world, *who, true), name(who)),
        Event::Repeat(wire) => repeat(world, *wire),
        Event::Plan { who, .. } => format!("{} takes its offer", name(who)),
        Event::Step { who, step } => own_step(&name(who), step),
        Event::SignOff { who, chunk, failed } => {
            let what = if *failed { "reports a failure of" } else { "signs off" };
            format!("{} {what} {chunk}", name(who))
        }
        Event::BuildEnds { who, work, failed } => {
            let how = if failed.is_some() { "fails" } else { "ends" };
            format!("build {work} on {} {how}", name(who))
        }
        Event::BuildStops { who, work } => format!("build {work} on {} stops", name(who)),
        Event::Submit { who, build, .. } => format!("build {build} is submitted to {}", name(who)),
        Event::CancelBuild { who, build } => format!("build {build} on {} is cancelled", name(who)),
        Event::Drain { who, .. } => format!("{} is drained", name(who)),
        Event::Undrain(who) => format!("the drain of {} is taken back", name(who)),
        Event::Interrupt(who) => format!("what runs on {} is interrupted", name(who)),
        Event::Deadline(who) => format!("the deadline of the drain of {} passes", name(who)),
        Event::Boot { name, .. } => format!("{name} boots"),
        Event::Heal => "all faults end".to_owned(),
        Event::Stall(_)
        | Event::Flow(_)
        | Event::Lose(_)
        | Event::Double(_)
        | Event::Overtake(_)
        | Event::Delay(_)
        | Event::Cut(_)
        | Event::Stale { .. }
        | Event::Slow { .. }
        | Event::Pause(_)
        | Event::Resume(_)
        | Event::Crash(_)
        | Event::Gone(_)
        | Event::Overlap { .. }
        | Event::Reuse(_)
        | Event::LoseDisk(_)
        | Event::Suspect(_)
        | Event::Trust(_)
        | Event::Hang(_)
        | Event::Unsigned { .. }
        | Event::ArbiterCrash(_)
        | Event::Conflict(_)
        | Event::UnknownCommit(_)
        | Event::Lapse(_)
        | Event::Cancel { .. }
        | Event::Revoke { .. }
        | Event::Retry { .. } => fault(world, event),
    }
}

fn fault(world: &World, event: &Event) -> String {
    let name = |who: &Who| world.label(*who);
    if let Event::Stall(target) = event {
        return format!("{} stall", what_flows(world, *target));
    }
    if let Event::Flow(target) = event {
        return format!("{} flow again", what_flows(world, *target));
    }
    if let Event::Lose(wire) = event {
        format!("{} is lost", oldest(world, *wire))
    } else if let Event::Double(wire) = event {
        format!("{} arrives twice", oldest(world, *wire))
    } else if let Event::Overtake(wire) = event {
        format!("the newest message {} overtakes {}", way(world, *wire), oldest(world, *wire))
    } else if let Event::Delay(wire) = event {
        format!("{} falls behind the next message", oldest(world, *wire))
    } else if let Event::Cut(who) = event {
        format!("the link of {} is cut", name(who))
    } else if let Event::Stale { who, behind } = event {
        match behind {
            0 => format!("{} reads up to date again", name(who)),
            1 => format!("{} reads 1 view behind", name(who)),
            _ => format!("{} reads {behind} views behind", name(who)),
        }
    } else if let Event::Slow { who, factor } = event {
        let pace = if *factor > 1 { "becomes slow" } else { "is as fast as before" };
        format!("{} {pace}", name(who))
    } else if let Event::Pause(who) = event {
        format!("{} pauses", name(who))
    } else if let Event::Resume(who) = event {
        format!("{} goes on", name(who))
    } else if let Event::Crash(who) = event {
        format!("{} crashes", name(who))
    } else if let Event::Gone(who) = event {
        match Kind::of(world, event) {
            Kind::Move => format!("the end of {} becomes known", name(who)),
            Kind::Wish | Kind::Fault | Kind::End => {
                format!("{} is declared gone while it lives", name(who))
            }
        }
    } else if let Event::Overlap { name, .. } = event {
        format!("the next {name} boots before the last has ended")
    } else if let Event::Reuse(who) = event {
        format!("a boot takes the number of {}", name(who))
    } else if let Event::LoseDisk(who) = event {
        format!("the disk of {} is lost", name(who))
    } else if let Event::Suspect(who) = event {
        format!("{} is suspected", name(who))
    } else if let Event::Trust(who) = event {
        format!("{} is trusted again", name(who))
    } else if let Event::Hang(who) = event {
        format!("the build on {} hangs", name(who))
    } else if let Event::Unsigned { who, chunk } = event {
        format!("{} will not sign off {chunk}", name(who))
    } else {
        order(event)
    }
}

/// What strikes the arbiter, and what an operator orders.
fn order(event: &Event) -> String {
    if let Event::ArbiterCrash(index) = event {
        format!("the {}'s arbiter crashes", arbiter(*index))
    } else if let Event::Conflict(index) = event {
        format!("the next commit of the {} loses the compare-and-set", arbiter(*index))
    } else if let Event::UnknownCommit(index) = event {
        format!("the answer to the next commit of the {} is lost", arbiter(*index))
    } else if let Event::Lapse(grant) = event {
        format!("{grant} lapses")
    } else if let Event::Cancel { grant, .. } = event {
        format!("an operator cancels {grant}")
    } else if let Event::Revoke { grant, .. } = event {
        format!("an operator revokes {grant}")
    } else if let Event::Retry { version, .. } = event {
        format!("an operator lets {version} be tried again")
    } else {
        unreachable!("{event:?} has words of its own")
    }
}

fn own_step(host: &str, step: &Step) -> String {
    let work = step.work.as_ref().map_or_else(|| "its candidate".to_owned(), Work::to_string);
    match step.kind {
        StepKind::Wake => format!("{work} wakes on {host}"),
        StepKind::StoreEntry => format!("{host} writes the ledger's row of {work}"),
        StepKind::Start => format!("{host} starts {work}"),
        StepKind::Stop => format!("{host} tells {work} to stop"),
        StepKind::StoreArtifacts => format!("{host} stores the artifacts of {work}"),
        StepKind::StoreDrain => format!("{host} writes down its drain"),
        StepKind::Remove => format!("{host} takes {work} out of what is in flight"),
        StepKind::Release => format!("{host} releases the slot of {work}"),
        StepKind::Drained => format!("{host} is drained"),
        StepKind::Return => format!("{host} comes back"),
    }
}

fn repeat(world: &World, wire: Wire) -> String {
    let name = world.label(wire.who);
    match wire.direction {
        Direction::ToRecord => format!("{name} says its word again"),
        Direction::FromRecord => format!("the news is sent to {name} again"),
    }
}

fn what_flows(world: &World, target: Target) -> String {
    match target {
        Target::Arbiter(index) => format!("publications of the {}", arbiter(index)),
        Target::Wire(Wire { who, direction: Direction::ToRecord }) => {
            format!("words of {}", world.label(who))
        }
        Target::Wire(Wire { who, direction: Direction::FromRecord }) => {
            format!("views to {}", world.label(who))
        }
    }
}

fn way(world: &World, wire: Wire) -> String {
    let name = world.label(wire.who);
    match wire.direction {
        Direction::ToRecord => format!("on its way from {name} to the record"),
        Direction::FromRecord => format!("on its way from the record to {name}"),
    }
}

fn oldest(world: &World, wire: Wire) -> String {
    match wire.direction {
        Direction::ToRecord => oldest_word(world, wire.who),
        Direction::FromRecord => {
            format!("{} to {}", oldest_news(world, wire.who, false), world.label(wire.who))
        }
    }
}

/// The oldest statement on its way: "the stand-down of b".
fn oldest_word(world: &World, who: Who) -> String {
    let name = world.label(who);
    let statement = world.link(who).statements.front();
    let word = statement.map_or("word", |statement| word_for(&statement.standing));
    format!("the {word} of {name}")
}

/// What a standing is called in a sentence.
pub(crate) fn word_for(standing: &Standing) -> &'static str {
    match standing {
        Standing::Asking { .. } => "request",
        Standing::Accepted { .. } => "acceptance",
        Standing::Building { .. } => "progress",
        Standing::Finished { .. } => "report",
        Standing::StoodDown => "stand-down",
    }
}

/// The oldest view on its way, by what it tells the host that the host does not know.
fn oldest_news(world: &World, who: Who, own: bool) -> String {
    let Some(view) = world.link(who).views.front() else {
        return "the news".to_owned();
    };
    let known = world.process(who).host.candidate().view();
    let article = if own { "its" } else { "the" };
    news(known, view, article)
}

fn news(known: Option<&View>, view: &View, article: &str) -> String {
    let knew = known.and_then(|known| known.verdict.as_ref());
    if view.gone && !known.is_some_and(|known| known.gone) {
        return "the news that it is gone".to_owned();
    }
    if let Some(verdict) = view.verdict.as_ref().filter(|verdict| knew != Some(verdict)) {
        let what = if Verdict::is_approved(verdict) { "approval" } else { "failure" };
        return format!("the {what} under {}", verdict.grant);
    }
    let had = known.and_then(|known| known.hold_of(&view.host));
    let has = view.hold_of(&view.host);
    match (had, has) {
        (_, Some(hold)) if had.map(stage) != Some(stage(hold)) => holding(had, hold, article),
        (Some(hold), None) => format!("the end of {}", hold.grant),
        (Some(_) | None, Some(_)) | (None, None) => format!("view {}", view.revision),
    }
}

fn stage(hold: &Hold) -> (GrantId, bool, bool) {
    (hold.grant, hold.is_started(), hold.is_cancelling())
}

fn holding(had: Option<&Hold>, hold: &Hold, article: &str) -> String {
    let grant = hold.grant;
    if hold.is_cancelling() && !had.is_some_and(Hold::is_cancelling) {
        format!("the cancel of {grant}")
    } else if hold.is_started() {
        format!("{article} start of {grant}")
    } else {
        format!("{article} offer {grant}")
    }
}

fn arbiter(index: ArbiterIndex) -> &'static str {
    if index.0 == 0 { "record" } else { "second record" }
}

fn applied(world: &World, index: ArbiterIndex) -> String {
    let arbiter = world.arbiters().find(|(other, _)| *other == index);
    arbiter.map_or_else(|| "what it has".to_owned(), |(_, it)| it.applied.revision().to_string())
}

/// What a view tells a process that it does not know, in few words; empty where it is nothing.
pub(crate) fn news_of(process: &Process, view: &View) -> String {
    let known = process.host.candidate().view();
    let knew = known.and_then(|known| known.verdict.as_ref());
    let verdict = view.verdict.as_ref().filter(|verdict| knew != Some(verdict));
    let (had, has) = (known.and_then(|known| known.hold_of(&view.host)), view.hold_of(&view.host));
    if view.gone && !known.is_some_and(|known| known.gone) {
        return "it is gone".to_owned();
    }
    if let Some(verdict) = verdict {
        let what = if verdict.is_approved() { "approval" } else { "failure" };
        return format!("{what} under {}", verdict.grant);
    }
    match (had, has) {
        (_, Some(hold)) if had.map(stage) != Some(stage(hold)) => {
            holding(had, hold, "").trim_start().to_owned()
        }
        (Some(hold), None) => format!("end of {}", hold.grant),
        (Some(_) | None, Some(_)) | (None, None) => String::new(),
    }
}

/// A fault, or the end of one, in words; none of another event.
pub(crate) fn fault_words(world: &World, event: &Event) -> Option<String> {
    match Kind::of(world, event) {
        Kind::Fault | Kind::End => Some(clause(world, event)),
        Kind::Move | Kind::Wish => None,
    }
}
