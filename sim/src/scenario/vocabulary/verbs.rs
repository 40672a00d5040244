//! The lines of the body.

use super::super::token::{Problem, list};
use super::super::words::Words;
use super::super::{BuildOutcome, CURRENT, CancelThen, Command, DeadlineOutcome, EndAction, Term};
use super::faults::{HOST_FAULTS, NETWORK_FAULTS, OTHER_FAULTS};
use super::{Section, Word, fact, word};

pub(super) const SECTIONS: &[Section<Command>] = &[
    Section { title: "Hosts and the record", words: PROTOCOL },
    Section { title: "Builds and drains", words: EXECUTOR },
    Section { title: "Faults of the network", words: NETWORK_FAULTS },
    Section { title: "Faults of hosts", words: HOST_FAULTS },
    Section { title: "Faults of builds and of the arbiter", words: OTHER_FAULTS },
    Section { title: "The operator", words: OPERATOR },
    Section { title: "Coming to rest, and judging", words: JUDGING },
];

const PROTOCOL: &[Word<Command>] = &[
    word("ask HOST", "The host wants its version prepared, and says so.", "ask b", |words| {
        Ok(Command::Ask { host: words.host()? })
    }),
    word("watch HOST", "The host holds a gate without asking.", "watch b", |words| {
        Ok(Command::Watch { host: words.host()? })
    }),
    word(
        "stand-down HOST [after]",
        "The host stops wanting the job; with `after`, a running build may finish first.",
        "stand-down b after",
        |words| Ok(Command::StandDown { host: words.host()?, after: words.accept("after") }),
    ),
    word(
        "deliver LINK",
        "To the record: the oldest statement is folded, committed and, unless the record is \
         stalled, published. From it: the host reads its oldest view.",
        "deliver b -> record",
        |words| Ok(Command::Deliver { link: words.link()? }),
    ),
    word(
        "publish [record2]",
        "The arbiter publishes what it has committed; a step of its own while the record is \
         stalled.",
        "publish",
        |words| Ok(Command::Publish { arbiter: words.optional_arbiter()? }),
    ),
    word(
        "repeat LINK",
        "The present statement, or the newest view, is said again (rule Dr1).",
        "repeat record -> b",
        |words| Ok(Command::Repeat { link: words.link()? }),
    ),
    word(
        "stall LINK|record",
        "The link delivers nothing, or the arbiter publishes nothing, until it flows again.",
        "stall record",
        |words| Ok(Command::Stall { target: words.target()? }),
    ),
    word("flow LINK|record", "Ends a stall.", "flow record -> b", |words| {
        Ok(Command::Flow { target: words.target()? })
    }),
    word(
        "plan HOST [CHUNK...]",
        "The driver answers with the plan of the build; by default the header's chunks.",
        "plan b base assets",
        |words| Ok(Command::Plan { host: words.host()?, chunks: words.chunks()? }),
    ),
    word(
        "sign-off HOST CHUNK [failed]",
        "The build signs a chunk off.",
        "sign-off b base",
        |words| {
            let (host, chunk) = (words.host()?, words.chunk()?);
            Ok(Command::SignOff { host, chunk, failed: words.accept("failed") })
        },
    ),
];

const EXECUTOR: &[Word<Command>] = &[
    word(
        "build-ends HOST [of WORK] [failed [REASON...]]",
        "A build ends by itself; by default the one under the grant, and well.",
        "build-ends b of g1 failed the disk is full",
        |words| {
            let (host, work) = (words.host()?, words.optional_work()?);
            let outcome = if words.accept("failed") {
                BuildOutcome::Failed(words.rest())
            } else {
                BuildOutcome::Clean
            };
            Ok(Command::BuildEnds { host, work, outcome })
        },
    ),
    word(
        "build-stops HOST [of WORK]",
        "A build that was told to stop has really stopped.",
        "build-stops b of x1",
        |words| Ok(Command::BuildStops { host: words.host()?, work: words.optional_work()? }),
    ),
    word(
        "submit HOST BUILD [parent BUILD] [drains [nothing|restart|stop]]",
        "A build is queued on the host; with `drains`, its success declares a drain.",
        "submit b x2 parent x1 drains restart",
        read_submit,
    ),
    word(
        "drain HOST [this-process|this-version|until-undrained] [then nothing|restart|stop] \
         [at-deadline interrupt|undrain|report]",
        "What runs may finish, nothing new starts. By default until undrained, then nothing, at \
         the deadline a report.",
        "drain b this-version then restart at-deadline interrupt",
        read_drain,
    ),
    word("undrain HOST", "Takes the drain back and wakes what it parked.", "undrain b", |words| {
        Ok(Command::Undrain { host: words.host()? })
    }),
    word("deadline HOST", "The deadline of the host's drain passes.", "deadline b", |words| {
        Ok(Command::Deadline { host: words.host()? })
    }),
    word(
        "interrupt HOST",
        "Whoever ends the process stops what runs there, at any time during a drain (rule Ex7).",
        "interrupt b",
        |words| Ok(Command::Interrupt { host: words.host()? }),
    ),
    word(
        "step HOST [WORD...]",
        "The host's next effect; with words, the effect that is printed so.",
        "step b store-drain",
        |words| Ok(Command::Step { host: words.host()?, words: words.rest_words() }),
    ),
];

const OPERATOR: &[Word<Command>] = &[
    word(
        "lapse GRANT",
        "An offer that nobody took is withdrawn (rule Ar4).",
        "lapse g1",
        |words| Ok(Command::Lapse { grant: words.grant()? }),
    ),
    word(
        "cancel GRANT [again|block] [REASON...] | cancel HOST BUILD",
        "The build under a grant is to stop, by default with a failed verdict (rule Ar5); or a \
         build of the host's own.",
        "cancel g1 again wrong flags",
        |words| {
            if words.peek().is_some_and(|token| token.is_grant()) {
                let grant = words.grant()?;
                let then = words.optional_keyword().unwrap_or(CancelThen::Block);
                return Ok(Command::CancelGrant { grant, then, reason: words.rest() });
            }
            Ok(Command::CancelBuild { host: words.host()?, build: words.build()? })
        },
    ),
    word(
        "revoke GRANT [REASON...]",
        "The hold goes, in any stage (rule Ar6).",
        "revoke g1 the node is lost",
        |words| Ok(Command::Revoke { grant: words.grant()?, reason: words.rest() }),
    ),
    word(
        "retry VERSION GRANT",
        "The failed verdict of this version and grant is removed (rule Ar3).",
        "retry v1 g1",
        |words| Ok(Command::Retry { version: words.version()?, grant: words.grant()? }),
    ),
];

const JUDGING: &[Word<Command>] = &[
    word("heal", "All faults end.", "heal", |_| Ok(Command::Heal)),
    word("rest", "Calmly on, oldest first, until nothing moves.", "rest", |_| Ok(Command::Rest)),
    word(
        "expect [under VARIANT] FACT",
        "The fact is true now, under the current protocol or the one that is named.",
        "expect under silent-stand-down gate b open",
        read_expect,
    ),
    word(
        "check [PROPERTY|all]",
        "The property holds now; by default all of them.",
        "check SingleBuilder",
        |words| {
            let property = words.peek().map_or(Ok(None), |_| words.keyword_or(&["all"]))?;
            Ok(Command::Check { property })
        },
    ),
];

fn read_submit(words: &mut Words<'_>) -> Result<Command, Problem> {
    let (host, build) = (words.host()?, words.build()?);
    let parent = if words.accept("parent") { Some(words.build()?) } else { None };
    let drains =
        words.accept("drains").then(|| words.optional_keyword().unwrap_or(EndAction::Nothing));
    Ok(Command::Submit { host, build, parent, drains })
}

fn read_drain(words: &mut Words<'_>) -> Result<Command, Problem> {
    let host = words.host()?;
    let term = words.optional_keyword().unwrap_or(Term::UntilUndrained);
    let then = if words.accept("then") { words.keyword()? } else { EndAction::Nothing };
    let at_deadline =
        if words.accept("at-deadline") { words.keyword()? } else { DeadlineOutcome::Report };
    Ok(Command::Drain { host, term, then, at_deadline })
}

fn read_expect(words: &mut Words<'_>) -> Result<Command, Problem> {
    let mut under = None;
    if words.accept("under") {
        let variants: Vec<&str> = words.names.under.iter().map(String::as_str).collect();
        let valid = format!("a protocol of the head: {}", list(&variants));
        let token = words.take(&valid)?;
        if !words.names.under.contains(token.text) {
            return Err(token.problem(valid).near(variants));
        }
        under = (token.text != CURRENT).then(|| token.text.to_owned());
    }
    let known: Vec<&str> = super::facts().map(|entry| entry.word()).collect();
    let valid = format!("a fact: {}", list(&known));
    let token = words.take(&valid)?;
    let Some(word) = fact(token.text) else {
        return Err(token.problem(valid).near(known));
    };
    let read = (word.read)(words).and_then(|fact| words.end().map(|()| fact));
    let fact = read.map_err(|problem| problem.of(word.entry.form))?;
    Ok(Command::Expect { under, fact })
}
