//! README.md says what is so: its scenarios are the files, its traces are what a run prints, its
//! table has a row for each property, and its first command prints what stands there. So does
//! docs/races.md, which has a row for each scenario.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use handover_sim::scenario::{Ending, Keyword as _, Property, Scenario, run};
use handover_sim::variants;

/// A line that stands for lines left out of a trace.
const GAP: &str = "...";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("the README is there")
}

fn races() -> String {
    fs::read_to_string(root().join("docs/races.md")).expect("the table of races is there")
}

/// Where the links of a text in Markdown lead to, without what stands behind a `#`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    ends.filter(|link| !link.is_empty())
}

/// A fenced block: the words behind the fence, and the lines in it.
struct Block {
    words: Vec<String>,
    text: String,
}

fn blocks(language: &str) -> Vec<Block> {
    let readme = readme();
    let mut found: Vec<Block> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if let Some(words) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                let words = words.split_whitespace().map(str::to_owned).collect();
                found.push(Block { words, text: String::new() });
            }
        } else if let (true, Some(block)) = (inside, found.last_mut()) {
            block.text.push_str(line);
            block.text.push('\n');
        }
    }
    assert!(!inside, "a block is not closed");
    found.retain(|block| block.words.first().is_some_and(|word| word == language));
    found
}

/// The texts of the scenarios that the README shows, by the word behind `scenario`.
fn shown() -> BTreeMap<String, String> {
    let name = |block: &Block| block.words.get(1).expect("it says which scenario it is").clone();
    blocks("scenario").into_iter().map(|block| (name(&block), block.text)).collect()
}

fn trace_of(text: &str, protocol: &str) -> String {
    let scenario = Scenario::parse("README.md", text, &variants::names());
    let scenario = scenario.expect("a scenario that is shown can be read");
    let run = run(&scenario, variants::by_name(protocol).expect("a block names a protocol"));
    if scenario.setup().ending(protocol).is_some() {
        assert!(run.is_as_expected(), "{protocol} ends otherwise: {:?}", run.ended);
    }
    run.trace.to_string()
}

fn scenario_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join("scenarios")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder of the scenarios can be read") {
            let path = entry.expect("its entries can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "scenario") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "there are scenarios");
    files
}

/// `scenarios/theme/name.scenario`, as links have it.
fn link(file: &Path) -> String {
    let names = file.iter().rev().take(3).map(|name| name.to_string_lossy().into_owned());
    let names: Vec<String> = names.collect();
    names.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// What stands in the brackets at the end of a title.
fn source(title: &str) -> Option<&str> {
    title.trim_end().strip_suffix(')')?.rsplit_once('(').map(|(_, source)| source)
}

/// Whether a public report is named, and not only a rule of our own.
fn is_report(source: &str) -> bool {
    !source.starts_with("rule ") || source.contains(',')
}

#[test]
fn each_scenario_that_names_its_file_is_that_file() {
    let shown = shown();
    let files = shown.iter().filter(|(name, _)| name.starts_with("scenarios/"));
    let mut compared = 0;
    for (name, text) in files {
        let file = fs::read_to_string(root().join(name)).expect("the file is there");
        assert_eq!(*text, file, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 3, "the three races");
    assert!(shown.len() > compared, "and one that the reader writes");
}

#[test]
fn each_trace_is_what_a_run_prints() {
    let shown = shown();
    let mut protocols = BTreeSet::new();
    for block in blocks("trace") {
        let [_, name, protocol] = block.words.as_slice() else {
            panic!("a trace names its scenario and its protocol: {:?}", block.words);
        };
        let trace = trace_of(&shown[name], protocol);
        let mut rest = trace.as_str();
        for piece in block.text.split(&format!("{GAP}\n")) {
            // Whole lines: a piece begins where a line does.
            let at = rest.match_indices(piece).map(|(at, _)| at);
            let at = at.into_iter().find(|at| *at == 0 || rest[..*at].ends_with('\n'));
            let at = at.unwrap_or_else(|| {
                panic!("{name} under {protocol} does not go like this:\n{piece}\nbut:\n{trace}")
            });
            rest = &rest[at + piece.len()..];
        }
        protocols.insert((name.clone(), protocol == "current"));
    }
    let names: BTreeSet<&String> = protocols.iter().map(|(name, _)| name).collect();
    assert_eq!(protocols.len(), 2 * names.len(), "each is shown right and wrong");
    assert_eq!(names.len(), shown.len(), "each scenario that is shown has a trace");
}

#[test]
fn each_scenario_has_its_row_with_its_reports_and_its_wrong_protocol() {
    let races = races();
    for file in scenario_files() {
        let link = link(&file);
        let scenario = Scenario::load(&file, &variants::names()).expect("it can be read");
        let text = fs::read_to_string(&file).expect("it can be read");
        let title = text.lines().next().expect("it has a title");
        let Some(source) = source(title).filter(|source| is_report(source)) else {
            let named = races.contains(&format!("](../{link})"));
            assert!(named, "{link} is not in docs/races.md");
            continue;
        };
        let wrong = scenario.setup().endings.iter().filter_map(|(protocol, ending)| match ending {
            Ending::Breaks(property) => Some(format!("`{protocol}`: `{}`", property.word())),
            Ending::Holds => None,
        });
        let wrong = wrong.collect::<Vec<_>>().join(", ");
        let row = races.lines().find(|line| {
            line.starts_with(&format!("| {source} |")) && line.contains(&format!("](../{link})"))
        });
        let row =
            row.unwrap_or_else(|| panic!("docs/races.md has no row `| {source} | ... ({link}) |`"));
        let last = row.trim_end_matches('|').rsplit('|').next().map(str::trim);
        assert_eq!(last, Some(wrong.as_str()), "the wrong protocol of {link}");
    }
}

#[test]
fn no_row_is_about_a_scenario_that_is_not_there() {
    let files = scenario_files();
    let races = races();
    let linked: BTreeSet<&str> = links(&races).filter(|link| link.ends_with(".scenario")).collect();
    let names: Vec<String> = files.iter().map(|file| format!("../{}", link(file))).collect();
    assert_eq!(linked, names.iter().map(String::as_str).collect());
}

#[test]
fn each_link_leads_to_a_file() {
    for (text, folder) in [(readme(), root()), (races(), root().join("docs"))] {
        for link in links(&text) {
            assert!(folder.join(link).exists(), "{link} is not there");
        }
    }
}

#[test]
fn each_property_has_its_row_with_the_module_that_judges_it() {
    let readme = readme();
    for property in Property::ALL {
        let word = property.word();
        let row = readme.lines().find(|line| line.starts_with(&format!("| `{word}` |")));
        let row = row.unwrap_or_else(|| panic!("{word} has no row"));
        let module: String = word.chars().fold(String::new(), |mut module, letter| {
            if letter.is_uppercase() && !module.is_empty() {
                module.push('_');
            }
            module.extend(letter.to_lowercase());
            module
        });
        assert!(row.contains(&format!("(sim/src/check/{module}.rs)")), "{row}");
    }
}

#[test]
fn each_test_that_is_shown_is_a_scenario_under_a_protocol_of_its_head() {
    let block = blocks("tests").pop().expect("there is one");
    assert!(!block.text.is_empty());
    for line in block.text.lines() {
        let name = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... ok"));
        let parts: Vec<&str> = name.expect("it is a test").trim().split("::").collect();
        let [theme, file, protocol] = parts.as_slice() else {
            panic!("{line} is no test of a scenario");
        };
        let file = root().join("scenarios").join(theme).join(format!("{file}.scenario"));
        let scenario = Scenario::load(&file, &variants::names()).expect("it can be read");
        assert!(scenario.setup().ending(protocol).is_some(), "{line}");
    }
}

#[test]
fn the_first_command_prints_what_stands_here() {
    let output = Command::new(env!("CARGO_BIN_EXE_handover-sim")).current_dir(root()).output();
    let output = output.expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("it prints text");
    let block = blocks("check").pop().expect("there is one");
    assert_eq!(block.text, printed, "this is what it prints now:\n{printed}");
}

/// Those that not every seed finds take all of their schedules each, which is too long to wait for.
#[test]
fn the_rows_of_the_wrong_protocols_that_each_seed_finds_are_what_the_hunt_prints() {
    let block = blocks("variants").pop().expect("there is one");
    let rows: Vec<Vec<&str>> =
        block.text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    let found: Vec<&Vec<&str>> = rows.iter().filter(|row| row[3] == "20/20").collect();
    assert!(found.len() >= 8, "the table is a sample of what is found");
    let mut command = Command::new(env!("CARGO_BIN_EXE_handover-sim"));
    command.args(["variants", "--strategy", "mix"]);
    for row in &found {
        command.args(["--protocol", row[0]]);
    }
    let output = command.output().expect("it starts");
    let printed = String::from_utf8(output.stdout).expect("it prints text");
    for row in found {
        let line = printed.lines().find(|line| line.starts_with(&format!("{} ", row[0])));
        let line = line.unwrap_or_else(|| panic!("no row of {} in\n{printed}", row[0]));
        // The README leaves out the strategy, which is the same in each row.
        let words = line.split_whitespace().filter(|word| *word != "mix");
        assert_eq!(*row, words.collect::<Vec<_>>(), "this is what it prints now:\n{printed}");
    }
}

#[test]
fn the_failure_of_the_swarm_is_told_as_it_is_printed() {
    let out = tempfile::tempdir().expect("there is room for a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_handover-sim"));
    command.args(["swarm", "--seeds", "0..1", "--protocol", "silent-stand-down", "--out", "."]);
    let printed = command.current_dir(out.path()).output().expect("the program can be started");
    let printed = String::from_utf8(printed.stdout).expect("it prints text");
    let (_, told) = printed.split_once("\nbroken ").expect("the first seed breaks it");
    let readme = readme();
    for line in told.lines() {
        let line = line.split_once(" replay ").map_or(line, |(_, replayed)| replayed);
        assert!(readme.contains(line), "the README has no `{line}`, of\n{printed}");
    }
}
