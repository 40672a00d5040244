//! The candidate's rules up to the offer, one by one: identity, asking, views and the gate (Ca0 to
//! Ca2, Ca7, Ca8, St2, St3).

use crate::common::{self, Arbiter, Pair, accepted, asking, finished, host};
use handover_core::{
    Alarm, Candidate, CandidateEffect, CandidateRefusal, FORMAT, Gate, GrantId, Incarnation,
    Outcome, Priority, Record, RecordId, Seq, Standing, Unreadable, Wish,
};

const G1: GrantId = GrantId(1);

mod gone {
    use super::*;

    #[test]
    fn a_gone_host_stops_its_build_and_says_nothing_more() {
        let mut pair = Pair::building(&["x"]);
        assert_eq!(pair.arbiter.gone("b"), Ok(None));
        pair.look();
        assert_eq!(pair.effects(), [CandidateEffect::CancelBuild { grant: G1 }]);
        assert_eq!(pair.word(), "nothing");
        assert_eq!(pair.candidate.running(), Some(G1), "it has not stopped yet");
    }

    #[test]
    fn it_comes_back_only_when_its_build_has_really_stopped() {
        let mut pair = Pair::building(&["x"]);
        assert_eq!(pair.arbiter.gone("b"), Ok(None));
        pair.look();
        assert_eq!(pair.effects().len(), 1, "nothing but the cancel");
        let too_early = pair.candidate.come_back(Incarnation(2));
        assert_eq!(too_early, Err(CandidateRefusal::NotExpelled));
        pair.ends(Outcome::Abandoned);
        let above = Incarnation(1);
        assert_eq!(pair.effects(), [CandidateEffect::Return { above }]);
        assert_eq!(pair.word(), "nothing", "its end is not reported");
        assert_eq!(pair.candidate.come_back(Incarnation(2)), Ok(()));
        assert_eq!(pair.candidate.host(), &host("b.2"));
    }

    #[test]
    fn who_wanted_the_job_asks_at_once_under_the_new_life() {
        let mut pair = Pair::asking();
        expel(&mut pair);
        assert_eq!(pair.candidate.come_back(Incarnation(2)), Ok(()));
        assert_eq!(pair.word(), "Asking");
        pair.exchange();
        assert_eq!(pair.phase(), "planning(g2)");
    }

    #[test]
    fn who_stood_down_does_not_ask_again() {
        let mut pair = Pair::asking();
        pair.candidate.stand_down();
        expel(&mut pair);
        assert_eq!(pair.candidate.come_back(Incarnation(2)), Ok(()));
        assert_eq!(pair.phase(), "idle");
        assert_eq!(pair.word(), "nothing");
    }

    #[test]
    fn in_its_new_life_who_stood_down_may_watch() {
        let mut pair = Pair::asking();
        pair.candidate.stand_down();
        expel(&mut pair);
        assert_eq!(pair.candidate.come_back(Incarnation(2)), Ok(()));
        assert_eq!(pair.candidate.wish(), Wish::StandDown);
        pair.candidate.watch();
        assert_eq!(pair.candidate.wish(), Wish::Watch);
    }

    #[test]
    fn a_life_that_may_have_been_used_is_refused() {
        let mut pair = Pair::asking();
        assert_eq!(pair.arbiter.gone("b.4"), Ok(None));
        expel(&mut pair);
        for used in [1, 4] {
            let above = Incarnation(4);
            assert_eq!(
                pair.candidate.come_back(Incarnation(used)),
                Err(CandidateRefusal::IncarnationReused { above })
            );
        }
        assert_eq!(pair.candidate.come_back(Incarnation(5)), Ok(()));
    }

    #[test]
    fn only_who_was_expelled_comes_back() {
        let mut pair = Pair::asking();
        let refused = pair.candidate.come_back(Incarnation(2));
        assert_eq!(refused, Err(CandidateRefusal::NotExpelled));
    }

    #[test]
    fn who_was_expelled_ignores_wishes_to_speak() {
        let mut pair = Pair::asking();
        expel(&mut pair);
        pair.candidate.stand_down();
        pair.candidate.ask();
        pair.candidate.stand_down_after();
        assert_eq!(pair.word(), "nothing");
    }

    #[test]
    fn a_word_that_it_never_said_expels_with_an_alarm() {
        let mut pair = Pair::asking();
        let foreign = pair.arbiter.says_numbered("b", 9, Standing::StoodDown);
        assert_eq!(foreign, Ok(None));
        pair.look();
        let alarm = Alarm::ForeignWord { seen: Seq(9), own: Seq(1) };
        let above = Incarnation(1);
        assert_eq!(
            pair.effects(),
            [CandidateEffect::Alarm(alarm), CandidateEffect::Return { above }]
        );
        assert!(pair.is_expelled());
    }

    #[test]
    fn another_record_expels_and_closes_the_gate() {
        let mut pair = Pair::building(&[]);
        pair.ends(Outcome::Clean);
        pair.exchange();
        assert_eq!(pair.candidate.gate(), Gate::Open);
        let found = RecordId(8);
        let other = Record::new(found).view_for(&host("b"), &"v1".into());
        pair.read(other);
        assert!(pair.is_expelled());
        let why = Unreadable::OtherRecord { found };
        assert_eq!(pair.candidate.gate(), Gate::Unknown { why });
    }

    #[test]
    fn a_build_of_a_record_that_was_replaced_is_stopped_and_not_reported() {
        let mut pair = Pair::building(&["x"]);
        let other = Record::new(RecordId(8));
        pair.read(other.view_for(&host("b"), &"v1".into()));
        assert_eq!(pair.effects(), [CandidateEffect::CancelBuild { grant: G1 }]);
        pair.ends(Outcome::Clean);
        let above = Incarnation(1);
        assert_eq!(pair.effects(), [CandidateEffect::Return { above }]);
        assert_eq!(pair.word(), "nothing");
    }

    #[test]
    fn a_new_life_reads_nothing_older_than_the_last_one_did() {
        let mut pair = Pair::asking();
        let old = pair.arbiter.view("b.2");
        expel(&mut pair);
        assert_eq!(pair.candidate.come_back(Incarnation(2)), Ok(()));
        let held = pair.arbiter.record.revision();
        let refused = pair.candidate.handle_view(old);
        assert_eq!(refused, Err(CandidateRefusal::OldView { held }));
        pair.look();
    }

    #[test]
    fn a_new_life_reads_another_record_from_its_beginning() {
        let mut pair = Pair::asking();
        pair.look();
        let record = Record::new(RecordId(8));
        pair.read(record.view_for(&host("b"), &"v1".into()));
        assert_eq!(pair.candidate.come_back(Incarnation(2)), Ok(()));
        pair.read(record.view_for(&host("b.2"), &"v1".into()));
        assert_eq!(pair.phase(), "asking");
    }

    fn expel(pair: &mut Pair) {
        assert_eq!(pair.arbiter.gone("b"), Ok(None));
        pair.look();
        assert!(pair.is_expelled());
    }
}

mod asking {
    use super::*;

    #[test]
    fn who_only_watches_has_no_line_and_a_gate() {
        let mut pair = Pair::idle();
        pair.candidate.watch();
        pair.look();
        assert_eq!(pair.word(), "nothing");
        assert_eq!(pair.candidate.gate(), Gate::Waiting { on: None });
        assert_eq!(pair.candidate.wish(), Wish::Watch);
    }

    #[test]
    fn asking_again_says_nothing_new() {
        let mut pair = Pair::asking();
        pair.candidate.ask();
        assert_eq!(pair.candidate.seq(), Seq(1));
        let mut pair = Pair::accepted(&[]);
        pair.candidate.ask();
        assert_eq!(pair.word(), "Accepted(g1)");
    }

    #[test]
    fn who_has_asked_does_not_get_out_of_it_by_watching() {
        let mut pair = Pair::asking();
        pair.candidate.watch();
        assert_eq!(pair.candidate.wish(), Wish::Job);
        assert_eq!(pair.candidate.standing(), Some(&asking()));
    }

    #[test]
    fn it_asks_with_its_priority() {
        let mut candidate = Candidate::new(host("b"), "v1".into(), Priority(3));
        candidate.ask();
        let word = candidate.statement().map(|it| it.standing);
        let priority = Priority(3);
        assert_eq!(word, Some(Standing::Asking { priority }));
    }

    #[test]
    fn each_change_of_standing_takes_the_next_number() {
        let mut pair = Pair::asking();
        assert_eq!(pair.candidate.seq(), Seq(1));
        pair.candidate.stand_down();
        assert_eq!(pair.candidate.seq(), Seq(2));
        pair.candidate.ask();
        assert_eq!(pair.candidate.seq(), Seq(3));
    }

    #[test]
    fn an_approval_lets_it_stand_down_and_opens_the_gate() {
        let mut pair = Pair::idle();
        approve(&mut pair.arbiter);
        pair.candidate.ask();
        pair.exchange();
        assert_eq!(pair.word(), "StoodDown");
        assert_eq!(pair.candidate.gate(), Gate::Open);
    }

    #[test]
    fn a_failure_keeps_it_asking_behind_a_blocked_gate() {
        let mut pair = Pair::idle();
        fail(&mut pair.arbiter);
        pair.candidate.ask();
        pair.exchange();
        assert_eq!(pair.word(), "Asking");
        let reason = "no disk".into();
        assert_eq!(pair.candidate.gate(), Gate::Blocked { reason });
        assert_eq!(pair.arbiter.retry("v1", 1), Ok(None));
        pair.look();
        assert_eq!(pair.phase(), "planning(g2)");
    }

    #[test]
    fn an_offer_that_answers_an_earlier_asking_is_not_taken() {
        let mut pair = Pair::asking();
        let answer = pair.view();
        pair.candidate.stand_down();
        pair.candidate.ask();
        pair.read(answer);
        assert_eq!(pair.phase(), "asking");
        assert_eq!(pair.effects(), []);
    }

    #[test]
    fn an_offer_to_somebody_else_is_not_taken() {
        let mut pair = Pair::idle();
        pair.arbiter.accepts("a", asking());
        pair.candidate.ask();
        pair.exchange();
        assert_eq!(pair.phase(), "asking");
        let on = Some(host("a"));
        assert_eq!(pair.candidate.gate(), Gate::Waiting { on });
    }

    #[test]
    fn an_offer_that_is_gone_when_the_plan_is_ready_is_not_accepted() {
        let mut pair = Pair::planning();
        pair.arbiter.accepts("a", asking());
        assert_eq!(pair.arbiter.lapse(1), Ok(None));
        pair.look();
        let late = pair.candidate.handle_plan(G1, common::chunks(&["x"]));
        assert_eq!(late, Err(CandidateRefusal::NoSuchBuild));
        assert_eq!(pair.word(), "Asking");
    }

    #[test]
    fn a_plan_for_another_grant_than_the_newest_offer_is_refused() {
        let mut pair = Pair::planning();
        assert_eq!(pair.arbiter.revoke(1), Ok(None));
        pair.look();
        let grant = GrantId(2);
        assert_eq!(pair.effects(), [CandidateEffect::MakePlan { grant }]);
        let late = pair.candidate.handle_plan(G1, common::chunks(&[]));
        assert_eq!(late, Err(CandidateRefusal::NoSuchBuild));
        pair.plan(2, &["x"]);
        assert_eq!(pair.word(), "Accepted(g2, plan x)");
    }

    #[test]
    fn a_hold_that_is_shown_as_started_is_no_offer() {
        let mut pair = Pair::asking();
        let mut view = pair.view();
        view.hold = Pair::building(&[]).view().hold;
        pair.read(view);
        assert_eq!(pair.phase(), "asking");
        assert_eq!(pair.effects(), []);
    }

    #[test]
    fn one_offer_asks_for_one_plan() {
        let mut pair = Pair::planning();
        pair.arbiter.accepts("a", asking());
        pair.look();
        assert_eq!(pair.effects(), []);
        assert_eq!(pair.phase(), "planning(g1)");
    }

    #[test]
    fn a_decline_says_stood_down_and_keeps_the_wish() {
        let mut pair = Pair::planning();
        pair.candidate.decline();
        assert_eq!(pair.word(), "StoodDown");
        assert_eq!(pair.candidate.wish(), Wish::Job);
    }
}

mod views {
    use super::*;

    #[test]
    fn a_view_never_goes_back() {
        let mut pair = Pair::asking();
        let old = pair.view();
        pair.arbiter.accepts("a", asking());
        pair.look();
        let before = pair.candidate.clone();
        let held = pair.arbiter.record.revision();
        for view in [old, pair.view()] {
            let refused = pair.candidate.handle_view(view);
            assert_eq!(refused, Err(CandidateRefusal::OldView { held }));
            assert_eq!(pair.candidate, before);
        }
    }

    #[test]
    fn a_view_of_another_life_is_not_read() {
        let mut pair = Pair::asking();
        let view = pair.arbiter.view("b.2");
        let refused = pair.candidate.handle_view(view);
        assert_eq!(refused, Err(CandidateRefusal::NotMine));
    }

    #[test]
    fn a_view_of_a_newer_format_is_not_read_and_the_gate_is_unknown() {
        let mut pair = Pair::asking();
        let mut view = pair.view();
        view.format = FORMAT + 1;
        let found = FORMAT + 1;
        let refused = pair.candidate.handle_view(view);
        assert_eq!(refused, Err(CandidateRefusal::NewerFormat { found }));
        let why = Unreadable::NewerFormat { found };
        assert_eq!(pair.candidate.gate(), Gate::Unknown { why });
        assert_eq!(pair.phase(), "asking");
        pair.look();
        assert_eq!(pair.candidate.gate(), waiting_for_b());
    }

    #[test]
    fn without_a_view_the_gate_is_unknown() {
        let why = Unreadable::NoView;
        assert_eq!(Pair::asking().candidate.gate(), Gate::Unknown { why });
    }

    #[test]
    fn an_unreadable_record_is_neither_yes_nor_no() {
        let mut pair = Pair::asking();
        pair.look();
        let why = Unreadable::Unavailable { reason: "the store is away".into() };
        pair.candidate.handle_unreadable(why.clone());
        assert_eq!(pair.candidate.gate(), Gate::Unknown { why });
        pair.arbiter.accepts("a", asking());
        pair.look();
        assert_eq!(pair.candidate.gate(), waiting_for_b());
    }

    #[test]
    fn an_approval_once_shown_stays_shown() {
        let mut pair = Pair::building(&[]);
        pair.ends(Outcome::Clean);
        pair.exchange();
        let reason = "the store is away".into();
        pair.candidate.handle_unreadable(Unreadable::Unavailable { reason });
        assert_eq!(pair.candidate.gate(), Gate::Open);
        assert_eq!(pair.arbiter.gone("b"), Ok(None));
        pair.look();
        assert_eq!(pair.candidate.come_back(Incarnation(2)), Ok(()));
        assert_eq!(pair.candidate.gate(), Gate::Open);
    }

    #[test]
    fn a_newer_view_without_the_approval_closes_nothing() {
        let mut pair = Pair::building(&[]);
        pair.ends(Outcome::Clean);
        pair.exchange();
        let mut view = pair.view();
        view.revision = view.revision.next();
        view.verdict = None;
        pair.read(view);
        assert_eq!(pair.candidate.gate(), Gate::Open);
    }

    #[test]
    fn another_versions_approval_opens_nothing() {
        let mut pair = Pair::idle();
        pair.arbiter.runs("a", "v2");
        approve(&mut pair.arbiter);
        pair.look();
        assert_eq!(pair.candidate.gate(), Gate::Waiting { on: None });
    }

    #[test]
    fn a_word_is_acknowledged_by_its_own_number_only() {
        let mut pair = Pair::asking();
        pair.look();
        assert!(pair.candidate.is_acknowledged());
        pair.candidate.stand_down();
        assert!(!pair.candidate.is_acknowledged());
        pair.exchange();
        assert!(pair.candidate.is_acknowledged());
    }

    fn waiting_for_b() -> Gate {
        let on = Some(host("b"));
        Gate::Waiting { on }
    }
}

fn approve(arbiter: &mut Arbiter) {
    build(arbiter, Outcome::Clean);
}

fn fail(arbiter: &mut Arbiter) {
    build(arbiter, Outcome::Failed("no disk".into()));
}

/// `a` builds its version under `g1`.
fn build(arbiter: &mut Arbiter, outcome: Outcome) {
    arbiter.accepts("a", asking());
    arbiter.accepts("a", accepted(1, &[]));
    arbiter.accepts("a", finished(1, outcome, &[]));
}
