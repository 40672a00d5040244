//! What the signs mean: those that the picture has.

use super::model::{BarKind, Diagram, MessageEnd, MessageKind, Tone};
use super::shape::{Anchor, Class, Shape, Text};

const SAMPLE: i32 = 34;
const LINE: i32 = 22;

/// Draws the legend from `y` on, between two margins.
pub(super) fn draw(diagram: &Diagram, shapes: &mut Vec<Shape>, margins: (i32, i32), y: &mut i32) {
    let (left, right) = margins;
    *y += 14;
    let mut x = left;
    for (class, words) in entries(diagram) {
        let width = SAMPLE + 8 + Text::width_of(words) + 22;
        if x + width > right && x > left {
            x = left;
            *y += LINE;
        }
        sample(shapes, class, x, *y);
        let text = words.to_owned();
        let (at, class, anchor) = (x + SAMPLE + 8, Class::Label, Anchor::Start);
        shapes.push(Shape::Text(Text { x: at, y: *y + 4, text, class, anchor }));
        x += width;
    }
    *y += LINE;
}

fn entries(diagram: &Diagram) -> Vec<(Class, &'static str)> {
    let mut entries = Vec::new();
    let has = |kind| diagram.messages.iter().any(|message| message.kind == kind);
    let view = |quiet| {
        let mut views = diagram.messages.iter().filter(|message| message.kind == MessageKind::View);
        views.any(|message| message.is_quiet == quiet)
    };
    let is_lost = |end| match end {
        MessageEnd::Lost(_) => true,
        MessageEnd::Arrives(_) | MessageEnd::Open => false,
    };
    let mut add = |used: bool, class, words| {
        if used {
            entries.push((class, words));
        }
    };
    add(has(MessageKind::Statement), Class::Statement, "a host's word, sent and heard");
    add(view(false), Class::View, "a view of the record");
    add(view(true), Class::QuietView, "a view with nothing new");
    let mut commits = diagram.rows.iter().flat_map(|row| &row.commits);
    let fails = commits.any(|commit| commit.revision.is_none());
    let is_lost = diagram.messages.iter().any(|message| is_lost(message.end));
    add(is_lost || fails, Class::Cross, "lost");
    add(
        diagram
            .messages
            .iter()
            .any(|message| message.end == MessageEnd::Open && !message.says.is_empty()),
        Class::Open,
        "still on its way",
    );
    add(diagram.rows.iter().any(|row| !row.commits.is_empty()), Class::Commit, "commit");
    add(diagram.is_used(BarKind::Offer), Class::Offer, "the job is offered");
    add(diagram.is_used(BarKind::Hold), Class::Hold, "the job is held");
    add(diagram.is_used(BarKind::Build), Class::Build, "a build runs");
    add(diagram.is_used(BarKind::Slot), Class::Slot, "a slot is held");
    add(diagram.is_used(BarKind::Drain), Class::Drain, "drains");
    add(diagram.is_used(BarKind::Slow), Class::Slow, "slow");
    add(diagram.is_used(BarKind::Stalled), Class::Stalled, "stalled");
    add(diagram.is_used(BarKind::Dead), Class::Dead, "no process");
    add(diagram.rows.iter().any(|row| row.fault.is_some()), Class::Bolt, "fault");
    let has_note = |tone| diagram.notes.iter().any(|note| note.tone == tone);
    add(has_note(Tone::Lost), Class::LostFill, "no return");
    add(has_note(Tone::Broken), Class::BrokenFill, "a property is broken");
    entries
}

fn sample(shapes: &mut Vec<Shape>, class: Class, x: i32, y: i32) {
    let (x1, x2) = (x, x + SAMPLE);
    let bar = |w: i32| Shape::Rect { x: x + (SAMPLE - w) / 2, y: y - 8, w, h: 16, class };
    let line = matches!(class, Class::Statement | Class::View | Class::QuietView | Class::Commit);
    let ground = matches!(class, Class::BrokenFill | Class::LostFill);
    let thin =
        matches!(class, Class::Slot | Class::Drain | Class::Slow | Class::Stalled | Class::Dead);
    shapes.push(if line {
        Shape::Arrow { x1, y1: y, x2, y2: y, class }
    } else if class == Class::Open {
        Shape::Line { x1, y1: y, x2, y2: y, class }
    } else if class == Class::Cross {
        Shape::Cross { x: x + SAMPLE / 2, y, class }
    } else if class == Class::Bolt {
        Shape::Bolt { x: x + SAMPLE / 2, y }
    } else if ground {
        Shape::Rect { x, y: y - 8, w: SAMPLE, h: 16, class }
    } else {
        bar(if thin { 4 } else { 12 })
    });
}
