//! The arguments.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use handover_sim::choose::FaultKind;
use handover_sim::explore::ROWS;
use handover_sim::scenario::CURRENT;
use handover_sim::swarm::Strategy;

use super::swarm::Swarm;
use super::values::{Jobs, budgets, protocols, range, seeds, size};

/// Where `check` looks if it is not told.
pub(super) const DEFAULT_PATH: &str = "scenarios";

/// Walks of a check that is told neither how many nor of which files.
const DEFAULT_WALKS: u64 = 500;

/// Replays races of a rollout from files, and looks for new ones in seeded walks.
///
/// Without a command it does `check`, with its options: all of ./scenarios, then every interleaving
/// of a small rollout, then walks through large ones.
#[derive(Debug, Parser)]
#[command(name = "handover-sim", version, after_help = EXIT_CODES)]
pub(super) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: CheckOptions,
    /// Say on stderr what is run; twice, also each step; three times, also what it brought about
    #[arg(short, long, action = ArgAction::Count, global = true)]
    verbose: u8,
}

impl Cli {
    /// Reads the arguments of this process.
    pub(super) fn read() -> Self {
        let matches = taking_negatives(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// The command, and how much is to be said of it. Options of `check` before another command,
    /// or before `check` itself, would be lost: they are a usage error.
    pub(super) fn asked(self) -> (Command, u8) {
        let Self { command, options, verbose } = self;
        let Some(command) = command else {
            return (Command::Check(Check { paths: Vec::new(), options }), verbose);
        };
        if options != CheckOptions::default() {
            let tip = "options stand behind the command, as in `check --walks 0`";
            Self::command().error(ErrorKind::ArgumentConflict, tip).exit();
        }
        (command, verbose)
    }
}

/// A negative number is then a value like others, and is refused with what there may be instead of
/// as an option that nobody knows.
fn taking_negatives(command: clap::Command) -> clap::Command {
    let taking = |arg: clap::Arg| {
        let is_option = !arg.is_positional() && arg.get_action().takes_values();
        if is_option { arg.allow_negative_numbers(true) } else { arg }
    };
    command.mut_args(taking).mut_subcommands(taking_negatives)
}

/// A macro, since `concat!` takes literals only.
macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  all is as the files say (a wrong protocol that breaks what its header names is)
  1  read and run, but an expectation, an ending or a property is not as it should be
  2  cannot be read: arguments, a file that is missing or has a mistake, an output
  3  stale: a step of a scenario cannot happen under `current`
  4  unknown: a bound was reached before the question was decided
Of several, the first that applies in the order 2, 3, 1, 4."
    };
}

const EXIT_CODES: &str = exit_codes!();

const REPLAY_EXIT_CODES: &str = concat!(
    "\
A run under a protocol that the head of its scenario does not name is shown and not judged: it
exits with 0 whatever it breaks.

",
    exit_codes!()
);

const JUDGE_EXIT_CODES: &str = "\
Exit codes:
  0  holds: what the journals tell has no gap and is as it should be; ends that are cut off, as a
     crash leaves them, are none
  1  broken: a property, or the journals tell what the core does not do
  2  cannot be read: a file, a line that is none of a journal, a newer format
  4  unknown: what is there is as it should be, and something is missing";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run scenarios under all protocols of their heads; where none are named, explore and walk, too
    #[command(after_help = EXIT_CODES)]
    Check(Check),
    /// Run scenarios and print their traces
    #[command(after_help = REPLAY_EXIT_CODES)]
    Replay(Replay),
    /// Explore every interleaving of a small rollout
    #[command(after_help = EXIT_CODES)]
    Explore(Explore),
    /// Run many seeds over a large rollout, and explain what they break
    #[command(after_help = EXIT_CODES)]
    Swarm(Swarm),
    /// Hunt each wrong protocol by each strategy: how long it takes to find what it breaks
    #[command(after_help = EXIT_CODES)]
    Variants(Variants),
    /// Replay the journals of production hosts through the core, and judge what they did
    #[command(after_help = JUDGE_EXIT_CODES)]
    Judge(Judge),
    /// Print the reference of the scenario language
    Vocabulary(Vocabulary),
}

#[derive(Args, Debug)]
pub(super) struct Check {
    /// Scenario files, and folders with all that is below them [default: scenarios]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) options: CheckOptions,
}

#[derive(Args, Debug, Default, PartialEq, Eq)]
pub(super) struct CheckOptions {
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,
    /// Also write a JUnit report
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Walks of the default swarm, of the seeds from 0 on [default: 500; 0 where a PATH is given]
    #[arg(long, value_name = "N", value_parser = range::<u64>(0, i64::MAX))]
    walks: Option<u64>,
    /// The folder that takes the scenarios of what fails beyond the files; made where there is none
    /// [default: .]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
}

impl Check {
    /// Files of one's own are checked without the walks, which know nothing of them.
    pub(super) fn walks(&self) -> u64 {
        let default = if self.paths.is_empty() { DEFAULT_WALKS } else { 0 };
        self.options.walks.unwrap_or(default)
    }

    /// The folder that takes the scenarios of what fails beyond the files.
    pub(super) fn out(&self) -> &Path {
        self.options.out.as_deref().unwrap_or_else(|| Path::new("."))
    }
}

#[derive(Args, Debug)]
pub(super) struct Replay {
    /// Scenario files, and folders with all that is below them
    #[arg(value_name = "PATH", required = true)]
    pub(super) paths: Vec<PathBuf>,
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
    /// A sequence diagram for a README
    Mermaid,
    /// A space-time diagram: one lane a host, the record and the store, time downwards
    Svg,
    /// A page with the diagram and the trace
    Html,
}

#[derive(Args, Debug)]
pub(super) struct Judge {
    /// Journals, in any order: of all hosts, with their rotated files
    #[arg(value_name = "JOURNAL", required = true)]
    pub(super) paths: Vec<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(super) json: bool,
    /// Write what the journals tell to this file, as a scenario that `replay` runs to their record
    #[arg(long, value_name = "FILE")]
    pub(super) export: Option<PathBuf>,
    /// Also show what they tell, up to where they are broken
    #[arg(long = "as", value_name = "FORM", value_enum, conflicts_with = "json")]
    pub(super) form: Option<JudgeForm>,
    /// Write what `--as` shows to this file instead of stdout; the verdict itself stays on stdout
    #[arg(short, long, value_name = "FILE", requires = "form")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum JudgeForm {
    /// The trace as a story
    Text,
    /// A sequence diagram for a README
    Mermaid,
    /// A space-time diagram
    Svg,
    /// A page with the diagram and the trace
    Html,
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
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = range::<u8>(1, 8))]
    pub(super) hosts: u8,
    /// Versions: the first host runs the first one, each next host the next one; the rest the last
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = range::<u8>(1, 8))]
    pub(super) versions: u8,
    /// Chunks of a build
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = range::<u8>(0, 8))]
    pub(super) chunks: u8,
    /// How often each kind of fault may strike: `crash=1,gone=1`. `conflict` loses a commit or the
    /// answer to one, `reuse` boots under the number of a dead process [default: none]
    #[arg(long, value_name = "KIND=N,...", value_parser = budgets)]
    pub(super) faults: Option<BTreeMap<FaultKind, u8>>,
    /// Superseded messages that stay on a link, each way
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(super) late: u8,
    /// What the actors follow
    #[arg(long, value_name = "P", default_value = CURRENT, value_parser = protocols())]
    pub(super) protocol: String,
    /// Deployments that may be submitted to the first host
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = range::<u8>(0, 8))]
    pub(super) deployments: u8,
    /// Other local builds that may be submitted to the first host
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = range::<u8>(0, 8))]
    pub(super) builds: u8,
    /// Let the other hosts have as many of both
    #[arg(long)]
    pub(super) builds_everywhere: bool,
    /// Let messages arrive in any order and again, also where the other side refuses them by their
    /// number; `NoLivelock` is not decided then
    #[arg(long)]
    pub(super) any_order: bool,
    /// Give up after so many states
    #[arg(long, value_name = "N", value_parser = range::<usize>(1, i64::MAX))]
    pub(super) max_states: Option<usize>,
    /// Give up when the tables of the search hold so many bytes: `512M`, `8G`. The process takes two
    /// to three times that
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) max_memory: Option<usize>,
    /// Decide safety alone, which takes half of the memory
    #[arg(long)]
    pub(super) safety_only: bool,
    /// Explore the configurations that come with the program, or those of them that are named, and
    /// print a table
    #[arg(
        long, value_name = "ROW", num_args = 0.., value_parser = rows(), hide_possible_values = true,
        conflicts_with_all = ["hosts", "versions", "chunks", "faults", "late", "protocol",
            "deployments", "builds", "builds_everywhere", "any_order", "out"],
    )]
    pub(super) table: Option<Vec<String>>,
    /// Explore instead the executor alone: the 120 orders in which a deployment may release what it
    /// holds, and the steps that may be taken apart, in 32 settings
    #[arg(
        long,
        conflicts_with_all = ["hosts", "versions", "chunks", "faults", "late", "protocol",
            "deployments", "builds", "builds_everywhere", "any_order", "out", "table", "json",
            "safety_only", "max_states", "max_memory"],
    )]
    pub(super) release_orders: bool,
    #[command(flatten)]
    pub(super) jobs: Jobs,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,
    /// The file that takes the shortest counterexample [default: explore-PROPERTY.scenario here,
    /// one for each property that is broken]
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct Variants {
    /// The random seeds, the last one not included. They share 2,000 schedules for each wrong
    /// protocol and strategy
    #[arg(long, value_name = "A..B", default_value = "0..20", value_parser = seeds(SEEDS_MAX))]
    pub(super) seeds: Range<u64>,
    /// Only this protocol; may be given more than once [default: all]
    #[arg(long, value_name = "P", value_parser = protocols(), hide_possible_values = true)]
    pub(super) protocol: Vec<String>,
    /// Only this strategy; may be given more than once: mix, random, delay-bounded[=DEPARTURES],
    /// pct[=DEPTH] [default: all]
    #[arg(long, value_name = "S")]
    pub(super) strategy: Vec<Strategy>,
    #[command(flatten)]
    pub(super) jobs: Jobs,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,
}

/// More would leave a seed less than a schedule.
const SEEDS_MAX: u64 = 2_000;

fn rows() -> PossibleValuesParser {
    PossibleValuesParser::new(ROWS.iter().map(|row| row.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    fn asked(arguments: &[&str]) -> Check {
        let arguments = [&["handover-sim"], arguments].concat();
        match Cli::parse_from(arguments).asked().0 {
            Command::Check(check) => check,
            other @ (Command::Replay(_)
            | Command::Explore(_)
            | Command::Swarm(_)
            | Command::Variants(_)
            | Command::Judge(_)
            | Command::Vocabulary(_)) => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_command_is_check_with_its_options() {
        for options in [&[][..], &["--walks", "7", "--json"], &["--out", "x", "--junit", "y"]] {
            let explicit = asked(&[&["check"], options].concat());
            assert_eq!(format!("{:?}", asked(options)), format!("{explicit:?}"));
        }
    }

    #[test]
    fn paths_are_checked_without_walks_unless_some_are_asked_for() {
        assert_eq!(asked(&["check"]).walks(), DEFAULT_WALKS);
        assert_eq!(asked(&["check", "x.scenario"]).walks(), 0);
        assert_eq!(asked(&["check", "x.scenario", "--walks", "7"]).walks(), 7);
    }
}
