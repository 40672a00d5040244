//! What follows from a record as it is: each row of Ar7, the order of Ar8, views (Ar9), and the
//! changes that carry it.

use std::collections::BTreeSet;

use crate::common::{self, Arbiter, accepted, asking, building, finished, host};
use handover_core::{
    ApplyError, GrantId, Incarnation, Input, Outcome, Priority, Record, Remark, Revision, Seq,
    Standing, Statement, Ticket,
};

/// Ar7, row by row.
mod each_row {
    use super::*;

    /// Refused on its way in (Ar1); a store's rows may hold it all the same.
    #[test]
    fn a_word_about_another_grant_than_the_holds_moves_nothing() {
        let arbiter = Arbiter::started_by_a(&["x"]);
        for standing in [
            building(9, &["x"]),
            finished(9, Outcome::Clean, &["x"]),
            finished(9, Outcome::Failed("no disk".into()), &[]),
        ] {
            let mut parts = arbiter.record.to_parts();
            parts.lines.get_mut(&host("a")).expect("it has accepted").standing = standing;
            let record = Record::from_parts(parts).expect("each row is well formed");
            assert_eq!(record.settle(&BTreeSet::new()), None);
        }
    }

    #[test]
    fn an_offer_is_kept_while_its_host_asks() {
        let mut arbiter = Arbiter::asked_by(&["a", "b"]);
        arbiter.accepts("a", asking());
        assert_eq!(arbiter.hold(), "Offered(a, g1)");
    }

    #[test]
    fn a_stand_down_that_crosses_the_offer_gives_the_job_on_in_the_same_fold() {
        let mut arbiter = Arbiter::asked_by(&["a", "b"]);
        arbiter.accepts("a", Standing::StoodDown);
        assert_eq!(arbiter.hold(), "Offered(b, g2)");
    }

    #[test]
    fn an_acceptance_starts_the_hold_with_its_plan() {
        let arbiter = Arbiter::started_by_a(&["x", "y"]);
        let hold = arbiter.record.hold().expect("a holds");
        let plan = common::chunks(&["x", "y"]);
        assert_eq!(hold.stage, handover_core::Stage::Started { plan });
    }

    #[test]
    fn an_acceptance_said_again_changes_no_plan() {
        let mut arbiter = Arbiter::started_by_a(&["x"]);
        arbiter.accepts("a", accepted(1, &["y"]));
        let hold = arbiter.record.hold().expect("a holds");
        let plan = common::chunks(&["x"]);
        assert_eq!(hold.stage, handover_core::Stage::Started { plan });
    }

    #[test]
    fn of_each_chunk_the_newer_word_counts_and_a_missing_one_keeps_its_last() {
        let mut arbiter = Arbiter::started_by_a(&["x", "y", "z"]);
        arbiter.accepts("a", building(1, &["x!", "y"]));
        arbiter.accepts("a", building(1, &["x", "z!"]));
        let hold = arbiter.record.hold().expect("a holds");
        assert_eq!(hold.signed_off, common::signed(&["x", "y", "z!"]));
    }

    #[test]
    fn a_clean_and_complete_report_approves() {
        let mut arbiter = Arbiter::started_by_a(&["x", "y"]);
        arbiter.accepts("a", building(1, &["x"]));
        arbiter.accepts("a", finished(1, Outcome::Clean, &["y"]));
        assert_eq!(arbiter.verdict("v1"), "Approved(g1)");
        let verdict = arbiter.record.verdict(&"v1".into()).expect("approved");
        assert_eq!(verdict.host, host("a"));
        assert_eq!(verdict.signed_off, common::signed(&["x", "y"]));
        assert_eq!(arbiter.hold(), "nobody");
    }

    #[test]
    fn a_clean_report_without_all_sign_offs_fails() {
        let mut arbiter = Arbiter::started_by_a(&["x", "y"]);
        arbiter.accepts("a", finished(1, Outcome::Clean, &["x"]));
        assert_eq!(arbiter.verdict("v1"), "Failed(g1): chunk y is not signed off");
    }

    #[test]
    fn a_clean_report_with_a_failed_chunk_fails() {
        let mut arbiter = Arbiter::started_by_a(&["x", "y"]);
        arbiter.accepts("a", finished(1, Outcome::Clean, &["x", "y!"]));
        assert_eq!(arbiter.verdict("v1"), "Failed(g1): chunk y: broken");
    }

    #[test]
    fn a_failed_report_fails_whatever_was_signed_off() {
        let mut arbiter = Arbiter::started_by_a(&["x"]);
        arbiter.accepts("a", finished(1, Outcome::Failed("no disk".into()), &["x"]));
        assert_eq!(arbiter.verdict("v1"), "Failed(g1): no disk");
    }

    #[test]
    fn an_abandoned_build_rules_nothing_and_the_job_goes_on() {
        let mut arbiter = Arbiter::started_by_a(&["x"]);
        arbiter.accepts("b", asking());
        arbiter.accepts("a", finished(1, Outcome::Abandoned, &["x"]));
        assert_eq!(arbiter.verdict("v1"), "none");
        assert_eq!(arbiter.hold(), "Offered(b, g2)");
    }

    #[test]
    fn a_holder_that_asks_or_stands_down_builds_no_more() {
        for standing in [asking(), Standing::StoodDown] {
            let mut arbiter = Arbiter::started_by_a(&[]);
            arbiter.accepts("b", asking());
            arbiter.accepts("a", standing);
            let hold = arbiter.record.hold().expect("somebody is offered the job");
            assert_eq!(hold.grant, GrantId(2));
            assert_eq!(arbiter.verdict("v1"), "none");
        }
    }

    #[test]
    fn an_approved_version_stays_approved_under_its_grant() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        arbiter.accepts("a", finished(1, Outcome::Clean, &[]));
        arbiter.accepts("b", asking());
        assert_eq!(arbiter.hold(), "nobody", "nobody is elected for it");
        let again = arbiter.says("a", finished(1, Outcome::Failed("late".into()), &[]));
        assert_eq!(again, Ok(Some(Remark::StaleGrant { found: None })));
        assert_eq!(arbiter.verdict("v1"), "Approved(g1)");
    }
}

/// Ar8.
mod election {
    use super::*;

    /// `a` holds; after `others`, who is next when it stands down?
    fn next_after(others: impl FnOnce(&mut Arbiter)) -> String {
        let mut arbiter = Arbiter::asked_by(&["a"]);
        others(&mut arbiter);
        arbiter.accepts("a", Standing::StoodDown);
        arbiter.hold()
    }

    fn asking_with(priority: u32) -> Standing {
        Standing::Asking { priority: Priority(priority) }
    }

    #[test]
    fn a_higher_priority_is_first() {
        let next = next_after(|it| {
            it.accepts("b", asking_with(1));
            it.accepts("c", asking_with(2));
        });
        assert_eq!(next, "Offered(c, g2)");
    }

    #[test]
    fn among_equals_the_lower_ticket_is_first_whatever_the_names() {
        let next = next_after(|it| {
            it.accepts("d", asking());
            it.accepts("b", asking());
        });
        assert_eq!(next, "Offered(d, g2)");
    }

    #[test]
    fn the_order_is_over_all_versions() {
        let next = next_after(|it| {
            it.runs("b", "v2");
            it.accepts("b", asking());
            it.accepts("c", asking());
        });
        assert_eq!(next, "Offered(b, g2)");
    }

    #[test]
    fn an_alive_asker_is_before_a_suspect_of_higher_priority() {
        let next = next_after(|it| {
            it.accepts("b", asking_with(9));
            it.accepts("c", asking());
            it.suspect("b");
        });
        assert_eq!(next, "Offered(c, g2)");
    }

    #[test]
    fn a_suspect_that_asks_alone_is_offered_the_job() {
        let next = next_after(|it| {
            it.accepts("b", asking());
            it.suspect("b");
        });
        assert_eq!(next, "Offered(b, g2)");
    }

    #[test]
    fn among_suspects_the_first_in_order_is_first() {
        let next = next_after(|it| {
            it.accepts("b", asking());
            it.accepts("c", asking_with(1));
            it.suspect("b");
            it.suspect("c");
        });
        assert_eq!(next, "Offered(c, g2)");
    }

    #[test]
    fn a_suspect_is_before_who_was_passed_over() {
        let mut arbiter = Arbiter::asked_by(&["a", "b", "c"]);
        arbiter.suspect("c");
        assert_eq!(arbiter.lapse(1), Ok(None));
        arbiter.accepts("b", Standing::StoodDown);
        assert_eq!(arbiter.hold(), "Offered(c, g3)");
    }

    #[test]
    fn among_the_passed_over_neither_priority_nor_suspicion_counts() {
        let mut arbiter = Arbiter::new();
        arbiter.accepts("a", asking());
        arbiter.accepts("b", asking_with(9));
        assert_eq!(arbiter.lapse(1), Ok(None));
        assert_eq!(arbiter.lapse(2), Ok(None));
        arbiter.suspect("a");
        arbiter.suspect("b");
        assert_eq!(arbiter.hold(), "Offered(a, g3)");
        assert_eq!(arbiter.lapse(3), Ok(None));
        assert_eq!(arbiter.hold(), "Offered(b, g4)");
    }

    #[test]
    fn each_hand_over_has_a_number_of_its_own() {
        let mut arbiter = Arbiter::asked_by(&["a"]);
        for grant in 1..5 {
            assert_eq!(arbiter.hold(), format!("Offered(a, g{grant})"));
            arbiter.accepts("a", Standing::StoodDown);
            arbiter.accepts("a", asking());
        }
    }
}

/// Ar9.
mod views {
    use super::*;

    #[test]
    fn a_view_shows_its_host_what_concerns_it() {
        let mut arbiter = Arbiter::started_by_a(&["x"]);
        arbiter.runs("b", "v2");
        let view = arbiter.view("b");
        assert_eq!(view.host, host("b"));
        assert_eq!(view.record, arbiter.record.id());
        assert_eq!(view.revision, Revision(2));
        assert_eq!(view.hold.as_deref(), arbiter.record.hold());
        assert_eq!(view.acknowledged, None);
        assert_eq!(view.name_floor, None);
        assert!(!view.gone);
        assert_eq!(arbiter.view("a").acknowledged, Some(Seq(2)));
    }

    #[test]
    fn a_verdict_shows_to_its_own_version_only() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        arbiter.accepts("a", finished(1, Outcome::Clean, &[]));
        arbiter.runs("b", "v2");
        assert!(arbiter.view("a").is_approved());
        assert!(arbiter.view("c").is_approved());
        assert!(!arbiter.view("b").is_approved());
    }

    #[test]
    fn the_floor_is_the_highest_life_that_is_gone_or_has_spoken() {
        let mut arbiter = Arbiter::asked_by(&["a", "a.4", "b.9"]);
        assert_eq!(arbiter.view("a").name_floor, Some(Incarnation(4)));
        assert_eq!(arbiter.gone("a.6"), Ok(None));
        assert_eq!(arbiter.view("a.7").name_floor, Some(Incarnation(6)));
    }
}

/// Changes, and the rows of a store.
mod changes {
    use super::*;
    use handover_core::{Record, RecordError, RecordId, RecordParts};
    use std::collections::BTreeSet;

    fn ask(name: &str) -> Input {
        Input::Statement(Statement {
            host: host(name),
            version: "v1".into(),
            seq: Seq(1),
            standing: asking(),
        })
    }

    #[test]
    fn a_change_applies_once_and_only_where_it_was_folded() {
        let mut record = Record::new(RecordId(1));
        let change =
            record.fold(&ask("a"), &BTreeSet::new()).expect("an empty record believes who asks");
        let mut newer = change.clone();
        newer.format += 1;
        let found = newer.format;
        assert_eq!(record.apply(&newer), Err(ApplyError::NewerFormat { found }));
        let mut back = change.clone();
        back.revision = back.expects;
        assert!(record.apply(&back).is_err(), "a revision only grows");
        let other = Record::new(RecordId(2)).apply(&change);
        assert_eq!(other, Err(ApplyError::OtherRecord { found: RecordId(1) }));
        assert_eq!(record.apply(&change), Ok(()));
        let after = record.clone();
        let conflict = record.apply(&change).expect_err("it was applied");
        let expected = ApplyError::Conflict { expects: Revision(0), found: Revision(1) };
        assert_eq!(conflict, expected);
        assert_eq!(record, after, "a conflict changes nothing");
    }

    #[test]
    fn no_change_brings_a_number_to_its_end() {
        let mut record = Record::new(RecordId(1));
        let change = record.fold(&ask("a"), &BTreeSet::new()).expect("it asks for the first time");
        let ends = u64::MAX / 2 + 1;
        let spoils: [fn(&mut handover_core::Change, u64); 3] = [
            |it, number| it.revision = Revision(number),
            |it, number| it.next_grant = GrantId(number),
            |it, number| it.next_ticket = Ticket(number),
        ];
        for spoil in spoils {
            let mut last = change.clone();
            spoil(&mut last, ends);
            let refused = record.apply(&last);
            assert!(matches!(refused, Err(ApplyError::Contradiction { .. })), "{refused:?}");
        }
        let mut last = change.clone();
        last.revision = Revision(ends - 1);
        assert_eq!(record.apply(&last), Ok(()));
        // A batch on it is still far from the end, and is refused by whoever would take it.
        let inputs = ["b", "c", "d"].map(ask);
        let batch = record.fold_all(&inputs, &BTreeSet::new()).change.expect("they are new");
        assert!(record.apply(&batch).is_err());
    }

    #[test]
    fn a_batch_takes_only_what_was_folded_on_its_outcome() {
        let record = Record::new(RecordId(1));
        let first = record.fold(&ask("a"), &BTreeSet::new()).expect("believed");
        let other = record.fold(&ask("b"), &BTreeSet::new()).expect("believed");
        assert!(first.then(other).is_err());
    }

    fn corrupt(spoil: impl FnOnce(&mut RecordParts)) -> RecordError {
        let mut arbiter = Arbiter::started_by_a(&["x"]);
        arbiter.accepts("b", asking());
        let mut parts = arbiter.record.to_parts();
        assert_eq!(Record::from_parts(parts.clone()), Ok(arbiter.record));
        spoil(&mut parts);
        Record::from_parts(parts).expect_err("rows that contradict each other are no record")
    }

    #[test]
    fn rows_that_contradict_each_other_are_no_record() {
        let found = handover_core::FORMAT + 1;
        assert_eq!(corrupt(|it| it.format = found), RecordError::NewerFormat { found });
        let ends = u64::MAX / 2 + 1;
        assert_eq!(corrupt(|it| it.revision = Revision(ends)), RecordError::Exhausted);
        assert_eq!(corrupt(|it| it.next_grant = GrantId(ends)), RecordError::Exhausted);
        assert_eq!(corrupt(|it| it.next_ticket = Ticket(ends)), RecordError::Exhausted);
        assert_eq!(corrupt(|it| it.next_grant = GrantId(1)), RecordError::GrantReused(GrantId(1)));
        assert_eq!(corrupt(|it| it.next_ticket = Ticket(2)), RecordError::TicketReused(Ticket(2)));
        assert_eq!(
            corrupt(|it| {
                let line = it.lines.get_mut(&host("b")).expect("b asks");
                line.ticket = Ticket(1);
            }),
            RecordError::TicketShared(Ticket(1))
        );
        assert_eq!(
            corrupt(|it| drop(it.lines.remove(&host("a")))),
            RecordError::HoldWithoutLine(host("a"))
        );
        assert_eq!(
            corrupt(|it| {
                let hold = it.hold.as_mut().expect("a holds");
                hold.signed_off = common::signed(&["y"]);
            }),
            RecordError::HoldOutOfStage(GrantId(1))
        );
    }

    #[test]
    fn a_held_version_with_a_verdict_is_no_record() {
        let mut arbiter = Arbiter::started_by_a(&[]);
        arbiter.accepts("a", finished(1, Outcome::Clean, &[]));
        let mut parts = arbiter.record.to_parts();
        parts.hold = Arbiter::started_by_a(&[]).record.hold().cloned();
        assert_eq!(Record::from_parts(parts), Err(RecordError::HoldOfJudgedVersion("v1".into())));
    }

    #[test]
    fn a_restarted_arbiter_settles_what_its_predecessor_left() {
        let mut parts = Arbiter::asked_by(&["a", "b"]).record.to_parts();
        parts.hold = None;
        let mut record = Record::from_parts(parts).expect("nobody holds");
        let change = record.settle(&BTreeSet::new()).expect("askers wait");
        assert_eq!(record.apply(&change), Ok(()));
        assert_eq!(record.hold().map(ToString::to_string).as_deref(), Some("Offered(a, g2)"));
        assert_eq!(record.settle(&BTreeSet::new()), None);
    }
}
