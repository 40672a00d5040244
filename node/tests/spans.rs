//! What a node tells whoever listens.

mod common;

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use common::World;
use common::shop::Shop;
use handover_node::{Build, BuildError, Options};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Writes down spans and events of level info, in their order.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<(Vec<String>, u64)>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            write!(self.0, " {value:?}").expect("a string takes all");
        } else {
            write!(self.0, " {}={value:?}", field.name()).expect("a string takes all");
        }
    }
}

impl Subscriber for Told {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(format!("span {}", span.metadata().name()));
        span.record(&mut fields);
        if let Some(parent) = span.parent() {
            write!(fields.0, " in {}", parent.into_u64()).expect("a string takes all");
        }
        let mut told = self.0.lock().expect("no panic");
        told.1 += 1;
        write!(fields.0, " is {}", told.1).expect("a string takes all");
        told.0.push(fields.0);
        Id::from_u64(told.1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields("event".to_owned());
        event.record(&mut fields);
        self.0.lock().expect("no panic").0.push(fields.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}

    fn try_close(&self, span: Id) -> bool {
        self.0.lock().expect("no panic").0.push(format!("closed {}", span.into_u64()));
        true
    }
}

#[test]
fn a_grant_and_a_build_are_spans_and_each_transition_is_an_event_with_its_ids() {
    let told = Told::default();
    tracing::subscriber::with_default(told.clone(), || {
        let (mut world, shop) = (World::new(1), Shop::new());
        let builder = |_: Build| async { Ok::<_, BuildError>(()) };
        let a = shop.start(&mut world, Options::new("a", "v1"), builder);
        world.run_until("it is open", || a.is_open());
        a.node.shutdown();
        world.run_until("it ends", || a.end().is_some());
    });
    let told = told.0.lock().expect("no panic").0.clone();
    let count = |what: &str| told.iter().filter(|line| line.starts_with(what)).count();
    assert_eq!(count("span grant host=a version=v1 grant=g1 is 1"), 1, "{told:#?}");
    assert_eq!(count("span build host=a version=v1 work=g1 in 1 is 2"), 1, "{told:#?}");
    assert_eq!(count("closed"), 2, "{told:#?}");
    let moves: Vec<_> = told.iter().filter(|line| line.starts_with("event moved")).collect();
    let expected = [
        "event moved host=a seq=1 from=idle to=asking revision=r0",
        "event moved host=a seq=1 from=asking to=planning(g1) revision=r1",
        "event moved host=a seq=2 from=planning(g1) to=accepted(g1) revision=r1",
        "event moved host=a seq=3 from=accepted(g1) to=building(g1) revision=r2",
    ];
    for (found, expected) in moves.iter().zip(expected) {
        assert_eq!(*found, expected);
    }
    assert_eq!(moves.last().map(|line| &line[..30]), Some("event moved host=a seq=5 from="));
}
