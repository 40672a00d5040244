//! The program: what is asked for, done, and told.
//!
//! Results go to stdout, all else to stderr. Nothing that is told differs between two runs of the
//! same files: no clock, no path but as it was given.

mod check;
mod cli;
mod counts;
mod explore;
mod explore_release;
mod explore_rows;
mod files;
mod interrupt;
mod json;
mod judge;
mod junit;
mod progress;
mod replay;
mod swarm;
mod table;
mod values;
mod variants;
mod vocabulary;
mod walks;

use std::io::{self, IsTerminal, Write as _};
use std::path::Path;
use std::process::ExitCode;

use handover_sim::scenario::LoadError;
use handover_sim::suite::{Judgement, Suite};
use tracing_subscriber::fmt::format::FmtSpan;

use cli::{Cli, Command};

/// Does what the arguments ask for.
pub(crate) fn main() -> ExitCode {
    let (command, verbose) = Cli::read().asked();
    follow(verbose);
    let judgement = match command {
        Command::Check(check) => check::check(&check).unwrap_or_else(|refused| refused),
        Command::Replay(replay) => replay::replay(&replay).unwrap_or_else(|refused| refused),
        Command::Explore(asked) if asked.release_orders => explore_release::explore(&asked),
        Command::Explore(asked) if asked.table.is_some() => explore_rows::explore(&asked),
        Command::Explore(asked) => explore::explore(&asked),
        Command::Swarm(asked) => swarm::swarm(&asked).unwrap_or_else(|refused| refused),
        Command::Variants(asked) => variants::variants(&asked),
        Command::Judge(asked) => judge::judge(&asked).unwrap_or_else(|refused| refused),
        Command::Vocabulary(vocabulary) => vocabulary::vocabulary(&vocabulary),
    };
    ExitCode::from(exit_code(judgement))
}

/// Lets the library's spans and events come out on stderr: without a clock, so that two runs say
/// the same.
fn follow(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => tracing::Level::INFO,
        2 => tracing::Level::DEBUG,
        3.. => tracing::Level::TRACE,
    };
    let spans = if verbose == 1 { FmtSpan::NEW } else { FmtSpan::NONE };
    let lines = tracing_subscriber::fmt().with_max_level(level).with_span_events(spans);
    // Told on stderr, where it has just failed: nobody would hear it, and it would be a panic.
    let lines = lines.log_internal_errors(false);
    lines.without_time().with_ansi(false).with_target(false).with_writer(io::stderr).init();
}

const fn exit_code(judgement: Judgement) -> u8 {
    match judgement {
        Judgement::AsExpected => 0,
        Judgement::NotAsExpected => 1,
        Judgement::Unreadable => 2,
        Judgement::Stale => 3,
        Judgement::Unknown => 4,
    }
}

/// Writes results to stdout. A reader that has seen enough and closed its end is no failure.
fn print(text: &str) -> Judgement {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("error: stdout cannot be written: {error}"));
            Judgement::Unreadable
        }
        Ok(()) | Err(_) => Judgement::AsExpected,
    }
}

/// Says on stderr what is wrong. If nobody listens there, the exit code still says it.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Says of each file that cannot be read what is wrong with it.
fn complain_of_unreadable(suite: &Suite) {
    let colour = io::stderr().is_terminal();
    for (_, scenario) in suite.files() {
        match scenario {
            Ok(_) => {}
            Err(error @ LoadError::Read { .. }) => complain(&format!("error: {error}\n")),
            Err(LoadError::Parse(error)) => complain(&format!("{}\n", error.render(colour))),
        }
    }
}

/// The command that replays a file under a protocol, as it can be pasted into a shell.
fn replay_command(path: &Path, protocol: &str) -> String {
    let program = std::env::args().next();
    let program = program.unwrap_or_else(|| env!("CARGO_BIN_NAME").to_owned());
    let (program, path) = (quoted(&program), quoted(&path.display().to_string()));
    format!("{program} replay {path} --protocol {protocol}")
}

/// A word for a shell; quoted only where it must be.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:=@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_only_where_a_shell_would_split_or_expand_it() {
        assert_eq!(quoted("a/b-c.scenario"), "a/b-c.scenario");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
