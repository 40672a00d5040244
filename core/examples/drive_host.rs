//! A host driven by hand, with all of the driver's part (Dr1 to Dr5). Before it stands `a`, which
//! lives, never answers, and then ends without a word.
//!
//! `cargo run -p handover-core --example drive_host`

use handover_core::{
    Acknowledgement, Candidate, Effect, End, Executor, ExecutorEffect, Host, HostId, Incarnation,
    Input, Priority, Record, RecordId, Settings, SignOff, Work,
};
use std::collections::BTreeSet;

fn arbiter(record: &mut Record, input: Input) {
    match record.fold(&input, &BTreeSet::new()) {
        // With a store: compare-and-set first, and apply only what is known to be committed.
        Ok(change) => record.apply(&change).expect("folded on this record"),
        Err(refusal) => println!("   refused: {refusal}"),
    }
    let hold = record.hold().map(ToString::to_string);
    println!("   held by: {}", hold.as_deref().unwrap_or("nobody"));
}

/// Carries out one order and says how it went (Dr3). `boots` is durable in real life.
fn carry_out(host: &mut Host, boots: &mut Incarnation, effect: &Effect) {
    println!("{}  {effect:?}", host.id());
    match effect {
        Effect::MakePlan { grant } => drop(host.handle_plan(*grant, ["assets".into()].into())),
        Effect::Return { above } => {
            *boots = (*boots).max(*above).next(); // Dr4: written before it is used
            host.come_back(*boots).expect("the number is new");
        }
        Effect::Alarm(alarm) => eprintln!("somebody should look at this: {alarm:?}"),
        Effect::Executor(order) => {
            host.acknowledge(effect, Acknowledgement::Done);
            let ExecutorEffect::Start { work } = order else {
                return;
            };
            let Work::Granted(grant) = work else { return };
            // Real work runs elsewhere, and says this when it is done.
            drop(host.handle_sign_off(*grant, "assets".into(), SignOff::Clean));
            let ended = host.handle_build_end(work, End::Succeeded);
            ended.expect("it was started in this step");
        }
    }
}

fn main() {
    let mut record = Record::new(RecordId(1));
    let mut a = Candidate::new(HostId::new("a", 1), "v1".into(), Priority(0));
    a.ask();
    arbiter(&mut record, Input::Statement(a.statement().expect("it asks")));
    let mut boots = Incarnation(1);
    let b = Candidate::new(HostId::new("b", boots.0), "v1".into(), Priority(0));
    let mut host = Host::new(b, Executor::new(Settings::new(1, false), "v1".into()));
    host.ask();
    for round in 0..12 {
        // Dr1: the present word and the newest view, again and again. Here every other word is
        // lost, and nothing comes of that.
        if let (Some(word), true) = (host.unacknowledged(), round % 2 == 0) {
            println!("{}  says {word}", host.id());
            arbiter(&mut record, Input::Statement(word));
        }
        drop(host.handle_view(record.view_for(host.id(), host.version())));
        while let Some(effect) = host.poll_effect() {
            carry_out(&mut host, &mut boots, &effect);
        }
        // Dr5: long enough for an offer. Dr2: the supervisor has reaped that process.
        if let (4, Some(grant)) = (round, record.hold().map(|hold| hold.grant)) {
            arbiter(&mut record, Input::Lapse { grant });
        } else if round == 6 {
            arbiter(&mut record, Input::Gone(a.host().clone()));
        }
    }
    println!("{}  gate {}", host.id(), host.gate());
    assert!(host.gate().is_open() && host.candidate().is_acknowledged());
}
