//! Which message is which: the links, followed from step to step.

use std::collections::VecDeque;
use std::sync::Arc;

use handover_core::{Statement, View};

use super::build::Lanes;
use super::model::{Message, MessageEnd, MessageKind};
use crate::check::Transition;
use crate::explain::{news_of, word_for};
use crate::world::{ArbiterIndex, Event, Fact, Lost, Who, World};

/// A message on its way, and its number among those of the picture.
type Sent<T> = (Arc<T>, usize);

#[derive(Default)]
struct Wires {
    statements: VecDeque<Sent<Statement>>,
    views: VecDeque<Sent<View>>,
}

/// What is on its way.
pub(super) struct Flight {
    wires: Vec<Wires>,
}

impl Flight {
    pub(super) fn new(world: &World) -> Self {
        Self { wires: world.processes().map(|_| Wires::default()).collect() }
    }

    /// Follows the messages through a step, and tells where each begins and ends.
    pub(super) fn follow(
        &mut self,
        step: &Transition<'_>,
        row: usize,
        is_quiet: bool,
        lanes: &Lanes,
        messages: &mut Vec<Message>,
    ) {
        for (who, _) in step.after.processes() {
            let at = usize::from(who.0);
            if self.wires.len() <= at {
                self.wires.push(Wires::default());
            }
            let (arrives_at, reads) = arrivals(step, who, lanes);
            let host = lanes.host(step.after, who);
            let link = step.after.link(who);
            let news = |view: &View| news_of(step.after.process(who), view);
            let wires = &mut self.wires[at];
            let statement = |statement: &Statement| Message {
                kind: MessageKind::Statement,
                sent: (host, row),
                to: 1,
                end: MessageEnd::Open,
                says: word_for(&statement.standing).to_owned(),
                is_quiet: false,
            };
            let front = arrives_at.is_some();
            wires.statements =
                pass(&wires.statements, &link.statements, front, row, messages, statement);
            let source = publisher(step, lanes);
            let view = |view: &View| Message {
                kind: MessageKind::View,
                sent: (source, row),
                to: host,
                end: MessageEnd::Open,
                says: news(view),
                is_quiet: false,
            };
            let front_view = wires.views.front().map(|(_, index)| *index);
            wires.views = pass(&wires.views, &link.views, reads, row, messages, view);
            if reads && let Some(index) = front_view {
                messages[index].is_quiet = is_quiet;
            }
            if let Some(lane) = arrives_at {
                set_arrival(messages, row, host, lane);
            }
        }
        lose_at_once(step, row, lanes, messages);
    }
}

/// The lane at which the oldest statement of a process arrives, and whether it reads a view.
fn arrivals(step: &Transition<'_>, who: Who, lanes: &Lanes) -> (Option<usize>, bool) {
    if let Event::Deliver { from, to } = step.event
        && *from == who
    {
        return (Some(lanes.arbiter(*to)), false);
    }
    (None, *step.event == Event::Read(who))
}

/// The lane of the arbiter that publishes, or answers, in this step.
fn publisher(step: &Transition<'_>, lanes: &Lanes) -> usize {
    if let Event::Publish(index) | Event::Deliver { to: index, .. } = step.event {
        return lanes.arbiter(*index);
    }
    lanes.arbiter(ArbiterIndex(0))
}

/// Matches a link with what it was before the step: what is gone has arrived, if it was the oldest
/// and something arrives, or was lost; what is there anew was sent, or is a copy.
fn pass<T>(
    was: &VecDeque<Sent<T>>,
    is: &VecDeque<Arc<T>>,
    arrives: bool,
    row: usize,
    messages: &mut Vec<Message>,
    new: impl Fn(&T) -> Message,
) -> VecDeque<Sent<T>> {
    let mut left: Vec<Option<&Sent<T>>> = was.iter().map(Some).collect();
    if arrives && let Some(Some((_, index))) = left.first_mut().map(Option::take) {
        messages[*index].end = MessageEnd::Arrives(row);
    }
    let mut now = VecDeque::new();
    for message in is {
        let found =
            left.iter_mut().find(|sent| sent.is_some_and(|(other, _)| Arc::ptr_eq(other, message)));
        let index = if let Some(Some((_, index))) = found.map(Option::take) {
            *index
        } else {
            let copied = was.iter().find(|(other, _)| Arc::ptr_eq(other, message));
            let made = new(message);
            let copy = copied.map(|(_, index)| messages[*index].clone());
            let copy = copy.map(|copy| Message { end: MessageEnd::Open, ..copy });
            messages.push(copy.unwrap_or(made));
            messages.len() - 1
        };
        now.push_back((Arc::clone(message), index));
    }
    for (_, index) in left.into_iter().flatten() {
        messages[*index].end = MessageEnd::Lost(row);
    }
    now
}

/// The statement that has arrived in this row arrived at this lane.
fn set_arrival(messages: &mut [Message], row: usize, host: usize, lane: usize) {
    let arrived = messages.iter_mut().filter(|message| {
        message.kind == MessageKind::Statement
            && message.sent.0 == host
            && message.end == MessageEnd::Arrives(row)
    });
    for message in arrived {
        message.to = lane;
    }
}

/// What was lost before it was on its link.
fn lose_at_once(step: &Transition<'_>, row: usize, lanes: &Lanes, messages: &mut Vec<Message>) {
    for fact in step.facts {
        let Fact::Lost { who, what } = fact else {
            continue;
        };
        let host = lanes.host(step.after, *who);
        let (kind, from, to) = match what {
            Lost::Statement(_) | Lost::Unsaid(_) => (MessageKind::Statement, host, 1),
            Lost::View(_) => (MessageKind::View, publisher(step, lanes), host),
        };
        let says = match what {
            Lost::Unsaid(_) => "kept to itself".to_owned(),
            Lost::Statement(_) | Lost::View(_) => "lost".to_owned(),
        };
        let (sent, end) = ((from, row), MessageEnd::Lost(row));
        messages.push(Message { kind, sent, to, end, says, is_quiet: false });
    }
}
