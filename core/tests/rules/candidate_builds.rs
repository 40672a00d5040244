//! The candidate's rules from an accepted offer to the stand-down, one by one (Ca3 to Ca6, St2).

use std::sync::Arc;

use crate::common::{self, Pair, accepted, asking, finished};
use handover_core::{
    CandidateEffect, CandidateRefusal, Gate, GrantId, Outcome, Seq, SignOff, Then,
};

const G1: GrantId = GrantId(1);

mod accepted {
    use super::*;

    #[test]
    fn work_begins_only_when_the_record_shows_the_acceptance() {
        let mut pair = Pair::accepted(&["x"]);
        pair.arbiter.accepts("a", asking());
        pair.look();
        assert_eq!(pair.effects(), [], "still offered");
        assert_eq!(pair.phase(), "accepted(g1)");
        pair.exchange();
        assert_eq!(pair.effects(), [CandidateEffect::StartBuild { grant: G1 }]);
        assert_eq!(pair.word(), "Building(g1)");
    }

    #[test]
    fn an_offer_withdrawn_before_the_acceptance_arrives_sends_it_back_to_asking() {
        let mut pair = Pair::accepted(&[]);
        pair.arbiter.accepts("a", asking());
        assert_eq!(pair.arbiter.lapse(1), Ok(None));
        pair.look();
        assert_eq!(pair.word(), "Asking");
        assert_eq!(pair.effects(), []);
    }

    #[test]
    fn another_grant_of_its_own_is_no_start() {
        let mut pair = Pair::accepted(&[]);
        assert_eq!(pair.arbiter.revoke(1), Ok(None));
        assert_eq!(pair.arbiter.hold(), "Offered(b, g2)");
        pair.look();
        assert_eq!(pair.word(), "Asking");
        assert_eq!(pair.effects(), []);
    }

    #[test]
    fn a_cancel_that_comes_before_the_start_is_no_start() {
        let mut pair = Pair::accepted(&[]);
        pair.speak();
        assert_eq!(pair.arbiter.cancel(1, Then::Again), Ok(None));
        pair.look();
        assert_eq!(pair.word(), "Asking");
        assert_eq!(pair.effects(), []);
    }

    #[test]
    fn anothers_approval_lets_it_stand_down() {
        let mut pair = Pair::accepted(&[]);
        pair.arbiter.accepts("a", asking());
        assert_eq!(pair.arbiter.lapse(1), Ok(None));
        pair.arbiter.accepts("a", accepted(2, &[]));
        pair.arbiter.accepts("a", finished(2, Outcome::Clean, &[]));
        pair.look();
        assert_eq!(pair.word(), "StoodDown");
        assert_eq!(pair.candidate.seq(), Seq(3), "at once, without asking first");
        assert_eq!(pair.candidate.gate(), Gate::Open);
    }
}

mod building {
    use super::*;

    #[test]
    fn each_chunk_is_said_with_all_before() {
        let mut pair = Pair::building(&["x", "y"]);
        pair.sign_off("x");
        assert_eq!(pair.word(), "Building(g1, signed x)");
        pair.sign_off("y");
        assert_eq!(pair.word(), "Building(g1, signed x+y)");
        pair.speak();
        let hold = pair.arbiter.record.hold().expect("b builds");
        assert_eq!(hold.signed_off, common::signed(&["x", "y"]));
    }

    #[test]
    fn a_report_carries_all_sign_offs_and_is_held_until_acknowledged() {
        let mut pair = Pair::building(&["x"]);
        pair.sign_off("x");
        pair.ends(Outcome::Clean);
        assert_eq!(pair.word(), "Finished(g1, Clean, signed x)");
        pair.arbiter.accepts("a", asking());
        pair.look();
        assert_eq!(pair.word(), "Finished(g1, Clean, signed x)");
        pair.exchange();
        assert_eq!(pair.word(), "StoodDown");
        assert_eq!(pair.candidate.seq(), Seq(6), "at once, without asking first");
        assert_eq!(pair.candidate.gate(), Gate::Open);
    }

    #[test]
    fn a_report_is_said_whatever_the_view_shows() {
        let mut pair = Pair::building(&[]);
        assert_eq!(pair.candidate.view().map(|it| it.is_approved()), Some(false));
        pair.ends(Outcome::Failed("no disk".into()));
        assert_eq!(pair.word(), "Finished(g1, Failed: no disk)");
    }

    #[test]
    fn a_hold_that_went_elsewhere_cancels_the_build() {
        let mut pair = Pair::building(&["x"]);
        pair.arbiter.accepts("a", asking());
        assert_eq!(pair.arbiter.revoke(1), Ok(None));
        pair.look();
        assert_eq!(pair.effects(), [CandidateEffect::CancelBuild { grant: G1 }]);
        assert_eq!(pair.phase(), "cancelling(g1)");
    }

    #[test]
    fn a_hold_of_its_own_under_a_later_grant_cancels_the_build() {
        let mut pair = Pair::building(&["x"]);
        assert_eq!(pair.arbiter.revoke(1), Ok(None));
        let mut view = pair.view();
        let mut hold = Pair::building(&[]).view().hold.expect("b builds");
        Arc::make_mut(&mut hold).grant = GrantId(2);
        view.hold = Some(hold);
        pair.read(view);
        assert_eq!(pair.effects(), [CandidateEffect::CancelBuild { grant: G1 }]);
    }

    #[test]
    fn an_operators_cancel_cancels_the_build() {
        let mut pair = Pair::building(&["x"]);
        assert_eq!(pair.arbiter.cancel(1, Then::Block), Ok(None));
        pair.look();
        assert_eq!(pair.effects(), [CandidateEffect::CancelBuild { grant: G1 }]);
    }

    #[test]
    fn nothing_is_said_until_the_build_has_really_stopped() {
        let mut pair = Pair::cancelling(&["x"]);
        let seq = pair.candidate.seq();
        pair.sign_off("x");
        pair.arbiter.accepts("a", asking());
        pair.look();
        pair.candidate.stand_down();
        pair.candidate.ask();
        assert_eq!(pair.candidate.seq(), seq);
        assert_eq!(pair.word(), "Building(g1)");
        assert_eq!(pair.effects(), []);
        pair.ends(Outcome::Abandoned);
        assert_eq!(pair.word(), "Finished(g1, Abandoned, signed x)");
    }

    #[test]
    fn a_host_works_under_its_grant_from_its_acceptance_to_its_report_unless_it_cancels() {
        let finished = || {
            let mut pair = Pair::building(&[]);
            pair.ends(Outcome::Clean);
            pair
        };
        for pair in [Pair::accepted(&[]), Pair::building(&[]), finished()] {
            assert_eq!(pair.candidate.phase().works_under(), Some(G1), "{}", pair.phase());
        }
        for pair in [Pair::idle(), Pair::asking(), Pair::planning(), Pair::cancelling(&[])] {
            assert_eq!(pair.candidate.phase().works_under(), None, "{}", pair.phase());
        }
    }

    #[test]
    fn of_a_chunk_that_is_signed_off_twice_the_report_has_the_newer_word() {
        let fail = |pair: &mut Pair| {
            let failed = SignOff::Failed("no disk".into());
            pair.candidate.handle_sign_off(G1, "y".into(), failed).expect("it builds");
        };
        let mut pair = Pair::building(&["x", "y"]);
        fail(&mut pair);
        pair.sign_off("y");
        assert_eq!(pair.word(), "Building(g1, signed y)");
        pair.candidate.stand_down();
        pair.sign_off("x");
        fail(&mut pair);
        assert_eq!(pair.word(), "Building(g1, signed y)");
        pair.ends(Outcome::Clean);
        assert_eq!(pair.word(), "Finished(g1, Clean, signed x+y!)");
    }

    #[test]
    fn a_build_that_ends_while_it_is_cancelled_reports_its_own_end() {
        for outcome in [Outcome::Clean, Outcome::Failed("no disk".into())] {
            let mut pair = Pair::cancelling(&[]);
            pair.ends(outcome.clone());
            assert_eq!(pair.word(), format!("Finished(g1, {outcome})"));
        }
    }

    #[test]
    fn news_about_a_build_that_does_not_run_is_refused() {
        let mut pair = Pair::accepted(&[]);
        let early = pair.candidate.handle_build_end(G1, Outcome::Clean);
        assert_eq!(early, Err(CandidateRefusal::NoSuchBuild));
        let mut pair = Pair::building(&[]);
        let other = pair.candidate.handle_build_end(GrantId(2), Outcome::Clean);
        assert_eq!(other, Err(CandidateRefusal::NoSuchBuild));
        let chunk = pair.candidate.handle_sign_off(GrantId(2), "x".into(), SignOff::Clean);
        assert_eq!(chunk, Err(CandidateRefusal::NoSuchBuild));
        pair.ends(Outcome::Clean);
        let twice = pair.candidate.handle_build_end(G1, Outcome::Abandoned);
        assert_eq!(twice, Err(CandidateRefusal::NoSuchBuild));
    }

    #[test]
    fn sign_offs_of_one_build_do_not_reach_the_next() {
        let mut pair = Pair::building(&["x"]);
        pair.sign_off("x");
        pair.ends(Outcome::Abandoned);
        pair.exchange();
        pair.exchange();
        assert_eq!(pair.effects().len(), 1);
        pair.plan(2, &["x"]);
        pair.exchange();
        assert_eq!(pair.word(), "Building(g2)");
    }
}

mod finished {
    use super::*;

    #[test]
    fn without_a_verdict_it_asks_again() {
        let mut pair = Pair::building(&[]);
        pair.ends(Outcome::Abandoned);
        pair.exchange();
        assert_eq!(pair.word(), "Asking");
        pair.exchange();
        assert_eq!(pair.phase(), "planning(g2)");
    }

    #[test]
    fn after_a_failure_it_asks_again_behind_a_blocked_gate() {
        let mut pair = Pair::building(&[]);
        pair.ends(Outcome::Failed("no disk".into()));
        pair.exchange();
        assert_eq!(pair.word(), "Asking");
        let reason = "no disk".into();
        assert_eq!(pair.candidate.gate(), Gate::Blocked { reason });
    }

    #[test]
    fn a_wish_to_stand_down_is_fulfilled_once_the_report_is_acknowledged() {
        let mut pair = Pair::building(&[]);
        pair.ends(Outcome::Abandoned);
        pair.candidate.stand_down();
        assert_eq!(pair.word(), "Finished(g1, Abandoned)");
        pair.exchange();
        assert_eq!(pair.word(), "StoodDown");
    }

    #[test]
    fn asking_takes_the_wish_back() {
        let mut pair = Pair::building(&[]);
        pair.candidate.stand_down_after();
        pair.ends(Outcome::Abandoned);
        pair.candidate.ask();
        pair.exchange();
        assert_eq!(pair.word(), "Asking");
    }
}

mod standing_down {
    use super::*;

    #[test]
    fn it_is_said_whatever_the_view_shows() {
        let mut pair = Pair::asking();
        pair.candidate.stand_down();
        assert_eq!(pair.word(), "StoodDown", "the offer was not seen");
        for mut pair in [Pair::idle(), Pair::planning(), Pair::accepted(&[])] {
            pair.candidate.stand_down();
            assert_eq!(pair.word(), "StoodDown");
            let mut after = pair;
            after.candidate.ask();
            after.candidate.stand_down_after();
            assert_eq!(after.word(), "StoodDown");
        }
    }

    #[test]
    fn a_running_build_is_stopped_first() {
        let mut pair = Pair::cancelling(&[]);
        pair.ends(Outcome::Abandoned);
        pair.exchange();
        assert_eq!(pair.word(), "StoodDown");
    }

    #[test]
    fn a_drains_wish_lets_the_build_end() {
        let mut pair = Pair::building(&[]);
        pair.candidate.stand_down_after();
        assert_eq!(pair.effects(), []);
        assert_eq!(pair.phase(), "building(g1)");
        pair.ends(Outcome::Abandoned);
        pair.exchange();
        assert_eq!(pair.word(), "StoodDown");
    }

    #[test]
    fn whoever_stood_down_may_ask_again() {
        let mut pair = Pair::asking();
        pair.candidate.stand_down();
        pair.candidate.ask();
        assert_eq!(pair.word(), "Asking");
    }
}
