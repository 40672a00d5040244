//! A stand-down crosses the offer, over a store of this program's own (Systemorph/MeshWeaver#3567).

use handover_core::{Candidate, Input, RecordId};
use handover_core_embed::{Arbiter, Hosts, Store};

fn hold(arbiter: &Arbiter) -> String {
    let hold = arbiter.record().hold();
    hold.map_or_else(|| "nobody".into(), ToString::to_string)
}

#[test]
fn the_job_goes_on_to_the_next_and_both_hosts_are_served() {
    let (mut store, mut hosts) = (Store::default(), Hosts::default());
    let (mut first, mut second) = (Arbiter::new(RecordId(1)), Arbiter::new(RecordId(1)));

    hosts.ask("b", "v1");
    hosts.ask("c", "v1");
    while let Some(word) = hosts.sent.pop_front() {
        first.decide(&mut store, &Input::Statement(word));
    }
    assert_eq!(hold(&first), "Offered(b, g1)");

    // b has seen no offer, so it cannot know what its word crosses. Another arbiter folds it, from
    // a record that it has to catch up with first.
    hosts.act("b", Candidate::stand_down);
    let stand_down = hosts.sent.pop_front().expect("it is said all the same");
    second.decide(&mut store, &Input::Statement(stand_down));
    assert_eq!(hold(&second), "Offered(c, g2)");

    while hosts.publish(&second) {
        while let Some(word) = hosts.sent.pop_front() {
            second.decide(&mut store, &Input::Statement(word));
        }
    }
    assert_eq!(hold(&second), "nobody");
    for name in ["b", "c"] {
        assert!(hosts.candidate(name).gate().is_open(), "{name} is served");
    }
    second.record().check();
}
