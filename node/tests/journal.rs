//! The journal is complete: what the machines of core make of it is what happened.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::World;
use common::faulty::FaultyStore;
use common::shop::{Running, Shop};
use handover_node::core::journal::{CommitAnswer, JournalEntry, JournalLine};
use handover_node::core::{
    Candidate, Executor, GrantId, Host, Input, Ledger, Record, RecordId, Refusal, Revision,
    Settings, SignOff,
};
use handover_node::{
    Build, BuildError, Builder, DrainWish, FileJournal, Journal, Liveness, MemoryLedger,
    MemoryStore, Options, OrderError,
};

/// A journal in memory, on a disk that can be lost.
#[derive(Clone, Default)]
struct Lines {
    lines: Arc<Mutex<Vec<String>>>,
    lost: Arc<Mutex<bool>>,
}

impl Journal for Lines {
    fn write(&mut self, line: &str) -> io::Result<()> {
        if *self.lost.lock().expect("no panic") {
            return Err(io::Error::other("no disk"));
        }
        self.lines.lock().expect("no panic").push(line.to_owned());
        Ok(())
    }
}

impl Lines {
    fn read(&self) -> Vec<JournalLine> {
        let lines = self.lines.lock().expect("no panic");
        let parsed = lines.iter().map(|line| serde_json::from_str(line));
        parsed.collect::<Result<_, _>>().expect("each line is one of a journal")
    }
}

fn signing() -> impl Builder {
    |build: Build| async move {
        build.sign_off("base", SignOff::Clean);
        Ok::<_, BuildError>(())
    }
}

fn hanging() -> impl Builder {
    |build: Build| async move {
        build.cancelled().await;
        Err(BuildError::Stopped)
    }
}

/// Replays a host, and sees after each line that it is where the line says.
fn replay_host(lines: &[JournalLine]) -> Host {
    let mut host: Option<Host> = None;
    for (number, line) in lines.iter().enumerate() {
        assert_eq!(line.number, number as u64, "no line is missing");
        match (&line.entry, &mut host) {
            (JournalEntry::Boot { version, priority, settings, ledger }, None) => {
                host = Some(booted(line, version, *priority, *settings, ledger.clone()));
            }
            (JournalEntry::Input(input), Some(host)) => drop(host.replay(input.clone())),
            (JournalEntry::Acknowledged { effect, outcome }, Some(host)) => {
                host.acknowledge(effect, *outcome);
            }
            (JournalEntry::Boot { .. }, Some(_)) | (_, None) => panic!("{line:?}"),
            _ => continue,
        }
        let host = host.as_mut().expect("the first line is its boot");
        while host.poll_effect().is_some() {}
        host.check();
        let revision = host.candidate().view().map_or(Revision(0), |view| view.revision);
        let replayed = (host.id(), host.candidate().seq(), revision);
        assert_eq!(replayed, (&line.host, line.seq, line.revision), "line {number}");
    }
    host.expect("it has a boot")
}

fn booted(
    line: &JournalLine,
    version: &handover_node::core::Version,
    priority: handover_node::core::Priority,
    settings: Settings,
    ledger: Option<Ledger>,
) -> Host {
    let candidate = Candidate::new(line.host.clone(), version.clone(), priority);
    let executor = match ledger {
        None => Executor::new(settings, version.clone()),
        Some(ledger) => Executor::recover(settings, version.clone(), ledger).expect("it was"),
    };
    Host::new(candidate, executor)
}

/// Replays the record from all journals: each committed change folds again from its inputs.
fn replay_record(mut record: Record, journals: &[Vec<JournalLine>]) -> Record {
    let mut committed = BTreeMap::new();
    for lines in journals {
        let mut proposals = BTreeMap::new();
        for line in lines {
            if let JournalEntry::Proposed { proposal, change, inputs, suspects } = &line.entry {
                assert!(!inputs.is_empty(), "a fold leaves nothing to settle");
                proposals.insert(proposal, (change, inputs, suspects));
            }
            if let JournalEntry::Answered { proposal, revision, answer } = &line.entry
                && *answer == CommitAnswer::Committed
            {
                let twice = committed.insert(*revision, proposals[proposal]);
                assert_eq!(twice, None, "{revision} was committed once");
            }
        }
    }
    for (revision, (change, inputs, suspects)) in committed {
        let answers = record.fold_all(inputs.iter(), suspects);
        assert_eq!(answers.change.as_ref(), Some(change), "{revision} folds from its inputs");
        record.apply(change).expect("they were committed in this order");
    }
    record
}

#[test]
fn a_journal_replays_to_the_hosts_and_to_the_record() {
    let mut kinds = BTreeMap::new();
    for seed in 0..100 {
        let mut world = World::new(seed);
        let store = FaultyStore::new(MemoryStore::new(RecordId(7)), seed);
        let shop = Shop::on(store);
        let journals = [Lines::default(), Lines::default(), Lines::default()];
        let options = |name: &str, at: usize| {
            let version = if at == 2 { "v2" } else { "v1" };
            let options = Options::new(name, version).rewatch(Duration::from_secs(2));
            options.slots(2).journal(journals[at].clone())
        };
        let a = shop.start(&mut world, options("a", 0), hanging());
        let ledger = Arc::new(MemoryLedger::new());
        let b = shop.start_with(&mut world, options("b", 1), signing(), ledger);
        let c = shop.start(&mut world, options("c", 2), signing());
        work(&mut world, &shop, &a, &b, &c);
        shop.store.set_faults(false);
        world.run_for(Duration::from_secs(120));

        let lines: Vec<_> = journals.iter().map(Lines::read).collect();
        for (lines, node) in lines.iter().zip([&a, &b, &c]) {
            assert_eq!(*replay_host(lines).id(), node.node.id());
            for line in lines {
                *kinds.entry(kind(&line.entry)).or_insert(0_u32) += 1;
            }
        }
        let replayed = replay_record(Record::new(RecordId(7)), &lines);
        assert_eq!(replayed, shop.store.inner.record(), "seed {seed}");
    }
    for kind in ["Boot", "Input", "Acknowledged", "Loaded", "Proposed", "Answered", "Refused"] {
        assert!(kinds.get(kind) > Some(&20), "{kind} lines: {kinds:?}");
    }
}

fn work(world: &mut World, shop: &Shop<FaultyStore>, a: &Running, b: &Running, c: &Running) {
    world.run_for(Duration::from_secs(5));
    shop.membership.say(a.node.id(), Liveness::Suspect);
    let hold = shop.store.inner.record().hold().map(|hold| hold.grant);
    if let Some(grant) = hold {
        let node = b.node.clone();
        let order = async move { node.revoke(grant, "it hangs").await };
        drop(world.block_on("revoke", order));
    }
    let node = b.node.clone();
    let order = async move { node.retry("v9", GrantId(99)).await };
    let refused = world.block_on("retry what never failed", order);
    assert_eq!(refused, Err(OrderError::Refused(Refusal::StaleGrant { found: None })));
    let executor = c.node.executor();
    let local = async move {
        executor.submit("x", None, None).await.expect("it is new");
        executor.drain(DrainWish::new("maintenance")).await.expect("no other");
        executor.undrain().await.expect("it drains");
    };
    world.block_on("local", local);
    a.node.stand_down();
    world.run_until("v1 and v2 are approved", || b.is_open() && c.is_open());
}

fn kind(entry: &JournalEntry) -> &'static str {
    match entry {
        JournalEntry::Boot { .. } => "Boot",
        JournalEntry::Input(_) => "Input",
        JournalEntry::Acknowledged { .. } => "Acknowledged",
        JournalEntry::Loaded(_) => "Loaded",
        JournalEntry::Proposed { .. } => "Proposed",
        JournalEntry::Answered { .. } => "Answered",
        JournalEntry::Refused { .. } => "Refused",
        JournalEntry::Lost { .. } => "Lost",
        JournalEntry::Ended => "Ended",
    }
}

#[test]
fn a_lost_disk_stops_no_node_and_is_told_when_it_is_back() {
    let (mut world, shop, journal) = (World::new(1), Shop::new(), Lines::default());
    *journal.lost.lock().expect("no panic") = true;
    let a = shop.start(&mut world, Options::new("a", "v1").journal(journal.clone()), signing());
    world.run_until("it builds all the same", || a.is_open());
    *journal.lost.lock().expect("no panic") = false;
    let executor = a.node.executor();
    world.block_on("x", async move { executor.submit("x", None, None).await }).expect("it is new");
    let lines = journal.read();
    let JournalEntry::Lost { lines: lost } = lines[0].entry else { panic!("{:?}", lines[0]) };
    assert!(lost > 10);
    assert_eq!(lines[0].number, lost, "the numbers go on over the gap");
}

#[test]
fn the_files_of_a_journal_are_bounded_and_in_order() {
    let folder = tempfile::tempdir().expect("a folder for tests");
    let path = folder.path().join("a.journal");
    let mut journal = FileJournal::create(&path, 100, 3).expect("it is new");
    for number in 0..100 {
        journal.write(&format!("line {number:04}")).expect("there is room");
    }
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("it is there");
    let texts = ["a.journal.2", "a.journal.1", "a.journal"].map(read);
    assert!(texts.iter().all(|text| text.len() <= 100));
    let all = texts.concat();
    let expected: String = (100 - all.len() / 10..100).map(|n| format!("line {n:04}\n")).collect();
    assert_eq!(all, expected);
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 3);

    drop(journal);
    let mut next = FileJournal::create(&path, 100, 3).expect("what is there is moved on");
    next.write("another process").expect("there is room");
    assert_eq!(read("a.journal"), "another process\n");
    assert_eq!(read("a.journal.1"), texts[2]);
}

#[test]
fn a_journal_goes_on_when_its_file_was_taken_away() {
    let folder = tempfile::tempdir().expect("a folder for tests");
    let path = folder.path().join("deep").join("a.journal");
    assert!(FileJournal::create(&path, 100, 3).is_err(), "a wrong path is seen at once");
    fs::create_dir(folder.path().join("deep")).expect("it is new");
    let mut journal = FileJournal::create(&path, 20, 2).expect("it is new");
    journal.write("before").expect("there is room");
    fs::remove_dir_all(folder.path().join("deep")).expect("it is there");
    // The file is open still; the one that follows is not to be had.
    assert!((0..10).any(|_| journal.write("meanwhile").is_err()));
    fs::create_dir(folder.path().join("deep")).expect("it is gone");
    assert!((0..10).any(|_| journal.write("after").is_ok()));
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "after\n");
}

#[test]
fn the_inputs_of_a_journal_say_who_did_what() {
    let (mut world, shop, journal) = (World::new(1), Shop::new(), Lines::default());
    let a = shop.start(&mut world, Options::new("a", "v1").journal(journal.clone()), signing());
    world.run_until("it is open", || a.is_open());
    a.node.shutdown();
    world.run_until("it ends", || a.end().is_some());
    let lines = journal.read();
    let mut words = Vec::new();
    for line in &lines {
        let JournalEntry::Proposed { inputs, .. } = &line.entry else { continue };
        for input in inputs {
            let Input::Statement(statement) = input else { panic!("nobody else speaks") };
            words.push(statement.to_string());
        }
    }
    assert_eq!(words[0], "Asking seq=1");
    assert!(words.iter().any(|word| word.starts_with("Finished(g1, Clean")), "{words:?}");
    assert_eq!(words.last().map(String::as_str), Some("StoodDown seq=6"));
    assert_eq!(lines.last().map(|line| &line.entry), Some(&JournalEntry::Ended));
}
