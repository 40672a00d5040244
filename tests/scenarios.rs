//! Each scenario under each protocol of its head, as a test of its own.
//!
//! `cargo test stand_down` runs those whose name has it. A test fails if the run is not as the file
//! says, or if its trace is not the pinned one. Read a changed trace as the story that it is, and
//! accept it only if you understand the change.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use handover_sim::scenario::{Ended, Run, Scenario, run};
use handover_sim::variants;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "there are no scenarios under {}", root.display());
    let trials = files.iter().flat_map(|file| trials(&root, file)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the folder of the scenarios can be read");
    for entry in entries {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension() == Some(OsStr::new("scenario")) {
            files.push(path);
        }
    }
}

/// One test per protocol, or one that fails if the file cannot be read.
fn trials(root: &Path, file: &Path) -> Vec<Trial> {
    let relative = file.strip_prefix(root).expect("found below the root").with_extension("");
    let name = relative.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "::");
    let scenario = match Scenario::load(file, &variants::names()) {
        Ok(scenario) => scenario,
        Err(error) => {
            let error = error.to_string();
            return vec![Trial::test(name, || Err(Failed::from(error)))];
        }
    };
    let protocols: Vec<String> =
        scenario.setup().endings.iter().map(|(protocol, _)| protocol.clone()).collect();
    let trial = |protocol: String| {
        let (scenario, relative) = (scenario.clone(), relative.clone());
        Trial::test(format!("{name}::{protocol}"), move || play(&scenario, &relative, &protocol))
    };
    protocols.into_iter().map(trial).collect()
}

fn play(scenario: &Scenario, relative: &Path, protocol: &str) -> Result<(), Failed> {
    let protocol = variants::by_name(protocol).ok_or("the parser knows only protocols that are")?;
    let run = run(scenario, protocol);
    let mut settings = insta::Settings::new();
    let theme = relative.parent().unwrap_or_else(|| Path::new(""));
    settings.set_snapshot_path(Path::new("snapshots").join(theme));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let file = relative.file_name().map(|file| file.to_string_lossy()).unwrap_or_default();
    let story = format!("{}\n{}", run.trace, ending(&run));
    settings.bind(|| insta::assert_snapshot!(format!("{file}@{}", protocol.name()), story));
    if run.is_as_expected() { Ok(()) } else { Err(Failed::from(complaint(&run))) }
}

fn ending(run: &Run) -> String {
    match &run.ended {
        Ended::Holds => "ending holds".to_owned(),
        Ended::Breaks { violation, .. } => format!("ending breaks {}", violation.property),
    }
}

fn complaint(run: &Run) -> String {
    let mut text = format!("under {} it is not as the file says:\n", run.protocol);
    for failure in &run.failures {
        let _ = writeln!(
            text,
            "line {}: expected {}; found: {}",
            failure.line, failure.expected, failure.found
        );
    }
    if run.is_stale() {
        for stale in &run.stale {
            let _ = writeln!(
                text,
                "line {}: {} cannot happen: {}",
                stale.line, stale.command, stale.why
            );
        }
    }
    if let Ended::Breaks { line, violation } = &run.ended {
        let _ = writeln!(text, "line {line}: {violation}");
    }
    let _ = writeln!(text, "{}; the head says {:?}", ending(run), run.expected);
    text
}
