//! What holds of the scenario language for all texts: it never panics, and it reads what it prints.

use handover_sim::scenario::{
    Arbiter, BuildOutcome, Command, Content, Ending, Fact, Grant, Header, HoldFact, HostNumber,
    HostRef, HostVersion, Keyword, Line, Link, Property, Scenario, Span, Target, Work, vocabulary,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::RngSeed;

const VARIANTS: &[&str] = &["silent-stand-down", "guarded-report"];

const HEAD: &str = "\
# A title
Prose of the head.
hosts b:v1 c:v1
idle d:v2
arbiters 2
under current holds
under silent-stand-down breaks NoWedge
";

proptest! {
    // The same cases each time: a failure that comes and goes explains nothing.
    #![proptest_config(ProptestConfig {
        cases: 500,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_scenario_is_what_its_print_parses_to(scenario in scenario()) {
        let text = scenario.to_string();
        let parsed = Scenario::parse("printed", &text, VARIANTS);
        let parsed = parsed.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&parsed, &scenario);
        prop_assert_eq!(parsed.to_string(), text);
    }

    #[test]
    fn each_command_begins_with_a_verb_of_the_table(command in command()) {
        let text = command.to_string();
        prop_assert_eq!(text.split(' ').next(), Some(command.verb()));
        prop_assert!(vocabulary::verbs().any(|entry| entry.word() == command.verb()), "{}", text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*") {
        survives(text.as_bytes())?;
    }

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in vec(any::<u8>(), 0..400)) {
        survives(&bytes)?;
    }

    #[test]
    fn no_mutilation_of_a_good_file_makes_the_parser_panic(
        cuts in vec((any::<prop::sample::Index>(), 0_usize..6, select(SPLINTERS)), 1..6)
    ) {
        let mut text = every_example();
        for (at, removed, put) in cuts {
            let mut start = at.index(text.len());
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let rest: String = text[start..].chars().skip(removed).collect();
            text = format!("{}{put}{rest}", &text[..start]);
        }
        survives(text.as_bytes())?;
    }

    #[test]
    fn no_words_in_any_order_make_the_parser_panic(words in vec(select(SPLINTERS), 0..60)) {
        survives(format!("{HEAD}{}", words.join(" ")).as_bytes())?;
    }
}

/// What mutilated files are put together from.
const SPLINTERS: &[&str] = &[
    "",
    " ",
    "\n",
    "\r\n",
    "\t",
    "#",
    "# ",
    "\u{feff}",
    "\u{a0}",
    "\u{1b}",
    "ä",
    "\u{301}",
    "語",
    "->",
    "(",
    ")",
    ",",
    ".",
    ":",
    "=",
    "b",
    "b.1",
    "c",
    "d:v2",
    "g1",
    "g0",
    "x1",
    "record",
    "record2",
    "none",
    "yes",
    "of",
    "failed",
    "then",
    "parent",
    "drains",
    "attempts",
    "under",
    "current",
    "holds",
    "breaks",
    "NoWedge",
    "hosts",
    "slots",
    "ask",
    "deliver",
    "stall",
    "submit",
    "drain",
    "cancel",
    "expect",
    "hold",
    "Offered",
    "Started(b, g1)",
    "gate",
    "open",
    "queue",
    "check",
    "99999999999999999999999",
    "16",
    "Ask",
    "\nask b\n",
    "\nexpect gate b open\n",
];

fn every_example() -> String {
    let verbs = vocabulary::verbs().map(|entry| entry.example.to_owned());
    let facts = vocabulary::facts().map(|entry| format!("expect {}", entry.example));
    let lines: Vec<String> = verbs.chain(facts).collect();
    format!("{HEAD}\n{}\n", lines.join("  # a remark\n"))
}

/// Reads `bytes`. What parses must print to what parses to the same; a mistake must be shown, at a
/// place that exists.
fn survives(bytes: &[u8]) -> Result<(), TestCaseError> {
    match Scenario::parse_bytes("any", bytes, VARIANTS) {
        Ok(scenario) => {
            let text = scenario.to_string();
            let again = Scenario::parse("printed", &text, VARIANTS);
            let again = again.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
            prop_assert_eq!(again, scenario);
        }
        Err(error) => {
            prop_assert!(!error.to_string().is_empty());
            let text = String::from_utf8_lossy(bytes);
            for diagnostic in error.diagnostics() {
                let lines = text.split('\n').count();
                prop_assert!((1..=lines).contains(&diagnostic.line));
                prop_assert!(diagnostic.text.get(diagnostic.span.clone()).is_some());
                let place = format!("any:{}:{}", diagnostic.line, diagnostic.column);
                prop_assert!(error.to_string().contains(&place), "{} in {}", place, error);
            }
        }
    }
    Ok(())
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let prose = vec("[A-Z][a-z#, ]{0,20}[a-z]", 0..3);
    let body = vec(body_line(), 0..20);
    ("[A-Z][a-z#]{0,9}( [a-z(]{1,9}){0,4}", prose, head(), body).prop_map(
        |(title, prose, head, body)| {
            let prose = prose.into_iter().map(|text| Line::from(Content::Prose(text)));
            Scenario::from_lines(title, prose.chain(head).chain(body).collect())
        },
    )
}

fn head() -> impl Strategy<Value = Vec<Line>> {
    let host = |name: &str, version: &str| HostVersion {
        name: name.to_owned(),
        version: version.to_owned(),
    };
    let hosts = Header::Hosts(vec![host("b", "v1"), host("c", "v-1.0_x")]);
    let idle = Header::Idle(vec![host("d", "2")]);
    let under = |variant: &str, ending| Header::Under { variant: variant.to_owned(), ending };
    let needed = vec![
        hosts,
        idle,
        Header::Arbiters(2),
        under("current", Ending::Holds),
        under("silent-stand-down", Ending::Breaks(Property::NoWedge)),
    ];
    let names = || subsequence(vec!["b", "c", "d"], 1..=3);
    let numbers = move |range: std::ops::RangeInclusive<u32>| {
        (names(), vec(range, 3)).prop_map(|(names, numbers)| -> Vec<HostNumber> {
            let pairs = names.into_iter().zip(numbers);
            pairs.map(|(name, number)| HostNumber { name: name.to_owned(), number }).collect()
        })
    };
    let more = (
        of(subsequence(vec!["base", "assets", "c-3"], 1..=3)),
        of(numbers(1..=64)),
        of(numbers(0..=1_000)),
        of(names()),
    );
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
    (more, vec(remark(), 9)).prop_flat_map(move |((chunks, slots, priority, pinned), remarks)| {
        let mut headers = needed.clone();
        headers.extend(chunks.map(|chunks| Header::Chunks(owned(chunks))));
        headers.extend(slots.map(Header::Slots));
        headers.extend(priority.map(Header::Priority));
        headers.extend(pinned.map(|names| Header::Pinned(owned(names))));
        let remarked = headers.into_iter().zip(remarks);
        let lines: Vec<Line> = remarked
            .map(|(header, remark)| Line::new(Content::Header(header), remark, Span::default()))
            .collect();
        Just(lines).prop_shuffle()
    })
}

fn body_line() -> impl Strategy<Value = Line> {
    prop_oneof![
        1 => Just(Line::from(Content::Blank)),
        1 => "|[ a-z#]{0,9}[a-z#]".prop_map(|text| Line::from(Content::Comment(text))),
        8 => (command(), remark()).prop_map(|(command, remark)| {
            Line::new(Content::Command(command), remark, Span::default())
        }),
    ]
}

fn remark() -> impl Strategy<Value = Option<String>> {
    of("[ a-z#]{0,9}[a-z#]")
}

fn command() -> BoxedStrategy<Command> {
    prop_oneof![protocol(), executor(), network(), faults(), operator(), judging()].boxed()
}

fn protocol() -> impl Strategy<Value = Command> {
    prop_oneof![
        host().prop_map(|host| Command::Ask { host }),
        host().prop_map(|host| Command::Watch { host }),
        (host(), any::<bool>()).prop_map(|(host, after)| Command::StandDown { host, after }),
        link().prop_map(|link| Command::Deliver { link }),
        arbiter().prop_map(|arbiter| Command::Publish { arbiter }),
        link().prop_map(|link| Command::Repeat { link }),
        target().prop_map(|target| Command::Stall { target }),
        target().prop_map(|target| Command::Flow { target }),
        (host(), subsequence(vec!["base", "none", "failed"], 0..=3)).prop_map(|(host, chunks)| {
            Command::Plan { host, chunks: chunks.into_iter().map(str::to_owned).collect() }
        }),
        (host(), name(), any::<bool>()).prop_map(|(host, chunk, failed)| Command::SignOff {
            host,
            chunk,
            failed
        }),
    ]
}

fn executor() -> impl Strategy<Value = Command> {
    let outcome =
        prop_oneof![Just(BuildOutcome::Clean), of(reason()).prop_map(BuildOutcome::Failed)];
    prop_oneof![
        (host(), of(work()), outcome).prop_map(|(host, work, outcome)| Command::BuildEnds {
            host,
            work,
            outcome
        }),
        (host(), of(work())).prop_map(|(host, work)| Command::BuildStops { host, work }),
        (host(), build(), of(build()), of(keyword())).prop_map(|(host, build, parent, drains)| {
            Command::Submit { host, build, parent, drains }
        }),
        (host(), keyword(), keyword(), keyword()).prop_map(|(host, term, then, at_deadline)| {
            Command::Drain { host, term, then, at_deadline }
        }),
        host().prop_map(|host| Command::Undrain { host }),
        host().prop_map(|host| Command::Deadline { host }),
        host().prop_map(|host| Command::Interrupt { host }),
        (host(), vec("[a-z(][a-z#,>-]{0,5}", 0..4))
            .prop_map(|(host, words)| Command::Step { host, words }),
    ]
}

fn network() -> impl Strategy<Value = Command> {
    prop_oneof![
        link().prop_map(|link| Command::Lose { link }),
        link().prop_map(|link| Command::Double { link }),
        link().prop_map(|link| Command::Overtake { link }),
        link().prop_map(|link| Command::Delay { link }),
        host().prop_map(|host| Command::Cut { host }),
        (host(), 0_u32..=16).prop_map(|(host, behind)| Command::Stale { host, behind }),
        arbiter().prop_map(|arbiter| Command::ArbiterCrash { arbiter }),
        arbiter().prop_map(|arbiter| Command::Conflict { arbiter }),
        arbiter().prop_map(|arbiter| Command::UnknownCommit { arbiter }),
    ]
}

fn faults() -> impl Strategy<Value = Command> {
    let boot = || (select(&["b", "c", "d"]).prop_map(str::to_owned), of(version()));
    prop_oneof![
        (host(), 1_u32..=1_000).prop_map(|(host, factor)| Command::Slow { host, factor }),
        host().prop_map(|host| Command::Pause { host }),
        host().prop_map(|host| Command::Resume { host }),
        host().prop_map(|host| Command::Crash { host }),
        host().prop_map(|host| Command::Gone { host }),
        boot().prop_map(|(name, version)| Command::Boot { name, version }),
        boot().prop_map(|(name, version)| Command::Overlap { name, version }),
        host().prop_map(|host| Command::Reuse { host }),
        host().prop_map(|host| Command::LoseDisk { host }),
        host().prop_map(|host| Command::Suspect { host }),
        host().prop_map(|host| Command::Trust { host }),
        host().prop_map(|host| Command::Reask { host }),
        (host(), of(reason())).prop_map(|(host, reason)| Command::Fail { host, reason }),
        host().prop_map(|host| Command::Hang { host }),
        (host(), name()).prop_map(|(host, chunk)| Command::Unsigned { host, chunk }),
    ]
}

fn operator() -> impl Strategy<Value = Command> {
    prop_oneof![
        grant().prop_map(|grant| Command::Lapse { grant }),
        (grant(), keyword(), of(reason())).prop_map(|(grant, then, reason)| Command::CancelGrant {
            grant,
            then,
            reason
        }),
        (host(), build()).prop_map(|(host, build)| Command::CancelBuild { host, build }),
        (grant(), of(reason())).prop_map(|(grant, reason)| Command::Revoke { grant, reason }),
        (known_version(), grant()).prop_map(|(version, grant)| Command::Retry { version, grant }),
    ]
}

fn judging() -> impl Strategy<Value = Command> {
    let under = of(Just("silent-stand-down".to_owned()));
    prop_oneof![
        1 => Just(Command::Heal),
        1 => Just(Command::Rest),
        1 => of(keyword()).prop_map(|property| Command::Check { property }),
        20 => (under, fact()).prop_map(|(under, fact)| Command::Expect { under, fact }),
    ]
}

fn fact() -> impl Strategy<Value = Fact> {
    let yes = any::<bool>;
    prop_oneof![
        hold().prop_map(Fact::Hold),
        (host(), keyword()).prop_map(|(host, gate)| Fact::Gate { host, gate }),
        (known_version(), keyword())
            .prop_map(|(version, verdict)| Fact::Verdict { version, verdict }),
        (host(), of(keyword())).prop_map(|(host, standing)| Fact::Line { host, standing }),
        (host(), keyword()).prop_map(|(host, state)| Fact::Host { host, state }),
        (host(), keyword(), of(grant())).prop_map(|(host, standing, grant)| Fact::Said {
            host,
            standing,
            grant
        }),
        keyword().prop_map(|refusal| Fact::Refused { refusal }),
        keyword().prop_map(|remark| Fact::Answered { remark }),
        (host(), yes()).prop_map(|(host, yes)| Fact::Building { host, yes }),
        (0_u32..=64).prop_map(|count| Fact::Builders { count }),
        (host(), build(), keyword(), of(0_u32..=1_000)).prop_map(
            |(host, build, state, attempts)| Fact::Build { host, build, state, attempts }
        ),
        (host(), build(), yes()).prop_map(|(host, build, yes)| Fact::Workspace {
            host,
            build,
            yes
        }),
        (host(), yes(), of(keyword())).prop_map(|(host, yes, then)| Fact::Draining {
            host,
            yes,
            then: then.filter(|_| yes)
        }),
        (host(), yes()).prop_map(|(host, yes)| Fact::Drained { host, yes }),
        (host(), 0_u32..=64).prop_map(|(host, count)| Fact::FreeSlots { host, count }),
        (host(), subsequence(vec!["x1", "x2", "parent"], 0..=3)).prop_map(|(host, builds)| {
            Fact::Queue { host, builds: builds.into_iter().map(str::to_owned).collect() }
        }),
        (0_u32..=1_000_000).prop_map(|count| Fact::Offers { count }),
        Just(Fact::Converged),
        Just(Fact::Stuck),
    ]
}

fn hold() -> impl Strategy<Value = HoldFact> {
    prop_oneof![
        Just(HoldFact::None),
        (host(), grant()).prop_map(|(host, grant)| HoldFact::Offered { host, grant }),
        (host(), grant(), any::<bool>()).prop_map(|(host, grant, cancelling)| {
            HoldFact::Started { host, grant, cancelling }
        }),
    ]
}

fn host() -> impl Strategy<Value = HostRef> {
    (select(&["b", "c", "d"]), of(1_u64..=1_000_000))
        .prop_map(|(name, incarnation)| HostRef { name: name.to_owned(), incarnation })
}

fn arbiter() -> impl Strategy<Value = Arbiter> {
    select(&[Arbiter::First, Arbiter::Second])
}

fn link() -> impl Strategy<Value = Link> {
    prop_oneof![
        (host(), arbiter()).prop_map(|(host, arbiter)| Link::ToRecord(host, arbiter)),
        (arbiter(), host()).prop_map(|(arbiter, host)| Link::FromRecord(arbiter, host)),
    ]
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![link().prop_map(Target::Link), arbiter().prop_map(Target::Arbiter)]
}

fn grant() -> impl Strategy<Value = Grant> {
    (1_u64..=1_000_000).prop_map(Grant)
}

fn work() -> impl Strategy<Value = Work> {
    prop_oneof![build().prop_map(Work::Build), grant().prop_map(Work::Grant)]
}

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_-]{0,8}"
}

fn build() -> impl Strategy<Value = String> {
    prop_oneof!["x[0-9_-]{0,3}", Just("parent".to_owned()), Just("drains".to_owned())]
}

fn version() -> impl Strategy<Value = String> {
    "[A-Za-z0-9][A-Za-z0-9._-]{0,8}"
}

/// A version of the head.
fn known_version() -> impl Strategy<Value = String> {
    select(&["v1", "v-1.0_x", "2"]).prop_map(str::to_owned)
}

/// Words that could be taken for those of a form are among them.
fn reason() -> impl Strategy<Value = String> {
    "(again|block|failed|[a-z(][a-z#>:-]{0,6})( (then|of|[a-zA-Z][a-z#]{0,6})){0,3}"
}

fn keyword<K: Keyword + std::fmt::Debug>() -> impl Strategy<Value = K> {
    select(K::ALL)
}
