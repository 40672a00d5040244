//! What madsim found replays in the world: the journals of a run, told as a scenario, come to the
//! same record there.
#![cfg(madsim)]

use std::ops::Range;

use handover_cluster::{Plan, Scene, exported};
use handover_sim::judge::{Exported, Verdict};
use handover_sim::scenario::{Moment, Scenario, watch};
use handover_sim::variants::{Current, names};

#[track_caller]
fn comes_to_the_same_record(scene: Scene, seeds: Range<u64>) {
    for seed in seeds {
        let told = exported(Plan::new(scene), seed);
        let Exported { scenario, judged, record } =
            told.unwrap_or_else(|error| panic!("{} {seed}: {error}", scene.name()));
        assert_eq!(judged.verdict, Verdict::Holds, "seed {seed}");
        let text = scenario.to_string();
        let read = Scenario::parse("told", &text, &names()).expect("it was told to be read");
        let (mut came, mut is_over) = (None, false);
        let run = watch(&read, &Current, &mut |moment| match moment {
            Moment::Step(step) if !is_over => came = Some(step.after.committed().to_parts()),
            Moment::End => is_over = true,
            Moment::Step(_) | Moment::Command(_) | Moment::Stale(_) | Moment::Broken(_) => {}
        });
        assert!(run.is_as_expected(), "seed {seed}: {:?} {:?}", run.ended, run.stale);
        assert_eq!(came.as_ref(), Some(&record), "seed {seed}");
        assert!(record.revision.0 >= judged.commits && judged.commits > 0, "seed {seed}");
    }
}

#[test]
fn what_each_scene_finds_replays_in_the_world_to_the_same_record() {
    for scene in Scene::ALL {
        comes_to_the_same_record(scene, 0..6);
    }
}

#[test]
fn what_is_found_with_many_hosts_or_lost_disks_replays_in_the_world_to_the_same_record() {
    for scene in [Scene::RollingUpdate, Scene::DisksLost, Scene::Anything] {
        comes_to_the_same_record(scene, 6..20);
    }
}

#[test]
fn a_slot_given_back_because_the_record_could_not_be_read_is_no_difference_to_the_world() {
    // In this seed the store cannot be read between the turn of a host in its queue and the answer to
    // its asking: the journal's host has the slot free, and the world's holds it for one more view.
    comes_to_the_same_record(Scene::RollingUpdate, 22..23);
}
