//! What an arbiter can be told (Ar1 to Ar6): each refusal, each remark, each effect.

use crate::common::{self, Arbiter, accepted, asking, building, finished, host};
use handover_core::{
    GrantId, Incarnation, Outcome, Refusal, Remark, Seq, Standing, Then, Ticket, Version,
};

mod statements {
    use super::*;

    #[test]
    fn an_idle_record_offers_the_job_to_the_first_who_asks() {
        let arbiter = Arbiter::asked_by(&["a", "b"]);
        assert_eq!(arbiter.hold(), "Offered(a, g1)");
    }

    #[test]
    fn a_gone_host_is_refused() {
        let mut arbiter = Arbiter::asked_by(&["a"]);
        assert_eq!(arbiter.gone("a"), Ok(None));
        assert_eq!(arbiter.says("a", asking()), Err(Refusal::Gone));
        assert_eq!(arbiter.says("a.2", asking()), Ok(None));
    }

    #[test]
    fn a_life_below_a_gone_one_that_never_spoke_is_refused() {
        let mut arbiter = Arbiter::new();
        assert_eq!(arbiter.gone("a.2"), Ok(None));
        assert_eq!(arbiter.says("a.1", asking()), Err(Refusal::Gone));
    }

    #[test]
    fn a_process_that_outlives_its_successor_may_still_speak() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        assert_eq!(arbiter.gone("a.2"), Ok(None));
        assert_eq!(arbiter.hold(), "Started(a, g1)");
        arbiter.accepts("a", building(1, &[]));
        arbiter.accepts("a", finished(1, Outcome::Clean, &[]));
        assert_eq!(arbiter.verdict("v1"), "Approved(g1)");
    }

    #[test]
    fn a_number_that_is_not_above_the_lines_is_outdated() {
        let mut arbiter = Arbiter::new();
        assert_eq!(arbiter.says_numbered("a", 5, asking()), Ok(None));
        for seq in [0, 4, 5] {
            let refused = arbiter.says_numbered("a", seq, Standing::StoodDown);
            assert_eq!(refused, Err(Refusal::Outdated { seen: Seq(5) }));
        }
        assert_eq!(arbiter.hold(), "Offered(a, g1)");
        assert_eq!(
            arbiter.says_numbered("a", 9, Standing::StoodDown),
            Ok(None),
            "numbers may skip: the words between were lost"
        );
    }

    #[test]
    fn another_version_in_one_life_is_refused() {
        let mut arbiter = Arbiter::asked_by(&["a"]);
        arbiter.runs("a", "v2");
        let known = Version::new("v1");
        assert_eq!(arbiter.says("a", asking()), Err(Refusal::VersionChanged { known }));
        arbiter.runs("a.2", "v2");
        assert_eq!(arbiter.says("a.2", asking()), Ok(None));
    }

    #[test]
    fn who_is_only_offered_the_job_can_neither_build_nor_report() {
        for grant in [1, 2, 0] {
            for standing in [
                building(grant, &[]),
                finished(grant, Outcome::Clean, &[]),
                finished(grant, Outcome::Abandoned, &[]),
            ] {
                let mut arbiter = Arbiter::asked_by(&["a"]);
                refuses_as_impossible(&mut arbiter, standing);
            }
        }
    }

    #[test]
    fn who_builds_under_one_grant_says_nothing_about_another() {
        for standing in
            [accepted(2, &[]), building(2, &[]), building(0, &[]), finished(2, Outcome::Clean, &[])]
        {
            let mut arbiter = Arbiter::started_by_a(&["x"]);
            refuses_as_impossible(&mut arbiter, standing);
        }
    }

    fn refuses_as_impossible(arbiter: &mut Arbiter, standing: Standing) {
        let before = arbiter.record.clone();
        let refused = arbiter.says("a", standing);
        assert_eq!(refused, Err(Refusal::Impossible));
        assert!(refused.is_err_and(|refusal| refusal.is_alarm()));
        assert_eq!(arbiter.record, before, "the line stays");
    }

    #[test]
    fn an_acceptance_of_an_earlier_offer_leaves_the_present_one_alone() {
        let mut arbiter = Arbiter::asked_by(&["a"]);
        assert_eq!(arbiter.revoke(1), Ok(None));
        assert_eq!(arbiter.hold(), "Offered(a, g2)");
        let found = Some(GrantId(2));
        assert_eq!(arbiter.says("a", accepted(1, &[])), Ok(Some(Remark::StaleGrant { found })));
        assert_eq!(arbiter.hold(), "Offered(a, g2)");
        let line = arbiter.record.line(&host("a")).expect("a has spoken");
        assert_eq!(line.standing, accepted(1, &[]), "and it is acknowledged");
    }

    #[test]
    fn a_word_about_a_grant_that_nobody_holds_is_acknowledged_and_without_effect() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        assert_eq!(arbiter.revoke(1), Ok(None));
        let remark = arbiter.says("a", finished(1, Outcome::Clean, &[]));
        assert_eq!(remark, Ok(Some(Remark::StaleGrant { found: None })));
        assert_eq!(arbiter.view("a").acknowledged, Some(Seq(3)));
        assert_eq!(arbiter.verdict("v1"), "none");
    }

    #[test]
    fn another_hosts_report_under_the_holds_grant_is_without_effect() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        let holder = host("a");
        assert_eq!(
            arbiter.says("b", finished(1, Outcome::Clean, &[])),
            Ok(Some(Remark::NotHolder { holder }))
        );
        assert_eq!(arbiter.hold(), "Started(a, g1)");
        assert_eq!(arbiter.verdict("v1"), "none");
        assert_eq!(arbiter.view("b").acknowledged, Some(Seq(1)));
    }

    #[test]
    fn a_chunk_outside_the_plan_is_remarked_and_the_rest_counts() {
        let mut arbiter = Arbiter::started_by_a(&["x"]);
        let remark = arbiter.says("a", building(1, &["x", "y!"]));
        let chunk = "y".into();
        assert_eq!(remark, Ok(Some(Remark::UnknownChunk { chunk })));
        let hold = arbiter.record.hold().expect("a builds");
        assert_eq!(hold.signed_off, common::signed(&["x"]));
    }

    #[test]
    fn an_accepted_word_makes_a_new_revision_even_where_it_repeats_the_last() {
        let mut arbiter = Arbiter::asked_by(&["a"]);
        let revision = arbiter.record.revision();
        arbiter.accepts("a", asking());
        assert_eq!(arbiter.record.revision(), revision.next());
        assert_eq!(arbiter.view("a").acknowledged, Some(Seq(2)));
    }

    #[test]
    fn a_record_tells_the_numbers_that_come_next() {
        let arbiter = Arbiter::asked_by(&["a", "b"]);
        let parts = arbiter.record.to_parts();
        assert_eq!(arbiter.record.next_grant(), GrantId(2), "g1 is offered");
        assert_eq!(arbiter.record.next_ticket(), parts.next_ticket);
        assert!(parts.lines.values().all(|line| line.ticket < arbiter.record.next_ticket()));
        assert_eq!(parts.lines.len(), 2);
    }

    #[test]
    fn asking_again_keeps_the_place_and_asking_anew_takes_a_new_one() {
        let ticket = |arbiter: &Arbiter, name| arbiter.record.line(&host(name)).map(|it| it.ticket);
        let mut arbiter = Arbiter::asked_by(&["a", "b"]);
        assert_eq!(ticket(&arbiter, "b"), Some(Ticket(2)));
        arbiter.accepts("b", asking());
        assert_eq!(ticket(&arbiter, "b"), Some(Ticket(2)));
        arbiter.accepts("b", Standing::StoodDown);
        arbiter.accepts("b", asking());
        assert_eq!(ticket(&arbiter, "b"), Some(Ticket(3)));
    }

    #[test]
    fn a_word_says_nothing_about_another_life() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        arbiter.accepts("a.2", asking());
        arbiter.accepts("a.2", Standing::StoodDown);
        assert_eq!(arbiter.hold(), "Started(a, g1)");
        assert!(arbiter.record.line(&host("a")).is_some());
    }
}

mod gone {
    use super::*;

    #[test]
    fn only_its_own_line_goes() {
        let mut arbiter = Arbiter::asked_by(&["b", "a", "a.2"]);
        assert_eq!(arbiter.gone("a.2"), Ok(None));
        assert!(arbiter.record.line(&host("a")).is_some());
        assert!(arbiter.record.line(&host("a.2")).is_none());
        assert!(arbiter.view("a.2").gone);
        assert!(!arbiter.view("a").gone);
    }

    #[test]
    fn the_lives_up_to_the_one_declared_gone_have_ended_but_for_those_with_a_line() {
        let mut arbiter = Arbiter::asked_by(&["a"]);
        assert_eq!(arbiter.gone("a.3"), Ok(None));
        let is_gone = |name| arbiter.record.is_gone(&host(name));
        assert!(is_gone("a.2") && is_gone("a.3"));
        assert!(!is_gone("a.4"), "it came after");
        assert!(!is_gone("a"), "it has outlived its successor");
        assert!(!is_gone("b.2"), "nobody says so");
    }

    #[test]
    fn the_job_of_who_is_gone_is_offered_to_the_next_in_the_same_fold() {
        for accepted_first in [false, true] {
            let mut arbiter = Arbiter::asked_by(&["a", "b"]);
            if accepted_first {
                arbiter.accepts("a", accepted(1, &[]));
            }
            assert_eq!(arbiter.gone("a"), Ok(None));
            assert_eq!(arbiter.hold(), "Offered(b, g2)");
        }
    }

    #[test]
    fn an_older_life_declared_later_does_not_lower_what_is_gone() {
        let mut arbiter = Arbiter::asked_by(&["a"]);
        assert_eq!(arbiter.gone("a.3"), Ok(None));
        assert_eq!(arbiter.gone("a"), Ok(None));
        assert_eq!(arbiter.record.gone(&"a".into()), Some(Incarnation(3)));
        assert_eq!(arbiter.says("a.2", asking()), Err(Refusal::Gone));
    }

    #[test]
    fn declaring_it_twice_is_refused() {
        let mut arbiter = Arbiter::asked_by(&["a"]);
        assert_eq!(arbiter.gone("a"), Ok(None));
        assert_eq!(arbiter.gone("a"), Err(Refusal::AlreadyGone));
        assert_eq!(arbiter.gone("a.0"), Err(Refusal::AlreadyGone));
    }

    #[test]
    fn who_asked_and_is_gone_is_not_elected() {
        let mut arbiter = Arbiter::asked_by(&["a", "b", "c"]);
        assert_eq!(arbiter.gone("b"), Ok(None));
        arbiter.accepts("a", Standing::StoodDown);
        assert_eq!(arbiter.hold(), "Offered(c, g2)");
    }
}

mod retry {
    use super::*;

    #[test]
    fn a_failure_is_taken_back_and_the_job_offered_again() {
        let mut arbiter = failed();
        assert_eq!(arbiter.hold(), "nobody", "nobody is elected for a failure");
        assert_eq!(arbiter.retry("v1", 1), Ok(None));
        assert_eq!(arbiter.verdict("v1"), "none");
        assert_eq!(arbiter.hold(), "Offered(b, g2)");
    }

    #[test]
    fn another_grant_than_the_failures_is_stale() {
        let mut arbiter = failed();
        let found = Some(GrantId(1));
        assert_eq!(arbiter.retry("v1", 2), Err(Refusal::StaleGrant { found }));
        let found = None;
        assert_eq!(arbiter.retry("v2", 1), Err(Refusal::StaleGrant { found }));
        assert_eq!(arbiter.verdict("v1"), "Failed(g1): no disk");
    }

    #[test]
    fn an_approval_is_not_taken_back() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        arbiter.accepts("a", finished(1, Outcome::Clean, &[]));
        assert_eq!(arbiter.retry("v1", 1), Err(Refusal::NotFailed));
        assert_eq!(arbiter.verdict("v1"), "Approved(g1)");
    }

    fn failed() -> Arbiter {
        let mut arbiter = Arbiter::started_by_a(&[]);
        arbiter.accepts("b", asking());
        arbiter.accepts("a", finished(1, Outcome::Failed("no disk".into()), &[]));
        assert_eq!(arbiter.verdict("v1"), "Failed(g1): no disk");
        arbiter
    }
}

mod lapse {
    use super::*;

    #[test]
    fn an_offer_goes_to_the_next_and_its_line_behind_all_others() {
        let mut arbiter = Arbiter::asked_by(&["a", "b"]);
        assert_eq!(arbiter.lapse(1), Ok(None));
        assert_eq!(arbiter.hold(), "Offered(b, g2)");
        let line = arbiter.record.line(&host("a")).expect("a still asks");
        assert!(line.passed_over);
        assert_eq!(line.ticket, Ticket(3));
    }

    #[test]
    fn who_are_passed_over_take_turns() {
        let mut arbiter = Arbiter::asked_by(&["a", "b", "c"]);
        for (grant, next) in [(1, "b"), (2, "c"), (3, "a"), (4, "b"), (5, "c"), (6, "a")] {
            assert_eq!(arbiter.lapse(grant), Ok(None));
            assert_eq!(arbiter.hold(), format!("Offered({next}, g{})", grant + 1));
        }
    }

    #[test]
    fn a_word_of_who_was_passed_over_puts_it_back_among_the_others() {
        let mut arbiter = Arbiter::asked_by(&["a", "b", "c"]);
        assert_eq!(arbiter.lapse(1), Ok(None));
        arbiter.accepts("a", asking());
        assert!(!arbiter.record.line(&host("a")).expect("it asks").passed_over);
        assert_eq!(arbiter.lapse(2), Ok(None));
        assert_eq!(arbiter.lapse(3), Ok(None));
        assert_eq!(
            arbiter.hold(),
            "Offered(a, g4)",
            "before b, which lapsed and has said nothing since"
        );
    }

    #[test]
    fn a_started_hold_does_not_lapse() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        arbiter.accepts("b", asking());
        assert_eq!(arbiter.lapse(1), Err(Refusal::AlreadyStarted));
    }

    #[test]
    fn another_grant_than_the_holds_is_stale() {
        let mut arbiter = Arbiter::new();
        let found = None;
        assert_eq!(arbiter.lapse(1), Err(Refusal::StaleGrant { found }));
        let mut arbiter = Arbiter::asked_by(&["a", "b"]);
        let found = Some(GrantId(1));
        assert_eq!(arbiter.lapse(2), Err(Refusal::StaleGrant { found }));
    }

    #[test]
    fn an_offer_that_nobody_else_could_get_does_not_lapse() {
        let mut arbiter = Arbiter::asked_by(&["a", "b"]);
        arbiter.accepts("b", Standing::StoodDown);
        assert_eq!(arbiter.lapse(1), Err(Refusal::NobodyElse));
    }

    #[test]
    fn an_asker_of_a_version_with_a_verdict_is_nobody_else() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        arbiter.accepts("a", finished(1, Outcome::Clean, &[]));
        arbiter.accepts("b", asking());
        arbiter.runs("c", "v2");
        arbiter.accepts("c", asking());
        assert_eq!(arbiter.hold(), "Offered(c, g2)");
        assert_eq!(arbiter.lapse(2), Err(Refusal::NobodyElse));
    }
}

mod cancel {
    use super::*;

    #[test]
    fn an_offer_is_withdrawn_and_passed_over_and_nothing_is_ruled() {
        for then in [Then::Block, Then::Again] {
            let mut arbiter = Arbiter::asked_by(&["a", "b"]);
            assert_eq!(arbiter.cancel(1, then), Ok(None));
            assert_eq!(arbiter.hold(), "Offered(b, g2)");
            assert!(arbiter.record.line(&host("a")).expect("it asks").passed_over);
            assert_eq!(arbiter.verdict("v1"), "none");
        }
    }

    #[test]
    fn a_started_hold_stays_until_its_host_says_that_the_build_has_stopped() {
        let mut arbiter = Arbiter::started_by_a(&["x"]);
        arbiter.accepts("b", asking());
        assert_eq!(arbiter.cancel(1, Then::Block), Ok(None));
        assert_eq!(arbiter.hold(), "Started(a, g1) cancelling");
        arbiter.accepts("a", building(1, &["x"]));
        assert_eq!(arbiter.hold(), "Started(a, g1) cancelling");
    }

    #[test]
    fn a_clean_report_that_was_on_its_way_still_approves() {
        for then in [Then::Block, Then::Again] {
            let mut arbiter = Arbiter::started_by_a(&["x"]);
            assert_eq!(arbiter.cancel(1, then), Ok(None));
            arbiter.accepts("a", finished(1, Outcome::Clean, &["x"]));
            assert_eq!(arbiter.verdict("v1"), "Approved(g1)");
        }
    }

    /// Each way in which a cancelled hold can end without an approval.
    fn ends() -> Vec<fn(&mut Arbiter)> {
        vec![
            |it| it.accepts("a", finished(1, Outcome::Abandoned, &["x"])),
            |it| it.accepts("a", finished(1, Outcome::Failed("no disk".into()), &["x"])),
            |it| it.accepts("a", finished(1, Outcome::Clean, &[])),
            |it| it.accepts("a", Standing::StoodDown),
            |it| it.accepts("a", asking()),
            |it| assert_eq!(it.gone("a"), Ok(None)),
            |it| assert_eq!(it.revoke(1), Ok(None)),
        ]
    }

    #[test]
    fn block_fails_the_version_in_every_other_end() {
        for end in ends() {
            let mut arbiter = Arbiter::started_by_a(&["x"]);
            arbiter.accepts("b", asking());
            assert_eq!(arbiter.cancel(1, Then::Block), Ok(None));
            end(&mut arbiter);
            assert_eq!(arbiter.verdict("v1"), "Failed(g1): cancelled: wrong branch");
            assert_eq!(arbiter.hold(), "nobody");
        }
    }

    #[test]
    fn again_rules_nothing_in_every_other_end() {
        for end in ends() {
            let mut arbiter = Arbiter::started_by_a(&["x"]);
            arbiter.accepts("b", asking());
            assert_eq!(arbiter.cancel(1, Then::Again), Ok(None));
            end(&mut arbiter);
            assert_eq!(arbiter.verdict("v1"), "none");
            let hold = arbiter.record.hold().expect("somebody is offered the job");
            assert_eq!(hold.grant, GrantId(2));
            assert!(!hold.is_cancelling());
        }
    }

    #[test]
    fn the_first_cancel_stands() {
        let mut arbiter = Arbiter::started_by_a(&["x"]);
        assert_eq!(arbiter.cancel(1, Then::Block), Ok(None));
        let again = arbiter.cancel(1, Then::Again);
        assert_eq!(again, Err(Refusal::AlreadyCancelling));
        arbiter.accepts("a", Standing::StoodDown);
        assert_eq!(arbiter.verdict("v1"), "Failed(g1): cancelled: wrong branch");
    }

    #[test]
    fn another_grant_than_the_holds_is_stale() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        let found = Some(GrantId(1));
        assert_eq!(arbiter.cancel(2, Then::Block), Err(Refusal::StaleGrant { found }));
        assert_eq!(arbiter.hold(), "Started(a, g1)");
    }
}

mod revoke {
    use super::*;

    #[test]
    fn a_started_hold_goes_and_its_line_stays_as_it_is() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        arbiter.accepts("b", asking());
        let line = arbiter.record.line(&host("a")).cloned();
        assert_eq!(arbiter.revoke(1), Ok(None));
        assert_eq!(arbiter.hold(), "Offered(b, g2)");
        assert_eq!(arbiter.record.line(&host("a")).cloned(), line);
        assert_eq!(arbiter.verdict("v1"), "none");
    }

    #[test]
    fn an_offer_goes_and_its_line_is_passed_over() {
        let mut arbiter = Arbiter::asked_by(&["a", "b"]);
        assert_eq!(arbiter.revoke(1), Ok(None));
        assert_eq!(arbiter.hold(), "Offered(b, g2)");
        assert!(arbiter.record.line(&host("a")).expect("it asks").passed_over);
    }

    #[test]
    fn another_grant_than_the_holds_is_stale() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        let found = Some(GrantId(1));
        assert_eq!(arbiter.revoke(0), Err(Refusal::StaleGrant { found }));
        assert_eq!(arbiter.hold(), "Started(a, g1)");
    }
}
