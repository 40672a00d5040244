//! The arguments.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, RangedI64ValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use handover_sim::choose::FaultKind;
use handover_sim::explore::Bounds;
use handover_sim::scenario::CURRENT;
use handover_sim::variants::PROTOCOLS;

/// Where `check` looks if it is not told.
pub(super) const DEFAULT_PATH: &str = "scenarios";

/// Walks of a check that is not told how many.
const DEFAULT_WALKS: u64 = 2_000;

/// Replays races of a rollout from files, and looks for new ones in seeded walks.
///
/// Without a command it does `check`: all of ./scenarios, then the walks.
#[derive(Debug, Parser)]
#[command(name = "handover-sim", version, after_help = EXIT_CODES)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// Say on stderr what is run; twice, also each step; three times, also what it brought about
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub(super) verbose: u8,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  all is as the files say (a wrong protocol that breaks what its header names is)
  1  read and run, but an expectation, an ending or a property is not as it should be
  2  cannot be read: arguments, a file that is missing or has a mistake, an output
  3  stale: a step of a scenario cannot happen under `current`
  4  unknown: a bound was reached before the question was decided
Of several, the first that applies in the order 2, 3, 1, 4.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run scenarios under all protocols of their heads, then seeded walks
    #[command(after_help = EXIT_CODES)]
    Check(Check),
    /// Run scenarios and print their traces
    #[command(after_help = EXIT_CODES)]
    Replay(Replay),
    /// Explore every interleaving of a small rollout
    #[command(after_help = EXIT_CODES)]
    Explore(Explore),
    /// Print the reference of the scenario language
    Vocabulary(Vocabulary),
}

impl Default for Command {
    fn default() -> Self {
        Self::Check(Check::default())
    }
}

#[derive(Args, Debug)]
pub(super) struct Check {
    /// Scenario files, and folders with all that is below them [default: scenarios]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,
    /// Also write a JUnit report
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Walks over a rolling update of 5 hosts and 2 versions with faults, of the seeds from 0 on
    #[arg(long, value_name = "N", default_value_t = DEFAULT_WALKS)]
    pub(super) walks: u64,
    /// The folder that takes the scenario of a walk that fails
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) out: PathBuf,
}

impl Default for Check {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            json: false,
            junit: None,
            walks: DEFAULT_WALKS,
            out: PathBuf::from("."),
        }
    }
}

#[derive(Args, Debug)]
pub(super) struct Replay {
    /// Scenario files
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// Only under this protocol, whether or not the head names it [default: all of the head]
    #[arg(long, value_name = "P", value_parser = protocols())]
    pub(super) protocol: Option<String>,
    /// How to print a run; `json` is one object a line
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = Form::Text)]
    pub(super) form: Form,
    /// The same as `--as json`
    #[arg(long, conflicts_with = "form")]
    pub(super) json: bool,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// The trace as a story, and the ending in the last line
    Text,
    /// For programs
    Json,
}

#[derive(Args, Debug)]
pub(super) struct Vocabulary {
    /// Print one JSON object instead of Markdown
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct Explore {
    /// Hosts
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = range(1, 8))]
    pub(super) hosts: u8,
    /// Versions: the first host runs the first one, each next host the next one; the rest the last
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = range(1, 8))]
    pub(super) versions: u8,
    /// Chunks of a build
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = range(0, 8))]
    pub(super) chunks: u8,
    /// How often each kind of fault may strike: `crash=1,gone=1`
    #[arg(long, value_name = "KIND=N,...", value_delimiter = ',', value_parser = fault)]
    pub(super) faults: Vec<(FaultKind, u8)>,
    /// Superseded messages that stay on a link, each way
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(super) late: u8,
    /// What the actors follow
    #[arg(long, value_name = "P", default_value = CURRENT, value_parser = protocols())]
    pub(super) protocol: String,
    /// Deployments that may be submitted to the first host
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = range(0, 8))]
    pub(super) deployments: u8,
    /// Other local builds that may be submitted to the first host
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = range(0, 8))]
    pub(super) builds: u8,
    /// Give up after so many states
    #[arg(long, value_name = "N")]
    pub(super) max_states: Option<usize>,
    /// Threads; what is found does not depend on their number [default: one a core]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<usize>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,
    /// The file that takes the shortest counterexample [default: explore-PROPERTY.scenario here,
    /// one for each property that is broken]
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

fn range(least: i64, most: i64) -> RangedI64ValueParser<u8> {
    RangedI64ValueParser::new().range(least..=most)
}

/// `crash=1`
fn fault(text: &str) -> Result<(FaultKind, u8), String> {
    let kinds = || Bounds::kinds().map(FaultKind::word).collect::<Vec<_>>().join(", ");
    let (word, times) =
        text.split_once('=').ok_or_else(|| "write KIND=N, as in crash=1".to_owned())?;
    let kind = FaultKind::ALL.iter().copied().find(|kind| kind.word() == word);
    let kind = kind.ok_or_else(|| format!("there is no fault `{word}`; there are {}", kinds()))?;
    let times = times.parse().map_err(|_| format!("`{times}` is no number from 0 to 255"))?;
    let refused = Bounds::new(&[]).with(kind, times).err();
    refused.map_or(Ok((kind, times)), |refused| Err(format!("{refused}; there are {}", kinds())))
}

fn protocols() -> PossibleValuesParser {
    PossibleValuesParser::new(PROTOCOLS.iter().map(|protocol| protocol.name()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_argument_is_check_without_arguments() {
        let cli = Cli::parse_from(["handover-sim", "check"]);
        let asked = format!("{:?}", cli.command.expect("it was given"));
        assert_eq!(format!("{:?}", Command::default()), asked);
    }
}
