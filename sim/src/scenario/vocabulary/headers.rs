//! The lines of the head.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::super::token::{NAME, Problem, Token, is_name, list};
use super::super::words::{Names, Words};
use super::super::{CURRENT, Ending, Header, HostNumber, HostVersion, limits};
use super::{Section, Word, verb, word};

pub(super) const SECTIONS: &[Section<Header>] = &[Section { title: "", words: WORDS }];

const WORDS: &[Word<Header>] = &[
    word(
        "hosts HOST:VERSION...",
        "The hosts that are up at the start, 32 at most. Needed.",
        "hosts b:v1 c:v1",
        |words| read_hosts(words, |names| &names.idle).map(Header::Hosts),
    ),
    word(
        "idle HOST:VERSION...",
        "Hosts that are not up at the start; `boot` starts them.",
        "idle d:v2",
        |words| read_hosts(words, |names| &names.booted).map(Header::Idle),
    ),
    word(
        "chunks CHUNK...",
        "The plan of each build; by default empty.",
        "chunks base assets",
        |words| words.some("a chunk", Words::chunk).map(Header::Chunks),
    ),
    word(
        "slots HOST=N...",
        "The slots of a host's executor; by default 1.",
        "slots b=2",
        |words| read_numbers(words, "a number of slots", limits::SLOTS).map(Header::Slots),
    ),
    word(
        "priority HOST=N...",
        "The priority with which a host asks; by default 0, higher is earlier.",
        "priority b=1",
        |words| read_numbers(words, "a priority", limits::PRIORITY).map(Header::Priority),
    ),
    word(
        "arbiters N",
        "How many arbiters share the record, 1 or 2; by default 1.",
        "arbiters 2",
        |words| words.number("a number of arbiters", limits::ARBITERS).map(Header::Arbiters),
    ),
    word(
        "pinned HOST...",
        "Hosts that their own builds may not drain (rule Ex7).",
        "pinned b",
        |words| {
            words
                .some("a host", |words| {
                    words.take("a host").and_then(|name| words.known_host(name))
                })
                .map(Header::Pinned)
        },
    ),
    word(
        "steps single",
        "Each command is one atomic step: no driver acts and nothing is published by itself.",
        "steps single",
        |words| words.exactly("single").map(|()| Header::SingleSteps),
    ),
    word(
        "under VARIANT holds|breaks PROPERTY",
        "A protocol to run under, and how it ends. Repeats; `under current` is needed.",
        "under current holds",
        read_under,
    ),
];

fn read_hosts(
    words: &mut Words<'_>,
    others: for<'n> fn(&'n Names<'_>) -> &'n BTreeSet<String>,
) -> Result<Vec<HostVersion>, Problem> {
    let mut hosts: Vec<HostVersion> = vec![];
    words.some("a host and its version, as `b:v1`", |words| {
        let token = words.take("a host and its version, as `b:v1`")?;
        let (name, version) =
            token.cut(':').ok_or_else(|| token.problem("a host and its version, as `b:v1`"))?;
        check_name(name)?;
        let name_taken = hosts.iter().any(|host| host.name == name.text);
        if name_taken || others(words.names).contains(name.text) {
            return Err(name.again("each host once, in `hosts` or in `idle`"));
        }
        if hosts.len() == limits::HOSTS_MAX {
            return Err(name.problem(format!("at most {} hosts", limits::HOSTS_MAX)));
        }
        hosts.push(HostVersion { name: name.text.to_owned(), version: version.version()? });
        Ok(name.text)
    })?;
    Ok(hosts)
}

/// Refuses what would be read as something else in a command.
fn check_name(name: Token<'_>) -> Result<(), Problem> {
    let valid = "a host's name, as `b`";
    if !is_name(name.text) {
        return Err(name.problem(valid).note(NAME));
    }
    if name.is_grant() {
        return Err(name.problem(valid).note("a `g` with a number is a grant"));
    }
    let reserved = ["record", "record2", "store", "none", "all"];
    if reserved.contains(&name.text) || verb(name.text).is_some() {
        return Err(name.problem(valid).note("the word is one of the language's own"));
    }
    Ok(())
}

fn read_numbers(
    words: &mut Words<'_>,
    what: &str,
    range: RangeInclusive<u64>,
) -> Result<Vec<HostNumber>, Problem> {
    let valid = format!("a host and {what}, as `b={}`", range.start() + 1);
    let mut numbers: Vec<HostNumber> = vec![];
    words.some(&valid, |words| {
        let token = words.take(&valid)?;
        let (name, number) = token.cut('=').ok_or_else(|| token.problem(valid.as_str()))?;
        let host = words.known_host(name)?;
        let number = number.small(what, range.clone())?;
        numbers.push(HostNumber { name: host, number });
        Ok(name.text)
    })?;
    Ok(numbers)
}

fn read_under(words: &mut Words<'_>) -> Result<Header, Problem> {
    let variants: Vec<&str> =
        [CURRENT].into_iter().chain(words.names.variants.iter().copied()).collect();
    let valid = format!("a protocol: {}", list(&variants));
    let token = words.take(&valid)?;
    if !variants.contains(&token.text) {
        return Err(token.problem(valid).near(variants));
    }
    let ending = if words.accept("holds") {
        Ending::Holds
    } else if words.accept("breaks") {
        Ending::Breaks(words.keyword()?)
    } else {
        let valid = list(&["holds", "breaks"]);
        return Err(words.take(&valid)?.problem(valid).near(["holds", "breaks"]));
    };
    Ok(Header::Under { variant: token.text.to_owned(), ending })
}
