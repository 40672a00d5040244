//! The pictures: well-formed, complete, and without a word upon another.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use handover_sim::choose::{WalkSettings, walk};
use handover_sim::explain::Failure;
use handover_sim::picture::{Picture, html, mermaid, svg};
use handover_sim::scenario::{Moment, Scenario, watch};
use handover_sim::suite::Suite;
use handover_sim::variants::{by_name, names};
use handover_sim::world::{Event, Fact};
use roxmltree::{Document, Node};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All scenarios, each with the names of its protocols.
fn scenarios() -> Vec<(Scenario, Vec<String>)> {
    let suite = Suite::load(&[root().join("scenarios")]);
    let read = suite.files().map(|(_, scenario)| scenario.expect("it can be read").clone());
    let with_protocols = read.map(|scenario| {
        let endings = scenario.setup().endings.iter();
        let protocols = endings.map(|(name, _)| name.clone()).collect();
        (scenario, protocols)
    });
    with_protocols.collect()
}

fn parse(text: &str) -> Scenario {
    Scenario::parse("picture.scenario", text, &names()).expect("it is a scenario")
}

fn picture(scenario: &Scenario, protocol: &str) -> Picture {
    Picture::of(scenario, by_name(protocol).expect("there is such a protocol"))
}

/// A walk of 20 hosts with faults, as a file.
fn crowd() -> Scenario {
    let settings = WalkSettings { hosts: 20, ..WalkSettings::rolling_update() };
    let no_grants = by_name("no-grants").expect("there is such a protocol");
    let walks = (0..50).map(|seed| walk(seed, &settings, no_grants));
    let mut broken = walks.filter(|report| Failure::of(report).is_some());
    broken.next().expect("one of 50 breaks something").scenario()
}

/// The sizes of the letters of each class, from the style sheet.
fn letters(document: &Document<'_>) -> BTreeMap<String, f64> {
    let style = document.descendants().find(|node| node.has_tag_name("style"));
    let style = style.and_then(|node| node.text()).expect("there is a style sheet");
    let rules = style.split('}').filter_map(|rule| {
        let (selector, body) = rule.split_once('{')?;
        let size = body.strip_prefix("font:")?.split("px").next()?.split(' ').nth(1)?;
        Some((selector.strip_prefix('.')?.to_owned(), size.parse().ok()?))
    });
    rules.collect()
}

#[derive(Debug)]
struct Word {
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

fn number(node: &Node<'_, '_>, name: &str) -> f64 {
    let text = node.attribute(name).unwrap_or_else(|| panic!("it has {name}"));
    text.parse().expect("it is a number")
}

/// What each word covers: three fifths of its size a letter, which is what a wide font needs.
fn words(document: &Document<'_>) -> Vec<Word> {
    let letters = letters(document);
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let words = texts.map(|node| {
        let text = node.text().unwrap_or_default().to_owned();
        let size = letters[node.attribute("class").expect("each word has a class")];
        let count = f64::from(u32::try_from(text.chars().count()).expect("a short text"));
        let wide = count * size * 0.6;
        let (x, y) = (number(&node, "x"), number(&node, "y"));
        let left = match node.attribute("text-anchor") {
            None => x,
            Some("middle") => x - wide / 2.0,
            Some("end") => x - wide,
            Some(other) => panic!("no anchor is called {other}"),
        };
        let (top, bottom) = (y - size * 0.75, y + size * 0.15);
        Word { text, left, right: left + wide, top, bottom }
    });
    words.collect()
}

fn assert_legible(text: &str, what: &str) {
    let document = Document::parse(text).unwrap_or_else(|error| panic!("{what}: {error}"));
    let size = |name| number(&document.root_element(), name);
    let (width, height) = (size("width"), size("height"));
    let words = words(&document);
    for (index, word) in words.iter().enumerate() {
        assert!(word.left >= 0.0 && word.right <= width, "{what}: {word:?} of {width}");
        assert!(word.top >= 0.0 && word.bottom <= height, "{what}: {word:?} of {height}");
        for other in &words[..index] {
            let apart = word.left >= other.right
                || other.left >= word.right
                || word.top >= other.bottom
                || other.top >= word.bottom;
            assert!(apart, "{what}: {word:?} upon {other:?}");
        }
    }
}

#[test]
fn every_scenario_has_a_picture_in_which_no_word_is_upon_another() {
    for (scenario, protocols) in scenarios() {
        for protocol in protocols {
            let text = svg(&[picture(&scenario, &protocol)]);
            assert_legible(&text, &format!("{} under {protocol}", scenario.title()));
        }
    }
}

/// Left, right, top and bottom of each bar of a class.
fn bars(document: &Document<'_>, class: &str) -> Vec<[f64; 4]> {
    let nodes = document.descendants().filter(|node| node.has_tag_name("rect"));
    let of_class = nodes.filter(|node| node.attribute("class") == Some(class));
    let bars = of_class.map(|node| {
        let (x, y) = (number(&node, "x"), number(&node, "y"));
        [x, x + number(&node, "width"), y, y + number(&node, "height")]
    });
    bars.collect()
}

#[test]
fn slots_and_builds_that_last_at_once_stand_beside_each_other() {
    let mut beside = BTreeMap::new();
    let with_builds =
        scenarios().into_iter().filter(|(scenario, _)| scenario.to_string().contains("\nsubmit "));
    for (scenario, protocols) in with_builds {
        for protocol in protocols {
            let text = svg(&[picture(&scenario, &protocol)]);
            let document = Document::parse(&text).expect("it is well-formed");
            for class in ["slot", "build"] {
                let bars = bars(&document, class);
                for (index, bar) in bars.iter().enumerate() {
                    let at_once =
                        bars[..index].iter().filter(|other| bar[2] < other[3] && other[2] < bar[3]);
                    for other in at_once {
                        *beside.entry(class).or_insert(0) += 1;
                        let is_apart = bar[1] < other[0] || other[1] < bar[0];
                        let title = scenario.title();
                        assert!(is_apart, "{title} under {protocol}: a {class} upon another");
                    }
                }
            }
        }
    }
    assert!(beside["slot"] > 5 && beside["build"] > 5, "{beside:?}");
}

/// The bars of a kind: what each is of, and the commands at which it begins and ends.
fn lasting(picture: &Picture, kind: &str) -> Vec<[String; 3]> {
    let data = serde_json::to_value(picture).expect("it can be written");
    let rows = &data["rows"];
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let row = |value: &serde_json::Value| {
        value.as_u64().map_or_else(String::new, |row| {
            text(&rows[usize::try_from(row).expect("it fits")]["text"])
        })
    };
    let bars = data["bars"].as_array().expect("there are bars").iter();
    let of_kind = bars.filter(|bar| bar["kind"] == kind);
    of_kind.map(|bar| [text(&bar["what"]), row(&bar["from"]), row(&bar["to"])]).collect()
}

#[test]
fn a_life_keeps_its_slot_when_the_next_one_boots() {
    let path = root().join("scenarios/membership/overlapping_boot_is_another_host.scenario");
    let scenario = Scenario::load(path, &names()).expect("it can be read");
    let slots = lasting(&picture(&scenario, "word-buries-the-last-life"), "slot");
    let of_build: Vec<_> = slots.iter().filter(|[what, ..]| what == "g1").collect();
    assert_eq!(of_build, [&["g1", "deliver record -> b", "step b.1 release g1"]]);
}

#[test]
fn each_of_two_lives_has_its_bars_until_its_own_end() {
    let text = "# Two lives\nhosts   b:v1\nunder   current   holds\n\n\
        ask b\ndeliver b -> record\ndeliver record -> b\ndeliver b -> record\n\
        deliver record -> b\noverlap b:v2\nslow b.1 10\npause b.1\nslow b.2 5\nresume b.1\n\
        drain b.1\ncrash b.2\nbuild-ends b.1\ncrash b.1\n";
    let picture = picture(&parse(text), "current");
    assert_eq!(lasting(&picture, "build"), [["g1", "step b start g1", "build-ends b.1"]]);
    assert_eq!(lasting(&picture, "stalled"), [["", "pause b.1", "resume b.1"]]);
    assert_eq!(lasting(&picture, "drain"), [["", "drain b.1", "crash b.1"]]);
    let slow = [["", "slow b.1 10", "crash b.1"], ["", "slow b.2 5", "crash b.2"]];
    assert_eq!(lasting(&picture, "slow"), slow);
    assert_eq!(lasting(&picture, "dead"), [["", "crash b.1", ""]]);
}

#[test]
fn slots_that_are_given_in_one_step_are_told_side_by_side() {
    let text = "# Two slots\nhosts   b:v1\nslots   b=2\nunder   current   holds\n\n\
        drain b\nsubmit b red\nsubmit b blue\nundrain b\nrest\n";
    let text = svg(&[picture(&parse(text), "current")]);
    assert_legible(&text, "two slots");
    let document = Document::parse(&text).expect("it is well-formed");
    assert!(words(&document).iter().any(|word| word.text == "red, blue"));
}

#[test]
fn twenty_lanes_are_as_legible_as_three() {
    let scenario = crowd();
    let text = svg(&[picture(&scenario, "no-grants")]);
    assert_legible(&text, "twenty hosts");
    let document = Document::parse(&text).expect("it is well-formed");
    for name in ["a", "t"] {
        assert!(words(&document).iter().any(|word| word.text == name), "{name} has its lane");
    }
}

#[test]
fn long_names_have_room() {
    let hosts = "assets-worker-1:release-2026-03  assets-worker-2:release-2026-04";
    let text = format!(
        "# Long names\nhosts   {hosts}\nunder   current   holds\n\nask assets-worker-1\nrest\n"
    );
    assert_legible(&svg(&[picture(&parse(&text), "current")]), "long names");
}

/// Messages that arrive, and messages that are lost before they are on their link.
#[derive(Debug, Default, PartialEq, Eq)]
struct Traffic {
    statements: usize,
    views: usize,
    lost: usize,
}

fn traffic(scenario: &Scenario, protocol: &str) -> Traffic {
    let mut traffic = Traffic::default();
    let protocol = by_name(protocol).expect("there is such a protocol");
    let _ = watch(scenario, protocol, &mut |moment| {
        let Moment::Step(step) = moment else { return };
        if let Event::Deliver { .. } = step.event {
            traffic.statements += 1;
        } else if let Event::Read(_) = step.event {
            traffic.views += 1;
        } else if let Event::Lose(_) = step.event {
            traffic.lost += 1;
        } else if let Event::Cut(who) = step.event {
            let link = step.before.link(*who);
            traffic.lost += link.statements.len() + link.views.len();
        } else if let Event::Crash(who) = step.event {
            traffic.lost += step.before.link(*who).views.len();
        }
        traffic.lost += step.facts.iter().filter(|fact| matches!(fact, Fact::Lost { .. })).count();
        let conflicts = step.facts.iter().filter(|fact| matches!(fact, Fact::Conflicted { .. }));
        traffic.lost += conflicts.count();
    });
    traffic
}

/// The same, counted in a picture. The legend has one sample of each kind that there is.
fn drawn(text: &str) -> Traffic {
    let document = Document::parse(text).expect("it is well-formed");
    let count = |class: &str| {
        let nodes = document.descendants();
        let of_class = nodes.filter(|node| node.attribute("class") == Some(class));
        let heads = of_class
            .filter(|node| node.has_tag_name("path") || node.attribute("marker-end").is_some());
        heads.count().saturating_sub(1)
    };
    Traffic {
        statements: count("statement"),
        views: count("view") + count("quiet"),
        lost: count("cross"),
    }
}

#[test]
fn each_message_has_its_arrow_and_each_lost_one_its_cross() {
    let mut all = Traffic::default();
    for (scenario, protocols) in scenarios() {
        for protocol in protocols {
            let wanted = traffic(&scenario, &protocol);
            if wanted.statements > 300 {
                // It goes on for ever, and is drawn for a while.
                continue;
            }
            let found = drawn(&svg(&[picture(&scenario, &protocol)]));
            assert_eq!(found, wanted, "{} under {protocol}", scenario.title());
            all.statements += wanted.statements;
            all.views += wanted.views;
            all.lost += wanted.lost;
        }
    }
    assert!(all.statements > 500 && all.views > 500 && all.lost > 20, "{all:?}");
}

#[test]
fn a_picture_shows_where_a_property_is_broken_and_where_there_is_no_return() {
    let path = root().join("scenarios/ownership/stand_down_crosses_the_offer.scenario");
    let scenario = Scenario::load(path, &names()).expect("it can be read");
    let text = svg(&[picture(&scenario, "silent-stand-down")]);
    let document = Document::parse(&text).expect("it is well-formed");
    let words = words(&document);
    let y = |start: &str| {
        let found = words.iter().find(|word| word.text.starts_with(start));
        found.unwrap_or_else(|| panic!("it says {start}")).top
    };
    assert!(y("stand-down b") < y("no return: ") && y("no return: ") < y("rest"));
    assert!(y("(the end)") < y("NoWedge is broken: "));
}

#[test]
fn what_an_arbiter_answers_an_alarm_and_each_word_of_a_step_is_told() {
    for (scenario, protocol, told) in [
        ("store/two_arbiters_offer_once", "current", "loses the compare-and-set"),
        ("store/lost_answer_of_a_commit", "current", "the answer is lost, refused: StaleGrant"),
        ("store/stale_view_costs_only_time", "accepted-waits", "answers StaleGrant"),
        ("membership/reused_identity_raises_an_alarm", "current", "alarm: ForeignWord"),
        ("approval/second_approval", "guarded-report", "says report, then stand-down, to nobody"),
        // The step that breaks a property has a row, though it says nothing new.
        ("store/restart_settles_and_publishes", "decide-when-queued", "deliver c -> record"),
    ] {
        let path = root().join(format!("scenarios/{scenario}.scenario"));
        let scenario = Scenario::load(path, &names()).expect("it can be read");
        let text = svg(&[picture(&scenario, protocol)]);
        let document = Document::parse(&text).expect("it is well-formed");
        let words: Vec<String> = words(&document).into_iter().map(|word| word.text).collect();
        assert!(words.iter().any(|word| word.contains(told)), "no `{told}` in\n{words:#?}");
    }
}

#[test]
fn a_picture_says_why_there_is_no_point_of_no_return() {
    let order_alone = "# The order alone\nhosts   a:v1  b:v1\nunder   current   holds\n\n\
        ask a\nask b\n";
    let path = root().join("scenarios/ownership/lapse_passes_a_host_over.scenario");
    let too_long = Scenario::load(path, &names()).expect("it can be read");
    let none = "no return: none: in another order than the calm one it still converges";
    let unknown = "no return: not known, as far as the limits reached";
    for (scenario, says) in [(parse(order_alone), none), (too_long, unknown)] {
        let pictures = [picture(&scenario, "lapse-to-the-same-host")];
        let drawn = svg(&pictures);
        let document = Document::parse(&drawn).expect("it is well-formed");
        let words: Vec<String> = words(&document).into_iter().map(|word| word.text).collect();
        let broken = words.iter().position(|word| word.starts_with("NoLivelock is broken: "));
        let said = words.iter().position(|word| word == says);
        assert!(broken.is_some() && broken < said, "{broken:?} before {said:?}");
        assert!(html(&pictures).contains(says));
        assert!(mermaid(&pictures).replace("<br/>", " ").contains(says));
    }
}

#[test]
fn what_is_written_in_a_file_is_text_in_a_picture() {
    let title = "<script>&\"' a --> b ]]> # ; end %% {x}";
    let text = format!("# {title}\nhosts   b:v1\nunder   current   holds\n\nask b\n");
    let picture = picture(&parse(&text), "current");
    let pictures = std::slice::from_ref(&picture);
    let drawn = svg(pictures);
    let document = Document::parse(&drawn).expect("it is well-formed");
    let words: Vec<String> = words(&document).into_iter().map(|word| word.text).collect();
    assert!(words.contains(&title.to_owned()), "{words:?}");
    assert!(!html(pictures).contains("<script"));
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    for (scenario, protocols) in scenarios().into_iter().take(5) {
        let pictures: Vec<Picture> =
            protocols.iter().map(|protocol| picture(&scenario, protocol)).collect();
        let page = html(&pictures);
        let outside = page.replace("http://www.w3.org/2000/svg", "");
        for word in ["<script", "http:", "https:", "@import", "src=", "href="] {
            assert!(!outside.contains(word), "{}: {word}", scenario.title());
        }
        assert!(page.contains("prefers-color-scheme:dark"));
        assert!(page.contains("<pre>"), "the trace is there too");
    }
}

#[test]
fn the_same_run_makes_the_same_bytes() {
    let scenario = crowd();
    let both = [0, 1].map(|_| html(&[picture(&scenario, "no-grants")]));
    assert_eq!(both[0], both[1]);
}

#[test]
fn mermaid_tells_a_message_that_others_come_between_twice() {
    let path = root().join("scenarios/ownership/stand_down_crosses_the_offer.scenario");
    let scenario = Scenario::load(path, &names()).expect("it can be read");
    let both = ["current", "silent-stand-down"].map(|protocol| picture(&scenario, protocol));
    insta::assert_snapshot!(mermaid(&both));
}

#[test]
fn the_pictures_in_the_documentation_are_what_replay_prints() {
    let pictures = [
        ("crossed_stand_down", "ownership/stand_down_crosses_the_offer", "silent-stand-down"),
        ("lost_second_approval", "approval/second_approval", "guarded-report"),
        ("slot_before_drain", "drain/slot_before_drain", "drain-after-release"),
    ];
    for (name, scenario, protocol) in pictures {
        let file = format!("scenarios/{scenario}.scenario");
        let replay = ["replay", &file, "--protocol", protocol, "--as", "svg"];
        let program = Command::new(env!("CARGO_BIN_EXE_handover-sim"))
            .args(replay)
            .current_dir(root())
            .output()
            .expect("the program runs");
        let path = root().join(format!("docs/pictures/{name}.svg"));
        let kept = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let anew = format!("handover-sim {} > docs/pictures/{name}.svg", replay.join(" "));
        assert!(program.stdout == kept, "make {name} anew: {anew}");
    }
}

#[test]
fn a_page_ends_with_the_scenario_and_the_command_that_replays_it() {
    let path = root().join("scenarios/ownership/stand_down_crosses_the_offer.scenario");
    let scenario = Scenario::load(path, &names()).expect("it can be read");
    let command = "handover-sim replay 'a & b.scenario' --protocol silent-stand-down";
    let picture = picture(&scenario, "silent-stand-down").with_replay(command.to_owned());
    let page = html(&[picture]);
    let behind = |text: &str| page.find(text).unwrap_or_else(|| panic!("no `{text}` in\n{page}"));
    let departures = behind("<li>b stands down before view r1 reaches c</li>");
    let trace = behind("<summary>The trace</summary>");
    let story = behind("<summary>The scenario</summary>\n<pre># A stand-down crosses the offer");
    let replay = behind("<pre>handover-sim replay 'a &amp; b.scenario'");
    assert!(departures < trace && trace < story && story < replay);
}
