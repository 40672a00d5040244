//! The scenario language: a race as a text that reads like a lab notebook.
//!
//! A race is an order of events, so a scenario is that order, one command a line, and nothing
//! else decides. The text is kept whole, comments included, so that a trace can tell the story in
//! the writer's own words. This module knows text only: what a command does to a world is the
//! runner's affair.
//!
//! [`vocabulary`] is the one table of words. The parser dispatches through it, the messages quote
//! it and the reference is printed from it, so none of the three can know a word that the others
//! do not.

mod ast;
mod diagnostic;
mod events;
mod expect;
mod keywords;
mod line;
mod parse;
mod print;
mod run;
mod setup;
mod source;
mod token;
mod trace;
pub mod vocabulary;
mod words;

pub use ast::{
    Arbiter, BuildOutcome, Command, Ending, Fact, Grant, Header, HoldFact, HostNumber, HostRef,
    HostVersion, Link, Target, Work,
};
pub use diagnostic::{Diagnostic, LoadError, ParseError};
pub use events::{NoEvent, command_of, event_of};
pub use keywords::{
    BuildState, CancelThen, DeadlineOutcome, EndAction, Gate, HostState, Keyword, Property,
    Refusal, Remark, Standing, Term, VerdictState,
};
pub use line::{Content, Line, Span};
pub(crate) use run::setup_of;
pub use run::{Ended, Failure, Moment, Run, Stale, run, watch};
pub use setup::{HostSetup, Setup};
pub(crate) use token::escaped;
pub use token::nearest;
pub use trace::{Entry, Trace, tell};

/// The protocol that ships. Every scenario says how it ends under it.
pub const CURRENT: &str = "current";

/// The bounds of a file. A text beyond one is refused with a diagnostic, never cut short.
pub mod limits {
    use std::ops::RangeInclusive;

    /// Bytes of a file; a longer one is not read to its end.
    pub const FILE_BYTES_MAX: usize = 1 << 20;
    /// Characters of a line.
    pub const LINE_CHARS_MAX: usize = 500;
    /// Commands of a scenario.
    pub const COMMANDS_MAX: usize = 10_000;
    /// Builds that a scenario submits. Each step looks at all of them, so a run costs the square.
    pub const BUILDS_MAX: usize = 500;
    /// Diagnostics of one report; what follows is counted as "more".
    pub const DIAGNOSTICS_MAX: usize = 20;
    /// Hosts of a scenario, those not booted at the start included.
    pub const HOSTS_MAX: usize = 32;
    /// The slots of a host's executor.
    pub const SLOTS: RangeInclusive<u64> = 1..=64;
    /// The priority with which a host asks.
    pub const PRIORITY: RangeInclusive<u64> = 0..=1_000;
    /// The arbiters over one record.
    pub const ARBITERS: RangeInclusive<u64> = 1..=2;
    /// An incarnation in `b.2`.
    pub const INCARNATION: RangeInclusive<u64> = 1..=1_000_000;
    /// A grant in `g1`.
    pub const GRANT: RangeInclusive<u64> = 1..=1_000_000;
    /// How many views behind a host reads, in `stale`.
    pub const BEHIND: RangeInclusive<u64> = 0..=16;
    /// The factor on all steps of a host, in `slow`.
    pub const FACTOR: RangeInclusive<u64> = 1..=1_000;
    /// Attempts of a build, in a fact.
    pub const ATTEMPTS: RangeInclusive<u64> = 0..=1_000;
    /// Hosts that build, in a fact.
    pub const BUILDERS: RangeInclusive<u64> = 0..=64;
    /// Free slots of a host, in a fact.
    pub const FREE_SLOTS: RangeInclusive<u64> = 0..=64;
    /// Grants given so far, in a fact.
    pub const OFFERS: RangeInclusive<u64> = 0..=1_000_000;
}

/// A scenario as it was written.
///
/// Two scenarios are equal if they say the same; where on the page they say it does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    title: String,
    lines: Vec<Line>,
    setup: Setup,
}

impl Scenario {
    /// A scenario from its lines, as a program makes one.
    ///
    /// Nothing is checked here: that the text parses again is the caller's duty.
    #[must_use]
    pub fn from_lines(title: impl Into<String>, lines: Vec<Line>) -> Self {
        let setup = Setup::from_headers(lines.iter().filter_map(Line::header));
        Self { title: title.into(), lines, setup }
    }

    /// A scenario from its parts: prose (each begins with an upper-case letter), the headers that
    /// make `setup`, a blank line, the commands.
    #[must_use]
    pub fn compose(
        title: impl Into<String>,
        prose: &[&str],
        setup: &Setup,
        commands: impl IntoIterator<Item = Command>,
    ) -> Self {
        let prose = prose.iter().map(|text| Content::Prose((*text).to_owned()));
        let headers = setup.headers().into_iter().map(Content::Header);
        let commands = commands.into_iter().map(Content::Command);
        let contents = prose.chain(headers).chain([Content::Blank]).chain(commands);
        Self::from_lines(title, contents.map(Line::from).collect())
    }

    /// The claim, and in brackets where it was seen.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Hosts, chunks, arbiters and endings, with the defaults filled in.
    #[must_use]
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// All lines after the title, in order: prose, headers, comments, blank lines, commands.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The commands in order, each with its place.
    pub fn commands(&self) -> impl Iterator<Item = (Span, &Command)> {
        self.lines.iter().filter_map(|line| Some((line.span(), line.command()?)))
    }
}
