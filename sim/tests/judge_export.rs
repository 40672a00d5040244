//! Journals told as scenarios, and the pictures of them.

mod journals;
mod run;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use handover_node::core::{Chunk, Gate, GrantId, RecordId, RecordParts, SignOff, Version};
use handover_node::{Build, BuildError, Builder, DrainWish, Liveness, MemoryLedger, MemoryStore};
use handover_sim::judge::{ExportError, Exported, Verdict, export, judge};
use handover_sim::scenario::{Moment, Scenario, watch};
use handover_sim::variants::{Current, names};
use journals::common::World;
use journals::common::faulty::FaultyStore;
use journals::common::shop::Shop;
use journals::{files, folder, lines, options, rollout, rollout_on_one_disk, signing, text};
use run::program;

/// The journal of a host that builds its version, and then two builds of its own in one slot.
const JOURNAL: &str = include_str!("fixtures/one_host.jsonl");

/// What it tells.
const SCENARIO: &str = include_str!("fixtures/one_host.scenario");

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    fs::write(folder.join(name), text).expect("there is room");
}

/// The record to which a file comes by its last command.
fn replayed(scenario: &Scenario) -> RecordParts {
    let text = scenario.to_string();
    let scenario = Scenario::parse("told", &text, &names()).expect("it was told to be read");
    let (mut record, mut is_over) = (None, false);
    let run = watch(&scenario, &Current, &mut |moment| match moment {
        Moment::Step(step) if !is_over => record = Some(step.after.committed().to_parts()),
        Moment::End => is_over = true,
        Moment::Step(_) | Moment::Command(_) | Moment::Stale(_) | Moment::Broken(_) => {}
    });
    assert!(run.is_as_expected(), "{:?} {:?}", run.ended, run.stale);
    record.expect("it has commands")
}

#[test]
fn a_journal_is_told_as_a_scenario_that_replays_as_its_head_says() {
    let folder = folder();
    write(folder.path(), "one.jsonl", JOURNAL);
    let ran = program(folder.path(), &["judge", "--export", "x.scenario", "one.jsonl"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("holds: "), "{}", ran.stdout);
    let told = fs::read_to_string(folder.path().join("x.scenario")).expect("it was written");
    assert_eq!(told, SCENARIO);
    let ran = program(folder.path(), &["replay", "x.scenario"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    for part in ["h1  release deploy", "v1 Approved(g1)"] {
        assert!(ran.stdout.contains(part), "no {part} in: {}", ran.stdout);
    }
}

#[test]
fn journals_of_the_shell_are_told_as_scenarios_that_come_to_the_same_record() {
    let mut told = 0;
    for seed in 0..20 {
        let folder = folder();
        rollout_on_one_disk(folder.path(), seed, 7);
        let Exported { scenario, record, judged } = match export(&files(folder.path())) {
            Ok(exported) => exported,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        assert_eq!(replayed(&scenario), record, "seed {seed}");
        assert!(record.revision.0 >= judged.commits, "seed {seed}");
        assert_eq!(record.verdicts.len(), 2, "seed {seed}");
        told += 1;
    }
    assert_eq!(told, 20);
}

#[test]
fn a_boot_on_a_disk_that_was_lost_is_told() {
    let mut lost = 0;
    for seed in 0..20 {
        let folder = folder();
        rollout(folder.path(), seed, 7);
        let Exported { scenario, record, .. } = match export(&files(folder.path())) {
            Ok(exported) => exported,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        assert_eq!(replayed(&scenario), record, "seed {seed}");
        lost += usize::from(scenario.to_string().contains("\ncrash a\nlose-disk a\nboot a:v2\n"));
    }
    assert!(lost > 5, "in {lost} of 20 the first process had written something");
}

/// A life between two others drains while the store is away, and dies before it has read anything.
fn a_life_that_has_read_nothing(folder: &Path) {
    let (mut world, book) = (World::new(5), Arc::new(MemoryLedger::new()));
    let shop = Shop::on(FaultyStore::new(MemoryStore::new(RecordId(7)), 5));
    shop.store.set_faults(false);
    let boot = |world: &mut World| {
        shop.start_with(world, options(folder, "a", "v1"), signing(), Arc::clone(&book))
    };
    let first = boot(&mut world);
    world.run_until("it is open", || first.is_open());
    world.kill(first.task);
    shop.membership.say(first.node.id(), Liveness::Gone);
    shop.store.set_away(true);
    let second = boot(&mut world);
    let executor = second.node.executor();
    let drained = world.block_on("it is written", async move {
        executor.drain(DrainWish::new("an operator")).await.map(drop)
    });
    assert_eq!(drained, Ok(()));
    world.kill(second.task);
    shop.membership.say(second.node.id(), Liveness::Gone);
    shop.store.set_away(false);
    let third = boot(&mut world);
    world.run_until("it is open", || third.is_open());
    world.run_for(Duration::from_secs(10));
}

#[test]
fn a_life_that_has_read_nothing_is_judged_and_told_before_the_next_of_its_name() {
    let folder = folder();
    a_life_that_has_read_nothing(folder.path());
    let report = judge(&files(folder.path())).expect("it can be read");
    assert_eq!(report.verdict(), Verdict::Holds, "{report:#?}");
    assert_eq!(report.records[0].processes, 3);
    let Exported { scenario, record, .. } = match export(&files(folder.path())) {
        Ok(exported) => exported,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(replayed(&scenario), record);
    let told = scenario.to_string();
    assert!(told.contains("\ndrain a\n"), "{told}");
}

/// Signs one of its two chunks off as bad, and ends well all the same.
struct OneBadChunk;

impl Builder for OneBadChunk {
    async fn plan(&self, _: &Version, _: GrantId) -> Result<BTreeSet<Chunk>, BuildError> {
        Ok(["assets".into(), "base".into()].into())
    }

    async fn build(&self, build: Build) -> Result<(), BuildError> {
        build.sign_off("assets", SignOff::Clean);
        build.sign_off("base", SignOff::Failed("no disk,\nsee #3".into()));
        Ok(())
    }
}

#[test]
fn why_a_chunk_failed_is_told_above_the_commands() {
    let folder = folder();
    let (mut world, shop) = (World::new(5), Shop::new());
    let node = shop.start(&mut world, options(folder.path(), "a", "v1"), OneBadChunk);
    world.run_until("it has failed", || {
        let reason = "chunk base: no disk,\nsee #3".into();
        node.node.gate().read() == Gate::Blocked { reason }
    });
    world.run_for(Duration::from_secs(10));
    world.kill(node.task);
    let Exported { scenario, record, .. } = match export(&files(folder.path())) {
        Ok(exported) => exported,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(replayed(&scenario), record);
    let verdict = &record.verdicts[&"v1".into()];
    assert_eq!(verdict.to_string(), "Failed(g1): chunk base: bad chunk");
    let told = scenario.to_string();
    assert!(told.contains("\nsign-off a base failed\n"), "{told}");
    assert!(
        told.contains("\nChunks that failed, with why: base on a (no disk, see 3).\n"),
        "{told}"
    );
}

#[test]
fn what_cannot_be_told_is_an_error_and_writes_nothing() {
    let folder = folder();
    let mut lines: Vec<String> = JOURNAL.lines().map(str::to_owned).collect();
    let gone = lines.remove(lines.len() / 2);
    write(folder.path(), "gap.jsonl", text(&lines));
    let ran = program(folder.path(), &["judge", "--export", "x.scenario", "gap.jsonl"]);
    assert_eq!(ran.code, 2, "{}: without {gone}", ran.stderr);
    assert!(ran.stderr.contains("error: the journals cannot be told as a scenario: "));
    assert!(ran.stderr.contains("something is missing"), "{}", ran.stderr);
    assert!(!folder.path().join("x.scenario").exists());

    write(folder.path(), "one.jsonl", JOURNAL);
    let ran = program(folder.path(), &["judge", "--export", "one.jsonl", "one.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("one.jsonl is read by this command"), "{}", ran.stderr);
    let kept = fs::read_to_string(folder.path().join("one.jsonl")).expect("it is there");
    assert_eq!(kept, JOURNAL);
}

#[test]
fn a_record_that_began_before_its_journals_is_not_told() {
    let folder = folder();
    rollout(folder.path(), 3, 7);
    let lines = lines(folder.path());
    let late: Vec<String> =
        lines.iter().filter(|line| line.contains("\"boot\":\"a.2\"")).cloned().collect();
    write(folder.path(), "late.jsonl", text(&late));
    let told = export(&[folder.path().join("late.jsonl")]).expect_err("it is not told");
    let said = told.to_string();
    assert!(matches!(told, ExportError::Missing(_)), "{said}");
    for part in [": no journal that is given has the changes from r0 to r", "the older files, too"]
    {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_broken_journal_is_shown_up_to_where_it_breaks() {
    let folder = folder();
    let mut lines: Vec<String> = JOURNAL.lines().map(str::to_owned).collect();
    // Somebody has read a view that nobody has committed.
    let at = lines.iter().position(|line| line.contains("\"stage\":{\"Started\""));
    let at = at.expect("it was handed the job");
    let view =
        lines[at..].iter().position(|line| line.contains("\"View\"")).expect("it reads") + at;
    let forged = lines[view].replacen("\"grant\":1", "\"grant\":9", 1);
    assert_ne!(forged, lines[view]);
    lines[view] = forged;
    write(folder.path(), "one.jsonl", text(&lines));
    let ran = program(folder.path(), &["judge", "--as", "text", "one.jsonl"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let place = format!("\n    {} > {{\"format\":2,", view + 1);
    for part in ["broken: ", "one.jsonl:", &place, "    h1 -> record  Asking seq=1"] {
        assert!(ran.stdout.contains(part), "no {part} in: {}", ran.stdout);
    }
    let picture = ["judge", "--as", "svg", "-o", "x.svg", "--export", "x.scenario", "one.jsonl"];
    let ran = program(folder.path(), &picture);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let svg = fs::read_to_string(folder.path().join("x.svg")).expect("it was written");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    let told = fs::read_to_string(folder.path().join("x.scenario")).expect("it was written");
    assert!(told.contains("\nUp to this: one.jsonl:"), "{told}");
    let ran = program(folder.path(), &["judge", "--as", "html", "one.jsonl"]);
    assert!(ran.stdout.starts_with("<!") && ran.stderr.starts_with("broken: "), "{}", ran.stderr);
}
