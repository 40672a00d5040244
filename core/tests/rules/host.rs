//! The host's rules one by one (Ho1 to Ho5).

use crate::common::{self, Driven, accepted, asking, finished};
use handover_core::{
    Acknowledgement, AtDeadline, CandidateRefusal, DrainRequest, Effect, End, EndAction, GrantId,
    Incarnation, Outcome, Term, Work,
};

const G1: Work = Work::Granted(GrantId(1));

fn drain(end: EndAction) -> DrainRequest {
    DrainRequest {
        reason: "by hand".into(),
        term: Term::UntilUndrained,
        end,
        at_deadline: AtDeadline::Interrupt,
        since: 0,
    }
}

impl Driven {
    fn drain(&mut self) {
        let answer = self.host.drain(drain(EndAction::Nothing));
        assert!(answer.is_ok());
        self.host.check();
    }
}

/// Ho1.
mod taking_an_offer {
    use super::*;

    #[test]
    fn a_free_slot_is_reserved_in_the_step_that_accepts() {
        let mut driven = Driven::offered(1);
        assert_eq!(driven.slots_free(), 1);
        driven.plan(1);
        assert_eq!(driven.word(), "Accepted(g1)");
        assert_eq!(driven.slots_free(), 0);
        assert!(driven.host.executor().has_reservation());
    }

    #[test]
    fn a_reserved_slot_is_nobody_elses() {
        let mut driven = Driven::accepted(1);
        driven.host.submit("x".into(), None, None).expect("new");
        assert_eq!(driven.carry_out(), ["store pending"], "and no start");
    }

    #[test]
    fn a_slot_that_is_taken_while_the_plan_is_made_declines_the_offer() {
        let mut driven = Driven::offered(1);
        driven.run_local("x");
        assert_eq!(driven.word(), "StoodDown");
        assert!(driven.host.is_queued());
    }

    #[test]
    fn behind_a_closed_gate_it_stands_down() {
        let mut driven = Driven::offered(1);
        driven.drain();
        assert_eq!(driven.word(), "StoodDown");
        let late = driven.host.handle_plan(GrantId(1), common::chunks(&[]));
        assert_eq!(late, Err(CandidateRefusal::NoSuchBuild));
        assert_eq!(driven.slots_free(), 1);
    }

    #[test]
    fn without_a_free_slot_it_declines_and_waits_in_the_queue() {
        let driven = busy();
        assert_eq!(driven.word(), "StoodDown");
        assert!(driven.host.is_queued());
    }

    #[test]
    fn what_it_declines_goes_to_the_next_in_the_same_fold() {
        let mut driven = busy();
        driven.arbiter.accepts("a", asking());
        driven.speak();
        assert_eq!(driven.arbiter.hold(), "Offered(a, g2)");
    }

    #[test]
    fn when_its_turn_comes_it_reserves_and_asks_in_one_step() {
        let mut driven = its_turn();
        assert_eq!(driven.word(), "Asking");
        assert_eq!(driven.slots_free(), 0);
        assert!(!driven.host.is_queued());
        driven.exchange();
        assert_eq!(driven.carry_out(), ["plan g2"]);
        driven.plan(2);
        assert_eq!(driven.word(), "Accepted(g2)");
        assert_eq!(driven.slots_free(), 0, "the reservation became the offer's");
    }

    #[test]
    fn the_first_acknowledging_view_without_an_offer_releases_the_slot() {
        let mut driven = its_turn();
        driven.arbiter.accepts("a", asking());
        driven.exchange();
        assert_eq!(driven.arbiter.hold(), "Offered(a, g2)");
        assert_eq!(driven.phase(), "asking");
        assert_eq!(driven.slots_free(), 1);
    }

    #[test]
    fn a_view_that_does_not_acknowledge_the_asking_decides_nothing() {
        let mut driven = its_turn();
        driven.arbiter.accepts("a", asking());
        driven.look();
        assert_eq!(driven.slots_free(), 0);
    }

    #[test]
    fn asking_again_keeps_its_place_in_the_queue() {
        let mut driven = busy();
        driven.host.ask();
        assert_eq!(driven.word(), "StoodDown");
        assert!(driven.host.is_queued());
    }

    #[test]
    fn a_drain_takes_it_out_of_the_queue() {
        let mut driven = busy();
        driven.drain();
        assert!(!driven.host.is_queued());
        assert_eq!(driven.word(), "StoodDown");
    }

    #[test]
    fn an_approval_by_another_leaves_the_queue() {
        let mut driven = busy();
        driven.speak();
        driven.arbiter.accepts("a", asking());
        approve(&mut driven, 2);
        driven.look();
        assert!(!driven.host.is_queued());
        driven.ends(&Work::Local("x".into()), End::Succeeded);
        driven.carry_out();
        assert_eq!(driven.slots_free(), 1);
        assert_eq!(driven.word(), "StoodDown");
    }

    /// One slot, taken by a local build; the offer is declined.
    fn busy() -> Driven {
        let mut driven = Driven::with_slots(1);
        driven.run_local("x");
        driven.host.ask();
        driven.exchange();
        assert_eq!(driven.carry_out().len(), 0, "it needs no plan to decline");
        driven
    }

    /// The local build has ended, and the host has the slot.
    fn its_turn() -> Driven {
        let mut driven = busy();
        driven.speak();
        driven.ends(&Work::Local("x".into()), End::Succeeded);
        let orders = driven.carry_out();
        assert_eq!(orders.last().map(String::as_str), Some("wake"));
        driven
    }
}

/// Ho2.
mod starting {
    use super::*;

    #[test]
    fn the_reservation_becomes_the_running_build() {
        let mut driven = Driven::accepted(1);
        driven.exchange();
        assert_eq!(driven.carry_out(), ["store admitted", "start"]);
        assert_eq!(driven.slots_free(), 0);
        assert!(!driven.host.executor().has_reservation());
    }

    #[test]
    fn a_drain_before_the_start_releases_the_slot_and_starts_nothing() {
        let mut driven = Driven::accepted(1);
        driven.speak();
        driven.drain();
        assert_eq!(driven.word(), "StoodDown");
        assert_eq!(driven.slots_free(), 1);
        driven.look();
        assert!(!driven.carry_out().contains(&"start".into()));
        driven.speak();
        assert_eq!(driven.arbiter.hold(), "nobody");
    }
}

/// Ho3.
mod draining {
    use super::*;

    #[test]
    fn who_asks_stands_down_in_the_step_that_declares_the_drain() {
        let mut driven = Driven::with_slots(1);
        driven.host.ask();
        driven.drain();
        assert_eq!(driven.word(), "StoodDown");
    }

    #[test]
    fn who_has_said_nothing_says_nothing() {
        let mut driven = Driven::with_slots(1);
        driven.drain();
        assert_eq!(driven.word(), "nothing");
        driven.host.ask();
        assert_eq!(driven.word(), "nothing", "it asks when the drain is over");
        assert_eq!(driven.host.undrain(), Ok(()));
        assert_eq!(driven.word(), "Asking");
    }

    #[test]
    fn a_running_build_goes_on_and_the_host_stands_down_after() {
        let mut driven = Driven::building(1);
        driven.drain();
        assert_eq!(driven.carry_out(), ["store drain"], "no stop");
        driven.ends(&G1, End::Failed("no disk".into()));
        driven.carry_out();
        assert_eq!(driven.word(), "Finished(g1, Failed: no disk)");
        driven.exchange();
        assert_eq!(driven.word(), "StoodDown");
    }

    #[test]
    fn undrain_lets_it_ask_again_only_if_its_version_is_not_approved() {
        let mut driven = Driven::with_slots(1);
        driven.host.ask();
        driven.drain();
        assert_eq!(driven.host.undrain(), Ok(()));
        assert_eq!(driven.word(), "Asking");
        let mut served = Driven::building(1);
        served.ends(&G1, End::Succeeded);
        served.carry_out();
        served.exchange();
        served.drain();
        let seq = served.host.candidate().seq();
        assert_eq!(served.host.undrain(), Ok(()));
        assert_eq!(served.word(), "StoodDown");
        assert_eq!(served.host.candidate().seq(), seq, "it did not even ask");
    }

    #[test]
    fn who_stood_down_for_good_does_not_ask_after_a_drain() {
        let mut driven = Driven::with_slots(1);
        driven.host.ask();
        driven.host.stand_down();
        driven.drain();
        assert_eq!(driven.host.undrain(), Ok(()));
        assert_eq!(driven.word(), "StoodDown");
    }

    #[test]
    fn a_deadline_that_interrupts_reports_the_build_as_abandoned() {
        let mut driven = Driven::building(1);
        driven.drain();
        driven.carry_out();
        assert_eq!(driven.host.deadline(), Ok(AtDeadline::Interrupt));
        assert_eq!(driven.carry_out(), ["stop"]);
        assert_eq!(driven.word(), "Building(g1)", "it has not stopped yet");
        assert_eq!(driven.host.handle_build_stop(&G1), Ok(()));
        driven.carry_out();
        assert_eq!(driven.word(), "Finished(g1, Abandoned)");
    }
}

/// Ho4.
mod drained {
    use super::*;

    #[test]
    fn only_with_an_acknowledged_stand_down() {
        let mut driven = Driven::with_slots(1);
        driven.host.ask();
        driven.exchange();
        driven.drain();
        assert!(!driven.carry_out().contains(&"drained".into()));
        assert!(!driven.host.is_drained(), "the record may still offer it the job");
        driven.exchange();
        assert!(driven.host.is_drained());
        assert_eq!(driven.carry_out(), ["drained"]);
    }

    #[test]
    fn an_idle_host_is_drained_with_its_executor() {
        let mut driven = Driven::with_slots(1);
        assert!(!driven.host.is_drained(), "no drain is declared");
        let local = driven.run_local("x");
        driven.drain();
        assert!(!driven.host.is_drained());
        driven.ends(&local, End::Succeeded);
        driven.carry_out();
        assert!(driven.host.is_drained());
    }

    #[test]
    fn not_before_the_report_is_folded() {
        let mut driven = Driven::building(1);
        driven.drain();
        driven.ends(&G1, End::Succeeded);
        driven.carry_out();
        assert_eq!(driven.word(), "Finished(g1, Clean)");
        assert!(!driven.host.is_drained());
        driven.exchange();
        assert!(!driven.host.is_drained(), "its stand-down is on its way");
        driven.exchange();
        assert!(driven.host.is_drained());
        assert_eq!(driven.arbiter.verdict("v1"), "Approved(g1)");
    }

    #[test]
    fn who_sees_itself_gone_is_drained_when_its_build_has_stopped() {
        let mut driven = Driven::building(1);
        driven.drain();
        driven.carry_out();
        assert_eq!(driven.arbiter.gone("b"), Ok(None));
        driven.look();
        driven.carry_out();
        assert!(!driven.host.is_drained());
        assert_eq!(driven.host.handle_build_stop(&G1), Ok(()));
        driven.carry_out();
        assert!(driven.host.is_drained());
    }
}

/// Ho5, row by row.
mod releasing {
    use super::*;

    #[test]
    fn an_acceptance_that_is_withdrawn_revoked_or_cancelled_frees_the_slot_with_the_asking() {
        let ends: [fn(&mut Driven); 3] = [
            |it| {
                it.arbiter.accepts("a", asking());
                assert_eq!(it.arbiter.lapse(1), Ok(None));
            },
            |it| {
                it.speak();
                assert_eq!(it.arbiter.revoke(1), Ok(None));
            },
            |it| {
                it.speak();
                let then = handover_core::Then::Again;
                assert_eq!(it.arbiter.cancel(1, then), Ok(None));
            },
        ];
        for end in ends {
            let mut driven = Driven::accepted(1);
            end(&mut driven);
            driven.look();
            assert_eq!(driven.word(), "Asking");
            assert_eq!(driven.slots_free(), 1);
        }
    }

    #[test]
    fn anothers_approval_frees_the_slot_with_the_stand_down() {
        let mut driven = Driven::accepted(1);
        driven.arbiter.accepts("a", asking());
        assert_eq!(driven.arbiter.lapse(1), Ok(None));
        approve(&mut driven, 2);
        driven.look();
        assert_eq!(driven.word(), "StoodDown");
        assert_eq!(driven.slots_free(), 1);
    }

    #[test]
    fn a_stand_down_frees_the_slot_of_an_acceptance() {
        for stand_down in [handover_core::Host::stand_down, handover_core::Host::stand_down_after] {
            let mut driven = Driven::accepted(1);
            stand_down(&mut driven.host);
            assert_eq!(driven.word(), "StoodDown");
            assert_eq!(driven.slots_free(), 1);
        }
    }

    #[test]
    fn a_build_that_ends_frees_its_slot_after_artifacts_status_and_removal() {
        let mut driven = Driven::building(1);
        driven.ends(&G1, End::Succeeded);
        assert_eq!(driven.slots_free(), 0);
        let orders = driven.carry_out();
        assert_eq!(orders, ["artifacts", "store succeeded", "remove", "release"]);
        assert_eq!(driven.slots_free(), 1, "before the report is acknowledged");
    }

    #[test]
    fn the_report_is_said_only_when_the_status_is_durable() {
        let mut driven = Driven::building(1);
        driven.ends(&G1, End::Succeeded);
        assert_eq!(driven.word(), "Building(g1)");
        let artifacts = driven.host.poll_effect().expect("artifacts first");
        driven.host.acknowledge(&artifacts, Acknowledgement::Done);
        let status = driven.host.poll_effect().expect("then the status");
        driven.host.acknowledge(&status, Acknowledgement::Failed);
        assert_eq!(driven.word(), "Building(g1)");
        let again = driven.host.poll_effect();
        assert_eq!(again.as_ref(), Some(&status), "what failed is ordered again");
        driven.host.acknowledge(&status, Acknowledgement::Done);
        assert_eq!(driven.word(), "Finished(g1, Clean)");
    }

    #[test]
    fn a_cancelled_build_holds_its_slot_until_it_has_really_stopped() {
        let mut driven = Driven::building(1);
        driven.host.stand_down();
        assert_eq!(driven.carry_out(), ["stop"]);
        assert_eq!(driven.slots_free(), 0);
        assert_eq!(driven.host.handle_build_stop(&G1), Ok(()));
        driven.carry_out();
        assert_eq!(driven.slots_free(), 1);
        assert_eq!(driven.word(), "Finished(g1, Abandoned)");
    }

    #[test]
    fn who_is_gone_with_a_build_holds_its_slot_until_it_has_really_stopped() {
        let mut driven = Driven::building(1);
        assert_eq!(driven.arbiter.gone("b"), Ok(None));
        driven.look();
        assert_eq!(driven.carry_out(), ["stop"]);
        assert_eq!(driven.slots_free(), 0);
        let too_early = driven.host.come_back(Incarnation(2));
        assert_eq!(too_early, Err(CandidateRefusal::NotExpelled));
        assert_eq!(driven.host.handle_build_stop(&G1), Ok(()));
        let orders = driven.carry_out();
        assert_eq!(orders.last().map(String::as_str), Some("return above 1"));
        assert_eq!(driven.slots_free(), 1);
        assert_eq!(driven.host.come_back(Incarnation(2)), Ok(()));
        assert_eq!(driven.word(), "Asking");
    }

    #[test]
    fn who_is_gone_with_an_acceptance_frees_the_slot_at_once() {
        let mut driven = Driven::accepted(1);
        assert_eq!(driven.arbiter.gone("b"), Ok(None));
        driven.look();
        assert_eq!(driven.slots_free(), 1);
    }

    #[test]
    fn a_return_that_failed_is_ordered_again() {
        let mut driven = Driven::accepted(1);
        assert_eq!(driven.arbiter.gone("b"), Ok(None));
        driven.look();
        let order = driven.host.poll_effect().expect("it is to come back");
        let above = Incarnation(1);
        assert_eq!(order, Effect::Return { above });
        assert_eq!(driven.host.poll_effect(), None);
        driven.host.acknowledge(&order, Acknowledgement::Unknown);
        assert_eq!(driven.host.poll_effect(), Some(order));
    }
}

/// `a` builds the version under this grant, which it was offered.
fn approve(driven: &mut Driven, grant: u64) {
    driven.arbiter.accepts("a", accepted(grant, &[]));
    let report = finished(grant, Outcome::Clean, &[]);
    driven.arbiter.accepts("a", report);
}
