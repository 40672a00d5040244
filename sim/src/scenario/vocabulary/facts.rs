//! What `expect` can say.

use super::super::token::Problem;
use super::super::words::Words;
use super::super::{EndAction, Fact, Grant, HoldFact, HostRef, Standing, limits};
use super::{Section, Word, word};

pub(super) const SECTIONS: &[Section<Fact>] = &[
    Section { title: "The record", words: RECORD },
    Section { title: "Hosts", words: HOSTS },
    Section { title: "Executors", words: EXECUTORS },
    Section { title: "The whole", words: WHOLE },
];

const RECORD: &[Word<Fact>] = &[
    word(
        "hold none|Offered(HOST, GRANT)|Started(HOST, GRANT) [cancelling]",
        "Who holds the job.",
        "hold Started(b, g1) cancelling",
        |words| read_hold(words).map(Fact::Hold),
    ),
    word(
        "verdict VERSION none|approved|failed",
        "What the record says of a version.",
        "verdict v1 approved",
        |words| Ok(Fact::Verdict { version: words.version()?, verdict: words.keyword()? }),
    ),
    word(
        "line HOST none|Asking|Accepted|Building|Finished|StoodDown",
        "The standing that the record has of the host.",
        "line b StoodDown",
        |words| {
            let host = words.host()?;
            Ok(Fact::Line { host, standing: words.keyword_or::<Standing>(&["none"])? })
        },
    ),
    word(
        "refused REFUSAL",
        "The last input, view or request was refused with this reason.",
        "refused StaleGrant",
        |words| Ok(Fact::Refused { refusal: words.keyword()? }),
    ),
    word(
        "answered StaleGrant|NotHolder|UnknownChunk",
        "The last input was accepted with this remark.",
        "answered NotHolder",
        |words| Ok(Fact::Answered { remark: words.keyword()? }),
    ),
    word("offers N", "How many grants were given so far.", "offers 2", |words| {
        Ok(Fact::Offers { count: words.number("a number of grants", limits::OFFERS)? })
    }),
];

const HOSTS: &[Word<Fact>] = &[
    word(
        "gate HOST open|waiting|blocked|unknown",
        "Whether the host may take traffic.",
        "gate b open",
        |words| Ok(Fact::Gate { host: words.host()?, gate: words.keyword()? }),
    ),
    word(
        "host HOST idle|asking|planning|accepted|building|cancelling|finished|stood-down|gone|\
         crashed|waiting",
        "What the host's candidate itself is in.",
        "host b building",
        |words| Ok(Fact::Host { host: words.host()?, state: words.keyword()? }),
    ),
    word(
        "said HOST Asking|Accepted|Building|Finished|StoodDown [GRANT]",
        "The standing that the host last said.",
        "said b Finished g1",
        |words| {
            let (host, standing) = (words.host()?, words.keyword()?);
            let grant = words.peek().map(|_| words.grant()).transpose()?;
            Ok(Fact::Said { host, standing, grant })
        },
    ),
    word("building HOST yes|no", "Whether a build process runs there.", "building b no", |words| {
        Ok(Fact::Building { host: words.host()?, yes: words.yes()? })
    }),
    word("builders N", "How many hosts run a build of a grant now.", "builders 1", |words| {
        Ok(Fact::Builders { count: words.number("a number of hosts", limits::BUILDERS)? })
    }),
];

const EXECUTORS: &[Word<Fact>] = &[
    word(
        "build HOST BUILD pending|admitted|succeeded|failed|cancelled|none [attempts N]",
        "What the host's ledger says of a build.",
        "build b x1 pending attempts 0",
        |words| {
            let (host, build) = (words.host()?, words.build()?);
            let state = words.keyword()?;
            let attempts = words
                .accept("attempts")
                .then(|| words.number("a number of attempts", limits::ATTEMPTS))
                .transpose()?;
            Ok(Fact::Build { host, build, state, attempts })
        },
    ),
    word(
        "workspace HOST BUILD yes|no",
        "Whether a workspace was prepared for the build.",
        "workspace b x1 no",
        |words| {
            let (host, build) = (words.host()?, words.build()?);
            Ok(Fact::Workspace { host, build, yes: words.yes()? })
        },
    ),
    word(
        "draining HOST no|yes [then nothing|restart|stop]",
        "Whether a drain is declared, and what follows it.",
        "draining b yes then restart",
        |words| {
            let (host, yes) = (words.host()?, words.yes()?);
            if let (false, Some(then)) = (yes, words.peek().filter(|word| word.text == "then")) {
                let note = "what follows a drain can be asked only of one that is declared";
                return Err(then.problem("the end of the line").note(note));
            }
            let then: Option<EndAction> =
                words.accept("then").then(|| words.keyword()).transpose()?;
            Ok(Fact::Draining { host, yes, then })
        },
    ),
    word(
        "drained HOST yes|no",
        "Whether the drain is done: the process may end (rule Ho4).",
        "drained b yes",
        |words| Ok(Fact::Drained { host: words.host()?, yes: words.yes()? }),
    ),
    word("free-slots HOST N", "How many slots are free.", "free-slots b 1", |words| {
        let host = words.host()?;
        Ok(Fact::FreeSlots { host, count: words.number("free slots", limits::FREE_SLOTS)? })
    }),
    word("queue HOST BUILD...|none", "The builds that wait, in order.", "queue b x1 x2", |words| {
        let host = words.host()?;
        if words.accept("none") {
            return Ok(Fact::Queue { host, builds: vec![] });
        }
        Ok(Fact::Queue { host, builds: words.some("a build or `none`", Words::build)? })
    }),
];

const WHOLE: &[Word<Fact>] = &[
    word(
        "converged",
        "No hold, nothing in flight, each live host served, blocked or drained.",
        "converged",
        |_| Ok(Fact::Converged),
    ),
    word("stuck", "Nothing can move any more, and it has not converged.", "stuck", |_| {
        Ok(Fact::Stuck)
    }),
];

fn read_hold(words: &mut Words<'_>) -> Result<HoldFact, Problem> {
    let valid = "`none`, `Offered(HOST, GRANT)` or `Started(HOST, GRANT)`";
    words.split_at(&['(', ')', ',']);
    let token = words.take(valid)?;
    match token.text {
        "none" => Ok(HoldFact::None),
        "Offered" => {
            let (host, grant) = read_holder(words)?;
            Ok(HoldFact::Offered { host, grant })
        }
        "Started" => {
            let (host, grant) = read_holder(words)?;
            Ok(HoldFact::Started { host, grant, cancelling: words.accept("cancelling") })
        }
        _ => Err(token.problem(valid).near(["none", "Offered", "Started"])),
    }
}

fn read_holder(words: &mut Words<'_>) -> Result<(HostRef, Grant), Problem> {
    words.exactly("(")?;
    let host = words.host()?;
    words.exactly(",")?;
    let grant = words.grant()?;
    words.exactly(")")?;
    Ok((host, grant))
}
