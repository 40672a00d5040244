//! The scenario language: what parses, how it prints, and what a mistake is told.

use handover_sim::scenario::{
    Arbiter, Command, Content, Ending, Fact, Grant, HoldFact, HostRef, Link, LoadError, ParseError,
    Property, Scenario, limits, vocabulary,
};

const VARIANTS: &[&str] = &["silent-stand-down", "guarded-report"];

const CROSSED: &str = "\
# A stand-down crosses the offer (MeshWeaver#3567)
The record offers the job to b while b, that cannot know it, stands down.
hosts   b:v1  c:v1
under   current            holds
under   silent-stand-down  breaks NoWedge

ask b
deliver b -> record            # Offered(b, g1); the view is on its way
ask c
deliver c -> record
stand-down b                   # b has seen no offer
deliver b -> record            # taken back and offered to c, in one step
expect hold Offered(c, g2)
rest
expect gate c open
";

const HEAD: &str = "\
# A title
hosts b:v1 c:v1
idle d:v2
arbiters 2
under current holds
under silent-stand-down breaks NoWedge
";

fn parse(text: &str) -> Result<Scenario, ParseError> {
    Scenario::parse("race.scenario", text, VARIANTS)
}

fn good(text: &str) -> Scenario {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn bad(text: &str) -> ParseError {
    parse(text).expect_err("the text has a mistake")
}

/// `line:column found / nearest` of each mistake.
fn mistakes(text: &str) -> Vec<String> {
    let error = bad(text);
    let each = error.diagnostics().iter().map(|each| {
        let nearest = each.nearest.as_deref().unwrap_or("-");
        format!("{}:{} {} / {nearest}", each.line, each.column, each.found)
    });
    each.collect()
}

fn body(line: &str) -> String {
    format!("{HEAD}{line}\n")
}

/// Where the first line behind [`HEAD`] stands.
const BODY: usize = 7;

#[test]
fn the_example_of_the_design_parses_and_prints_byte_for_byte() {
    let scenario = good(CROSSED);
    assert_eq!(scenario.to_string(), CROSSED);
    assert_eq!(scenario.title(), "A stand-down crosses the offer (MeshWeaver#3567)");
    assert_eq!(scenario.setup().ending("current"), Some(Ending::Holds));
    let breaks = Ending::Breaks(Property::NoWedge);
    assert_eq!(scenario.setup().ending("silent-stand-down"), Some(breaks));
    let host = |name: &str| HostRef { name: name.to_owned(), incarnation: None };
    let link = Link::ToRecord(host("b"), Arbiter::First);
    let commands: Vec<&Command> = scenario.commands().map(|(_, command)| command).collect();
    assert_eq!(commands.len(), 9);
    assert_eq!(commands[1], &Command::Deliver { link });
    let hold = Fact::Hold(HoldFact::Offered { host: host("c"), grant: Grant(2) });
    assert_eq!(commands[6], &Command::Expect { under: None, fact: hold });
}

#[test]
fn comments_blank_lines_and_prose_are_kept() {
    let text = format!("{HEAD}\n# a remark\n#\nask b  #  indented\nrest #\n");
    let scenario = good(&text);
    let lines = &scenario.lines()[5..];
    assert_eq!(lines[0].content(), &Content::Blank);
    assert_eq!(lines[1].content(), &Content::Comment("a remark".to_owned()));
    assert_eq!(lines[2].content(), &Content::Comment(String::new()));
    assert_eq!(lines[3].comment(), Some(" indented"));
    assert_eq!(lines[4].comment(), None);
}

#[test]
fn a_span_is_the_text_of_its_line() {
    let text = format!("{HEAD}  ask b # why\r\nrest\n");
    let scenario = good(&text);
    let spans: Vec<(usize, &str)> =
        scenario.commands().map(|(span, _)| (span.line, &text[span.start..span.end])).collect();
    assert_eq!(spans, [(BODY, "ask b # why"), (BODY + 1, "rest")]);
}

#[test]
fn tabs_line_ends_of_windows_and_a_byte_order_mark_are_accepted() {
    let windows = format!("\u{feff}{}", CROSSED.replace('\n', "\r\n").replace("  ", "\t"));
    assert_eq!(good(&windows), good(CROSSED));
}

#[test]
fn a_composed_scenario_parses_to_itself() {
    let scene = good(CROSSED);
    let commands = scene.commands().map(|(_, command)| command.clone());
    let composed = Scenario::compose("Found by a walk", &["Why."], scene.setup(), commands);
    assert_eq!(good(&composed.to_string()), composed);
    assert_eq!(composed.setup(), scene.setup());
}

#[test]
fn a_scene_survives_its_own_headers() {
    let text = "# T\nslots b=2 d=3\nhosts b:v1 c:v1\nidle d:v2\npriority c=7\npinned d b\n\
                chunks base assets\narbiters 2\nunder current holds\n";
    let scenario = good(text);
    let composed = Scenario::compose("T", &[], scenario.setup(), []);
    assert_eq!(good(&composed.to_string()).setup(), scenario.setup());
    let host = scenario.setup().host("d").expect("d is idle");
    assert_eq!((host.booted, host.slots, host.priority, host.pinned), (false, 3, 0, true));
}

#[test]
fn each_example_of_the_vocabulary_parses_and_is_canonical() {
    for entry in vocabulary::verbs() {
        let scenario = good(&body(entry.example));
        let (_, command) = scenario.commands().next().expect("an example is a command");
        assert_eq!(command.to_string(), entry.example);
        assert_eq!(command.verb(), entry.word(), "{}", entry.form);
    }
    for entry in vocabulary::facts() {
        let example = format!("expect {}", entry.example);
        let scenario = good(&body(&example));
        let (_, command) = scenario.commands().next().expect("an example is a command");
        assert_eq!(command.to_string(), example);
        assert!(entry.example.starts_with(entry.word()), "{}", entry.form);
    }
    for entry in vocabulary::headers() {
        let others = HEAD.lines().filter(|line| !line.starts_with(entry.word()));
        let text: Vec<&str> = others.chain([entry.example]).collect();
        let scenario = good(&text.join("\n"));
        let header = scenario.lines().last().and_then(|line| line.header()).expect("a header");
        let words: Vec<String> = header.to_string().split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), entry.example);
        assert!(entry.example.starts_with(entry.word()), "{}", entry.form);
    }
}

#[test]
fn no_word_of_the_vocabulary_is_there_twice() {
    let mut words: Vec<&str> =
        vocabulary::headers().chain(vocabulary::verbs()).map(|entry| entry.word()).collect();
    let count = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), count);
    let mut facts: Vec<&str> = vocabulary::facts().map(|entry| entry.word()).collect();
    let count = facts.len();
    facts.sort_unstable();
    facts.dedup();
    assert_eq!(facts.len(), count);
}

#[test]
fn the_reference_shows_each_word_in_a_table_of_three_columns() {
    let reference = vocabulary::markdown();
    let entries = vocabulary::headers().chain(vocabulary::verbs()).chain(vocabulary::facts());
    for entry in entries {
        let row = format!("| `{}` | {} |", entry.form.replace('|', "\\|"), entry.meaning);
        assert!(reference.contains(&row), "{row}");
    }
    for row in reference.lines().filter(|line| line.starts_with('|')) {
        assert_eq!(row.replace("\\|", "").matches('|').count(), 4, "{row}");
    }
}

#[test]
fn a_verb_that_the_table_does_not_know_is_none() {
    assert_eq!(mistakes(&body("arbiter-crash")), ["7:1 `arbiter-crash` / -"]);
    assert_eq!(mistakes(&body("teleport b")), ["7:1 `teleport` / -"]);
}

#[test]
fn an_unknown_verb_is_shown_with_its_place_and_the_nearest_word() {
    let error = bad(&body("rest\n  delivr b -> record"));
    let text = error.to_string();
    assert!(text.starts_with("error: found `delivr`\n --> race.scenario:8:3\n"), "{text}");
    assert!(text.contains("8 |   delivr b -> record\n"), "{text}");
    assert!(text.contains("^^^^^^ did you mean `deliver`?\n"), "{text}");
    assert!(
        text.contains("= help: valid here: a command; `handover-sim vocabulary` lists"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "no colour unless asked");
    assert!(error.render(true).contains('\u{1b}'));
}

#[test]
fn a_word_that_is_missing_is_shown_with_the_form() {
    let expected = "\
error: found the end of the line
 --> race.scenario:7:10
  |
7 | deliver b
  |          ^
  |
  = help: valid here: `->`
  = note: the form is `deliver LINK`";
    assert_eq!(bad(&body("deliver b")).to_string(), expected);
}

#[test]
fn the_place_counts_characters_and_agrees_with_the_picture() {
    let error = bad(&body("fail b größer\nask b\u{e4} "));
    let diagnostic = &error.diagnostics()[0];
    assert_eq!((diagnostic.line, diagnostic.column), (8, 5));
    let error = bad(&body("expect under current gäte b open"));
    assert!(error.to_string().contains("race.scenario:7:22"), "{error}");
    assert_eq!(error.diagnostics()[0].column, 22);
    assert_eq!(error.diagnostics()[0].nearest.as_deref(), Some("gate"));
}

#[test]
fn each_slip_is_found_at_its_word() {
    for (line, expected) in [
        ("ask e", "7:5 `e` / -"),
        ("Ask b", "7:1 `Ask` / ask"),
        ("gate b open", "7:1 `gate` / -"),
        ("ask", "7:4 the end of the line / -"),
        ("ask b c", "7:7 `c` / -"),
        ("ask b.0", "7:7 `0` / -"),
        ("ask b.1000001", "7:7 `1000001` / -"),
        ("ask b.+1", "7:7 `+1` / -"),
        ("deliver b->record", "7:9 `b->record` / -"),
        ("deliver b -> recrod", "7:14 `recrod` / record"),
        ("deliver b record", "7:11 `record` / -"),
        ("stall recrd", "7:7 `recrd` / -"),
        ("slow b 0", "7:8 `0` / -"),
        ("slow b 99999999999999999999", "7:8 `99999999999999999999` / -"),
        ("stale b 17", "7:9 `17` / -"),
        ("lapse 1", "7:7 `1` / -"),
        ("lapse g0", "7:8 `0` / -"),
        ("boot e:v1", "7:6 `e` / -"),
        ("boot d:", "7:8 `` / -"),
        ("plan b base base", "7:13 `base` a second time / -"),
        ("drain b then stp", "7:14 `stp` / stop"),
        ("drain b until-undraind", "7:9 `until-undraind` / -"),
        ("submit b g1", "7:10 `g1` / -"),
        ("expect hold Offred(b, g1)", "7:13 `Offred` / Offered"),
        ("expect hold Offered(b g1)", "7:23 `g1` / -"),
        ("expect hold Offered(b, g1", "7:26 the end of the line / -"),
        ("expect gate b opn", "7:15 `opn` / open"),
        ("expect line b asking", "7:15 `asking` / Asking"),
        ("expect under guarded-report gate b open", "7:14 `guarded-report` / -"),
        ("expect refused Stale-Grant", "7:16 `Stale-Grant` / StaleGrant"),
        ("expect refused declined", "7:16 `declined` / Declined"),
        ("expect draining b no then stop", "7:22 `then` / -"),
        ("expect verdict v3 none", "7:16 `v3` / v1"),
        ("retry v21 g1", "7:7 `v21` / v1"),
        ("check NoWegde", "7:7 `NoWegde` / NoWedge"),
    ] {
        assert_eq!(mistakes(&body(line)), [expected], "{line}");
    }
}

#[test]
fn each_slip_of_the_head_is_found_at_its_word() {
    for (head, expected) in [
        ("hosts b:v1 b:v2", "2:12 `b` a second time / -"),
        ("hosts b:v1\nidle b:v2", "3:6 `b` a second time / -"),
        ("hosts b", "2:7 `b` / -"),
        ("hosts ask:v1", "2:7 `ask` / -"),
        ("hosts record:v1", "2:7 `record` / -"),
        ("hosts g1:v1", "2:7 `g1` / -"),
        ("hosts B:v1", "2:7 `B` / -"),
        ("hosts b:-", "2:9 `-` / -"),
        ("hosts b:v1\nhosts c:v1", "3:1 `hosts` a second time / -"),
        ("hosts b:v1\nslots b=65", "3:9 `65` / -"),
        ("hosts b:v1\nslots c=1", "3:7 `c` / -"),
        ("hosts b:v1\nslots b=1 b=2", "3:11 `b=2` a second time / -"),
        ("hosts b:v1\narbiters 3", "3:10 `3` / -"),
        ("hosts b:v1\nchunks", "3:7 the end of the line / -"),
        ("host b:v1\nhosts b:v1", "2:1 `host` / hosts"),
        ("hosts b:v1\nunder guarded-reprot holds", "3:7 `guarded-reprot` / guarded-report"),
        ("hosts b:v1\nunder guarded-report hold", "3:22 `hold` / holds"),
        ("hosts b:v1\nThe prose comes late.", "3:1 `The` / -"),
    ] {
        let text = format!("# T\n{head}\nunder current holds\n");
        assert_eq!(mistakes(&text), [expected], "{head}");
    }
}

#[test]
fn a_version_that_a_later_boot_brings_is_known() {
    good(&body("expect verdict v9 none\nboot d:v9"));
    good(&body("expect verdict v9 none\noverlap b:v9"));
}

#[test]
fn a_header_behind_a_command_is_refused() {
    assert_eq!(mistakes(&body("rest\nchunks base")), ["8:1 `chunks` / -"]);
}

#[test]
fn no_line_of_a_message_is_longer_than_a_terminal() {
    let text = bad(&body("teleport b\ndrain b then stp")).to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("`check`"), "{text}");
    let text = bad(&body(&format!("ask b # {}", "x".repeat(900_000)))).to_string();
    assert!(text.len() < 1_000, "{} bytes", text.len());
}

#[test]
fn the_second_arbiter_needs_its_header() {
    let text = "# T\nhosts b:v1\nunder current holds\nconflict record2\n";
    assert_eq!(mistakes(text), ["4:10 `record2` / -"]);
    good(&text.replace("under", "arbiters 2\nunder"));
}

#[test]
fn a_missing_header_is_missed_at_the_first_command() {
    let text = "# T\nHosts b:v1\n\nask b\n";
    assert_eq!(
        mistakes(text),
        [
            "4:1 no `hosts` in the lines before / -",
            "4:1 no `under current` in the lines before / -"
        ]
    );
    let note = bad(text).diagnostics()[0].note.clone();
    assert_eq!(note.as_deref(), Some("line 2 is prose: it begins with an upper-case letter"));
}

#[test]
fn a_header_that_cannot_be_read_is_not_reported_again_at_each_host() {
    let text = "# T\nhosts b:v1 c\narbiters two\nunder current hodls\n\
                ask b\nask c\npublish record2\nexpect under silent-stand-down stuck\n";
    assert_eq!(mistakes(text), ["2:12 `c` / -", "3:10 `two` / -", "4:15 `hodls` / holds"]);
}

#[test]
fn a_file_without_a_title_is_still_read() {
    assert_eq!(
        mistakes("hosts b:v1\nunder current holds\nask c\n"),
        ["1:1 a line without `#` / -", "3:5 `c` / -"]
    );
    assert_eq!(mistakes("#\n")[0], "1:1 a title without text / -");
}

#[test]
fn all_mistakes_are_reported_up_to_twenty() {
    let error = bad(&body("ask e\nask f\nrest"));
    let lines: Vec<usize> = error.diagnostics().iter().map(|each| each.line).collect();
    assert_eq!((lines, error.more()), (vec![7, 8], false));
    let error = bad(&body(&"ask e\n".repeat(1_000)));
    assert_eq!((error.diagnostics().len(), error.more()), (limits::DIAGNOSTICS_MAX, true));
    assert!(error.to_string().ends_with("only the first 20 mistakes are shown"));
    let error = bad(&body(&"ask e\n".repeat(20)));
    assert_eq!((error.diagnostics().len(), error.more()), (limits::DIAGNOSTICS_MAX, false));
}

#[test]
fn what_is_no_scenario_is_refused_in_one_sentence() {
    for text in ["", "\n \n\t\n"] {
        assert_eq!(mistakes(text), ["1:1 an empty file / -"]);
    }
    assert_eq!(mistakes("# T\nab\0"), ["2:3 a byte 0 at offset 6: this is no text / -"]);
    let error = Scenario::parse_bytes("x", b"# T\nab\xff", VARIANTS).expect_err("no text");
    let diagnostic = &error.diagnostics()[0];
    assert_eq!((diagnostic.line, diagnostic.column), (2, 3));
    assert_eq!(diagnostic.found, "a byte 0xff at offset 6: this is no text");
    assert!(error.to_string().contains("x:2:3"), "{error}");
    assert!(!error.to_string().contains('|'), "no line is shown: {error}");
}

#[test]
fn the_limits_are_met_exactly() {
    let long = |count: usize| body(&format!("rest # {}", "x".repeat(count - 7)));
    good(&long(limits::LINE_CHARS_MAX));
    assert_eq!(mistakes(&long(limits::LINE_CHARS_MAX + 1)), ["7:1 a line of 501 characters / -"]);
    good(&body(&"rest\n".repeat(limits::COMMANDS_MAX)));
    let many = body(&"rest\n".repeat(limits::COMMANDS_MAX + 9));
    assert_eq!(mistakes(&many), ["10007:1 more than 10000 commands / -"]);
    let builds = |count: usize| -> String {
        body(&(0..count).map(|index| format!("submit b x{index}\n")).collect::<String>())
    };
    good(&builds(limits::BUILDS_MAX));
    assert_eq!(mistakes(&builds(limits::BUILDS_MAX + 9)), ["507:1 more than 500 builds / -"]);
    let hosts = |count: usize| {
        let names: Vec<String> = (0..count).map(|index| format!("b{index}:v1")).collect();
        format!("# T\nhosts {}\nunder current holds\n", names.join(" "))
    };
    good(&hosts(limits::HOSTS_MAX));
    assert_eq!(mistakes(&hosts(limits::HOSTS_MAX + 1)), ["2:221 `b32` / -"]);
    let filler = limits::FILE_BYTES_MAX - HEAD.len();
    let full = format!("{HEAD}{}", "\n".repeat(filler));
    good(&full);
    assert_eq!(mistakes(&format!("{full}\n")), ["1:1 a file of more than 1048576 bytes / -"]);
}

#[test]
fn a_file_is_loaded_under_its_path_and_a_missing_one_is_named() {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let error = Scenario::load(here, VARIANTS).expect_err("a manifest is no scenario");
    assert!(matches!(&error, LoadError::Parse(error) if error.name() == here), "{error}");
    let error = Scenario::load("no/such.scenario", VARIANTS).expect_err("there is none");
    assert!(matches!(&error, LoadError::Read { .. }), "{error}");
    assert!(error.to_string().starts_with("no/such.scenario: "), "{error}");
}
