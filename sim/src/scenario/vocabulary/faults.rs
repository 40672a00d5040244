//! The commands that break something.

use super::super::token::Problem;
use super::super::words::Words;
use super::super::{Command, limits};
use super::{Word, word};

pub(super) const NETWORK_FAULTS: &[Word<Command>] = &[
    word("lose LINK", "The oldest message is lost.", "lose b -> record", |words| {
        Ok(Command::Lose { link: words.link()? })
    }),
    word("double LINK", "The oldest message comes twice.", "double b -> record", |words| {
        Ok(Command::Double { link: words.link()? })
    }),
    word("overtake LINK", "The newest message goes first.", "overtake record -> b", |words| {
        Ok(Command::Overtake { link: words.link()? })
    }),
    word("delay LINK", "The oldest message goes behind the next.", "delay record -> b", |words| {
        Ok(Command::Delay { link: words.link()? })
    }),
    word("cut HOST", "Both links of the host drop everything until `heal`.", "cut b", |words| {
        Ok(Command::Cut { host: words.host()? })
    }),
    word(
        "stale HOST N",
        "The host reads views that are N behind, 0 to 16.",
        "stale b 2",
        |words| {
            let host = words.host()?;
            Ok(Command::Stale { host, behind: words.number("views behind", limits::BEHIND)? })
        },
    ),
];

pub(super) const HOST_FAULTS: &[Word<Command>] = &[
    word(
        "slow HOST N",
        "All steps of the host take N times as long, 1 to 1000.",
        "slow b 10",
        |words| {
            let host = words.host()?;
            Ok(Command::Slow { host, factor: words.number("a factor", limits::FACTOR)? })
        },
    ),
    word("pause HOST", "The host takes no step until it is resumed.", "pause b", |words| {
        Ok(Command::Pause { host: words.host()? })
    }),
    word("resume HOST", "Ends a pause.", "resume b", |words| {
        Ok(Command::Resume { host: words.host()? })
    }),
    word("crash HOST", "The process ends and loses all that is not durable.", "crash b", |words| {
        Ok(Command::Crash { host: words.host()? })
    }),
    word("gone HOST", "The host is declared gone, rightly or not.", "gone b", |words| {
        Ok(Command::Gone { host: words.host()? })
    }),
    word(
        "boot HOST[:VERSION]",
        "The next incarnation starts, by default in the version that the host had.",
        "boot d:v2",
        |words| read_boot(words).map(|(name, version)| Command::Boot { name, version }),
    ),
    word(
        "overlap HOST[:VERSION]",
        "The next incarnation starts before the last has ended.",
        "overlap b:v2",
        |words| read_boot(words).map(|(name, version)| Command::Overlap { name, version }),
    ),
    word("reuse HOST", "A boot takes a used incarnation (against rule Dr4).", "reuse b", |words| {
        Ok(Command::Reuse { host: words.host()? })
    }),
    word(
        "lose-disk HOST",
        "The disk of a process that has ended is lost: the next boot finds an empty book.",
        "lose-disk b",
        |words| Ok(Command::LoseDisk { host: words.host()? }),
    ),
    word("suspect HOST", "Membership suspects the host.", "suspect b", |words| {
        Ok(Command::Suspect { host: words.host()? })
    }),
    word("trust HOST", "Ends a suspicion.", "trust b", |words| {
        Ok(Command::Trust { host: words.host()? })
    }),
    word("reask HOST", "The host asks again, though nothing made it.", "reask b", |words| {
        Ok(Command::Reask { host: words.host()? })
    }),
];

pub(super) const OTHER_FAULTS: &[Word<Command>] = &[
    word("fail HOST [REASON...]", "The host's build fails.", "fail b out of memory", |words| {
        Ok(Command::Fail { host: words.host()?, reason: words.rest() })
    }),
    word("hang HOST", "The host's build never ends by itself.", "hang b", |words| {
        Ok(Command::Hang { host: words.host()? })
    }),
    word(
        "unsigned HOST CHUNK",
        "The host's build will not sign this chunk off.",
        "unsigned b assets",
        |words| Ok(Command::Unsigned { host: words.host()?, chunk: words.chunk()? }),
    ),
    word(
        "arbiter [record2]",
        "The arbiter crashes between commit and publish, and comes back from the record.",
        "arbiter",
        |words| Ok(Command::ArbiterCrash { arbiter: words.optional_arbiter()? }),
    ),
    word(
        "conflict [record2]",
        "The arbiter's next commit loses the compare-and-set.",
        "conflict record2",
        |words| Ok(Command::Conflict { arbiter: words.optional_arbiter()? }),
    ),
    word(
        "unknown [record2]",
        "The arbiter's next commit is done, but the answer is lost.",
        "unknown",
        |words| Ok(Command::UnknownCommit { arbiter: words.optional_arbiter()? }),
    ),
];

fn read_boot(words: &mut Words<'_>) -> Result<(String, Option<String>), Problem> {
    let token = words.take("a host, as `b` or `b:v2`")?;
    let (name, version) = match token.cut(':') {
        Some((name, version)) => (name, Some(version.version()?)),
        None => (token, None),
    };
    Ok((words.known_host(name)?, version))
}
