//! Mermaid: a sequence diagram that a README renders.
//!
//! Such a diagram has no slanted arrows. A message that others come between is told twice, under
//! one number: where it is sent, and where it arrives.

use std::fmt::Write as _;

use super::model::{Diagram, Label, Lane, LaneKind, Message, MessageEnd, RowKind, Tone};

const NOTE_CHARS_MAX: usize = 48;

/// The diagram as the text of a `mermaid` block.
pub(super) fn text(diagram: &Diagram) -> String {
    let mut text = "sequenceDiagram\n".to_owned();
    for (index, lane) in diagram.lanes.iter().enumerate() {
        let _ = writeln!(text, "    participant {} as {}", id(index), name(lane));
    }
    // A title would be cut off where it is wider than the lanes; a note is broken into lines.
    note(&mut text, 0, diagram.lanes.len() - 1, &diagram.title);
    note(&mut text, 0, diagram.lanes.len() - 1, &diagram.verdict);
    for row in 0..diagram.rows.len() {
        write_row(&mut text, diagram, row);
    }
    text
}

fn id(lane: usize) -> String {
    format!("p{lane}")
}

fn name(lane: &Lane) -> String {
    match lane.kind {
        LaneKind::Host => escape(&format!("{} ({})", lane.name, lane.detail)),
        LaneKind::Store | LaneKind::Record => escape(&lane.name),
    }
}

fn write_row(text: &mut String, diagram: &Diagram, index: usize) {
    let row = &diagram.rows[index];
    let told = diagram.messages.iter().enumerate().filter(|(_, message)| !message.is_quiet);
    for (number, message) in told.clone() {
        write_message(text, diagram, (number, message), index);
    }
    if row.kind == RowKind::Stale {
        note(text, 0, diagram.lanes.len() - 1, &row.text);
    }
    let says_so =
        |label: &&Label| told.clone().any(|(_, message)| says(diagram, message, index, label));
    if let Some(label) = row.label.as_ref().filter(|label| !says_so(label)) {
        note(text, label.lane, label.lane, &label.text);
    }
    for stands in diagram.notes.iter().filter(|stands| stands.row == index) {
        let colour = match stands.tone {
            Tone::Lost => "rgba(191, 57, 137, 0.25)",
            Tone::Plain | Tone::Good | Tone::Fault | Tone::Broken => "rgba(207, 34, 46, 0.25)",
        };
        let _ = writeln!(text, "    rect {colour}");
        note(text, 0, diagram.lanes.len() - 1, &stands.text);
        let _ = writeln!(text, "    end");
    }
}

fn write_message(
    text: &mut String,
    diagram: &Diagram,
    (number, message): (usize, &Message),
    row: usize,
) {
    let (from, sent) = message.sent;
    let (number, to) = (number + 1, message.to);
    let says = if message.says.is_empty() { "a view" } else { message.says.as_str() };
    let is_late = !arrives_next(diagram, message);
    let tag = if is_late { format!(" (message {number})") } else { String::new() };
    let is_open = message.end == MessageEnd::Open && message.says.is_empty();
    if sent == row && is_late && !is_open && message.end != MessageEnd::Lost(row) {
        note(text, from, from, &format!("sends {says}{tag}"));
    }
    if message.end == MessageEnd::Arrives(row) {
        let says = escape(&format!("{says}{tag}"));
        let _ = writeln!(text, "    {}->>{}: {says}", id(from), id(to));
    }
    if message.end == MessageEnd::Lost(row) {
        let says = escape(&format!("{says}{tag}"));
        let _ = writeln!(text, "    {}-x{}: {says}", id(from), id(to));
    }
}

/// Is all that a label says in the arrow of this message?
fn says(diagram: &Diagram, message: &Message, row: usize, label: &Label) -> bool {
    let said = format!("says {}", message.says);
    let is_sent = message.sent == (label.lane, row) && label.text == said;
    let arrives = message.end == MessageEnd::Arrives(row) && message.to == label.lane;
    is_sent && arrives_next(diagram, message) || arrives && label.text == message.says
}

/// Does nothing that is told come between?
fn arrives_next(diagram: &Diagram, message: &Message) -> bool {
    let (MessageEnd::Arrives(row) | MessageEnd::Lost(row)) = message.end else {
        return false;
    };
    let between = diagram.rows.get(message.sent.1 + 1..row).unwrap_or_default();
    between.iter().all(|row| row.kind == RowKind::Quiet)
}

fn note(text: &mut String, from: usize, to: usize, says: &str) {
    let lanes = if from == to { id(from) } else { format!("{},{}", id(from), id(to)) };
    let lines: Vec<String> = lines(says).iter().map(|line| escape(line)).collect();
    let _ = writeln!(text, "    Note over {lanes}: {}", lines.join("<br/>"));
}

/// Breaks a text into lines that a note has room for.
fn lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            word.clone_into(line);
        } else if line.chars().count() + word.chars().count() < NOTE_CHARS_MAX {
            let _ = write!(line, " {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// What Mermaid would take for its own is written as an entity; so is the word `end`, which it
/// takes for the end of a block.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '#' => escaped.push_str("#35;"),
            ';' => escaped.push_str("#59;"),
            '<' => escaped.push_str("#lt;"),
            '>' => escaped.push_str("#gt;"),
            '%' => escaped.push_str("#37;"),
            _ if char.is_control() => escaped.push(' '),
            _ => escaped.push(char),
        }
    }
    let words = escaped.split(' ').map(|word| {
        if word.eq_ignore_ascii_case("end") { "#101;nd".to_owned() } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}
