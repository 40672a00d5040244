//! What one fold, one view and one step of a candidate cost, by the number of lines.
//!
//! A fold costs O(log n): from 10 to 10,000 lines, at most six times. Run it with
//! `cargo bench -p handover-core --bench fold`.

use std::collections::BTreeSet;

use divan::{Bencher, black_box};
use handover_core::{
    Candidate, HostId, Input, Priority, Record, RecordId, Seq, Standing, Statement, Version,
};

const LINES: [u64; 4] = [10, 100, 1_000, 10_000];

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
