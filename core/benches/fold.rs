//! What one fold, one view and one step of a candidate cost, by the number of lines, and what a
//! build costs its candidate, by the number of chunks.
//!
//! A fold costs O(log n): from 10 to 10,000 lines, at most six times. So does a sign-off by itself;
//! a statement carries all of them, so what is said after each costs O(n). Run it with
//! `cargo bench -p handover-core --bench fold`.

use std::collections::BTreeSet;

use divan::{Bencher, black_box};
use handover_core::{
    Candidate, Chunk, GrantId, HostId, Input, Outcome, Priority, Record, RecordId, Seq, SignOff,
    Standing, Statement, Version,
};

const LINES: [u64; 4] = [10, 100, 1_000, 10_000];

const CHUNKS: [u64; 4] = LINES;

fn main() {
    divan::main();
}

/// A stand-down of the holder, which elects the next of all who ask.
#[divan::bench(args = LINES)]
fn fold_that_elects(bencher: Bencher<'_, '_>, lines: u64) {
    let record = record_of(lines, 1);
    let stand_down = says(0, 2, 1, Standing::StoodDown);
    bencher.bench_local(|| black_box(&record).fold(black_box(&stand_down), &BTreeSet::new()));
}

/// The same where the askers run a hundred versions.
#[divan::bench(args = LINES)]
fn fold_that_elects_among_versions(bencher: Bencher<'_, '_>, lines: u64) {
    let record = record_of(lines, 100);
    let stand_down = says(0, 2, 100, Standing::StoodDown);
    bencher.bench_local(|| black_box(&record).fold(black_box(&stand_down), &BTreeSet::new()));
}

/// What a committed stand-down and its opposite cost an arbiter: both folds and both applies.
#[divan::bench(args = LINES)]
fn fold_and_apply(bencher: Bencher<'_, '_>, lines: u64) {
    let mut record = record_of(lines, 1);
    let mut seq = 1;
    bencher.bench_local(|| {
        for standing in [Standing::StoodDown, asking()] {
            seq += 1;
            let input = says(lines / 2, seq, 1, standing);
            let change = record.fold(&input, &BTreeSet::new()).expect("the number grows");
            record.apply(&change).expect("folded on this record");
        }
    });
}

#[divan::bench(args = LINES)]
fn view_for(bencher: Bencher<'_, '_>, lines: u64) {
    let record = record_of(lines, 1);
    let (host, version) = (host(lines / 2), version(0));
    bencher.bench_local(|| black_box(&record).view_for(black_box(&host), black_box(&version)));
}

/// An asking candidate reads the view that offers it the job.
#[divan::bench(args = LINES)]
fn candidate_reads_a_view(bencher: Bencher<'_, '_>, lines: u64) {
    let record = record_of(lines, 1);
    let mut candidate = Candidate::new(host(0), version(0), Priority(0));
    candidate.ask();
    let view = record.view_for(candidate.host(), candidate.version());
    bencher.with_inputs(|| (candidate.clone(), view.clone())).bench_local_values(
        |(mut candidate, view)| {
            candidate.handle_view(view).expect("it is the first view");
            (candidate.poll_effect(), candidate)
        },
    );
}

/// A building candidate signs all its chunks off, and reports.
#[divan::bench(args = CHUNKS, sample_count = 10, sample_size = 1)]
fn build_signs_off(bencher: Bencher<'_, '_>, chunks: u64) {
    let candidate = building();
    let chunks = (0..chunks).map(|number| Chunk::new(format!("chunk-{number:05}")));
    let chunks: Vec<Chunk> = chunks.collect();
    bencher.with_inputs(|| (candidate.clone(), chunks.clone())).bench_local_values(
        |(mut candidate, chunks)| {
            for chunk in chunks {
                candidate.handle_sign_off(G1, chunk, SignOff::Clean).expect("it builds");
            }
            candidate.handle_build_end(G1, Outcome::Clean).expect("it builds");
            candidate
        },
    );
}

const G1: GrantId = GrantId(1);

/// A candidate whose build runs. What is planned decides nothing here.
fn building() -> Candidate {
    let mut record = record_of(1, 1);
    let mut candidate = Candidate::new(host(0), version(0), Priority(0));
    candidate.ask();
    candidate.handle_view(record.view_for(&host(0), &version(0))).expect("it is newer");
    candidate.handle_plan(G1, BTreeSet::new()).expect("a plan is wanted");
    let accepted = Input::Statement(candidate.statement().expect("it has accepted"));
    let change = record.fold(&accepted, &BTreeSet::new()).expect("the number grows");
    record.apply(&change).expect("folded on this record");
    candidate.handle_view(record.view_for(&host(0), &version(0))).expect("it is newer");
    candidate
}

/// All of these hosts ask; the first is offered the job.
fn record_of(lines: u64, versions: u64) -> Record {
    let mut record = Record::new(RecordId(1));
    for number in 0..lines {
        let change = record
            .fold(&says(number, 1, versions, asking()), &BTreeSet::new())
            .expect("each speaks for the first time");
        record.apply(&change).expect("folded on this record");
    }
    record
}

fn says(number: u64, seq: u64, versions: u64, standing: Standing) -> Input {
    Input::Statement(Statement {
        host: host(number),
        version: version(number % versions),
        seq: Seq(seq),
        standing,
    })
}

fn asking() -> Standing {
    Standing::Asking { priority: Priority(0) }
}

fn host(number: u64) -> HostId {
    HostId::new(format!("web-{number:05}").as_str(), 1)
}

fn version(number: u64) -> Version {
    Version::new(format!("v{number}"))
}
