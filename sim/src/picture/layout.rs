//! Where everything stands: shapes in pixels, before any format.
//!
//! Time goes down. Each row has one label at most, beside one lane, so that no two labels can meet;
//! what needs more words stands in the column on the left, or in a note of its own below the row.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::legend;
use super::model::{Bar, BarKind, Diagram, LaneKind, MessageEnd, MessageKind, Row, RowKind, Tone};
use super::shape::{Anchor, Class, Shape, Text, wrap};

/// The distance between the lines of notes and titles.
const LINE: i32 = 20;
const ROW: i32 = 25;
const QUIET_ROW: i32 = 9;
const MARGIN: i32 = 20;
/// From the store's lane to the record's: what the record decides is told between them.
const RECORD_GAP: i32 = 190;
const BAR: i32 = 12;
/// Between two builds that run at once.
const BUILD_GAP: i32 = 3;
/// How narrow a build gets.
const BUILD_MIN: i32 = 2;
/// What is still on its way at the end is drawn as far as this.
const STUB: i32 = 44;
/// A tall picture names its lanes again after so many pixels.
const NAMES_AGAIN: i32 = 1_000;

/// A picture before it is written down.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) shapes: Vec<Shape>,
}

/// Lays a diagram out.
pub(super) fn layout(diagram: &Diagram) -> Layout {
    let mut plan = Plan::new(diagram);
    plan.head();
    let top = plan.y;
    plan.lane_names();
    let words = plan.place_rows();
    let bottom = plan.y;
    plan.bars(bottom);
    plan.lanes(top, bottom);
    plan.messages(bottom);
    plan.rows();
    plan.holders();
    plan.shapes.extend(words);
    plan.lane_names();
    legend::draw(diagram, &mut plan.shapes, (MARGIN, plan.width - MARGIN), &mut plan.y);
    plan.y += MARGIN;
    Layout { width: plan.width, height: plan.y, shapes: plan.shapes }
}

struct Plan<'a> {
    diagram: &'a Diagram,
    shapes: Vec<Shape>,
    width: i32,
    /// Where the next thing begins.
    y: i32,
    /// The middle of each lane.
    lanes: Vec<i32>,
    /// The middle of each row.
    rows: Vec<i32>,
    /// The column of each bar.
    columns: Vec<i32>,
}

impl<'a> Plan<'a> {
    fn new(diagram: &'a Diagram) -> Self {
        let widest = diagram.rows.iter().filter(|row| row.kind != RowKind::Quiet);
        let widest = widest.map(|row| Text::width_of(&row_text(row))).max().unwrap_or(0);
        let hosts = diagram.lanes.iter().filter(|lane| lane.kind == LaneKind::Host).count();
        let gap = match hosts {
            0..=3 => 180,
            4..=6 => 140,
            7..=10 => 100,
            _ => 70,
        };
        let names = diagram
            .lanes
            .iter()
            .map(|lane| Text::width_of(&lane.name).max(Text::width_of(&lane.detail)) + MARGIN);
        let gap = names.max().unwrap_or(0).max(gap);
        let decided = diagram.rows.iter().filter_map(|row| row.label.as_ref());
        let decided = decided.filter(|label| diagram.lanes[label.lane].kind != LaneKind::Host);
        let decided = decided.map(|label| Text::width_of(&label.text) + 2 * MARGIN);
        let record_gap = decided.max().unwrap_or(0).max(RECORD_GAP);
        let mut x = MARGIN + widest + 60;
        let mut lanes = Vec::new();
        for (index, lane) in diagram.lanes.iter().enumerate() {
            if index > 0 {
                x += match (lane.kind, diagram.lanes[index - 1].kind) {
                    (LaneKind::Record, _) => record_gap,
                    (LaneKind::Host, LaneKind::Record) => gap.max(130),
                    (LaneKind::Host | LaneKind::Store, _) => gap,
                };
            }
            lanes.push(x);
        }
        let last = diagram.rows.iter().filter_map(|row| row.label.as_ref()).filter_map(|label| {
            let is_host = diagram.lanes[label.lane].kind == LaneKind::Host;
            is_host.then(|| lanes[label.lane] + BAR / 2 + 13 + Text::width_of(&label.text))
        });
        let width = last.max().unwrap_or(0).max(x + 60).max(720) + MARGIN;
        let columns = columns(&diagram.bars);
        Self { diagram, shapes: Vec::new(), width, y: MARGIN, lanes, rows: Vec::new(), columns }
    }

    fn text(&mut self, x: i32, y: i32, text: &str, class: Class, anchor: Anchor) {
        self.shapes.push(Shape::Text(Text { x, y, text: text.to_owned(), class, anchor }));
    }

    fn head(&mut self) {
        let room = self.width - 2 * MARGIN;
        for line in wrap(&self.diagram.title, room, Class::Title) {
            self.y += 26;
            self.text(MARGIN, self.y, &line, Class::Title, Anchor::Start);
        }
        let class = if self.diagram.is_broken { Class::Broken } else { Class::Good };
        self.y += LINE + 4;
        let verdict = self.diagram.verdict.clone();
        self.text(MARGIN, self.y, &verdict, class, Anchor::Start);
        for about in &self.diagram.about {
            for line in wrap(about, room, Class::About) {
                self.y += LINE - 2;
                self.text(MARGIN, self.y, &line, Class::About, Anchor::Start);
            }
        }
        self.y += LINE;
    }

    fn lane_names(&mut self) {
        self.y += LINE;
        for (index, lane) in self.diagram.lanes.iter().enumerate() {
            let x = self.lanes[index];
            self.text(x, self.y, &lane.name, Class::Lane, Anchor::Middle);
            self.text(x, self.y + 16, &lane.detail, Class::Detail, Anchor::Middle);
        }
        self.y += LINE + 8;
    }

    /// Gives each row its place, and draws what stands behind the rest. Answers with the words of
    /// the notes, which stand before it.
    fn place_rows(&mut self) -> Vec<Shape> {
        let diagram = self.diagram;
        let mut words = Vec::new();
        let mut named = self.y;
        for (index, row) in diagram.rows.iter().enumerate() {
            if self.y - named > NAMES_AGAIN {
                let shapes = self.shapes.len();
                self.lane_names();
                words.extend(self.shapes.drain(shapes..));
                named = self.y;
            }
            let height = if row.kind == RowKind::Quiet { QUIET_ROW } else { ROW };
            self.rows.push(self.y + height / 2);
            self.y += height;
            for note in diagram.notes.iter().filter(|note| note.row == index) {
                words.extend(self.note(&note.text, note.tone));
            }
        }
        self.y += 6;
        words
    }

    /// A note stands below its row, across all lanes.
    fn note(&mut self, text: &str, tone: Tone) -> Vec<Shape> {
        let (fill, class) = match tone {
            Tone::Lost => (Class::LostFill, Class::LostNote),
            Tone::Broken | Tone::Fault => (Class::BrokenFill, Class::BrokenNote),
            Tone::Plain | Tone::Good => (Class::PlainFill, Class::Label),
        };
        let lines = wrap(text, self.width - 4 * MARGIN, class);
        let lines_height = i32::try_from(lines.len()).expect("a few lines") * LINE;
        self.y += 3;
        let (x, w) = (MARGIN, self.width - 2 * MARGIN);
        self.shapes.push(Shape::Rect { x, y: self.y, w, h: lines_height + 8, class: fill });
        let mut words = Vec::new();
        for text in lines {
            self.y += LINE;
            let (x, y, anchor) = (2 * MARGIN, self.y - 1, Anchor::Start);
            words.push(Shape::Text(Text { x, y, text, class, anchor }));
        }
        self.y += 12;
        words
    }

    fn lanes(&mut self, top: i32, bottom: i32) {
        let lines = self.lanes.iter().map(|x| {
            let (x1, y1, x2, y2) = (*x, top + LINE + 22, *x, bottom);
            Shape::Line { x1, y1, x2, y2, class: Class::LaneLine }
        });
        // Below all else.
        let lines: Vec<Shape> = lines.collect();
        self.shapes.splice(0..0, lines);
    }

    fn bars(&mut self, bottom: i32) {
        let mut bars = Vec::new();
        for (index, bar) in self.diagram.bars.iter().enumerate() {
            let x = self.lanes[bar.lane];
            let y = self.rows.get(bar.from).copied().unwrap_or(bottom);
            let y = if bar.kind == BarKind::Dead && bar.from == 0 { y - ROW / 2 } else { y };
            let end = bar.to.and_then(|row| self.rows.get(row).copied()).unwrap_or(bottom);
            let (offset, w, class) = match bar.kind {
                BarKind::Offer => (-BAR / 2, BAR, Class::Offer),
                BarKind::Hold => (-BAR / 2, BAR, Class::Hold),
                BarKind::Build => {
                    let (offset, w) = self.build(index);
                    (offset, w, Class::Build)
                }
                BarKind::Slot => (-BAR / 2 - 13 - 7 * self.columns[index], 5, Class::Slot),
                // What lasts for two lives at once is drawn once: it lasts for one of them.
                BarKind::Drain => (-BAR / 2 - 5, 3, Class::Drain),
                BarKind::Slow => (BAR / 2 + 2, 4, Class::Slow),
                BarKind::Stalled => (BAR / 2 + 7, 4, Class::Stalled),
                BarKind::Dead => (-2, 4, Class::Dead),
            };
            let h = (end - y).max(4);
            bars.push(Shape::Rect { x: x + offset, y, w, h, class });
        }
        // Below the notes, which would be crossed out by them.
        self.shapes.splice(0..0, bars);
    }

    /// Where a build begins beside its lane, and how wide it is: builds that run at once share the
    /// width of one.
    fn build(&self, index: usize) -> (i32, i32) {
        let lane = self.diagram.bars[index].lane;
        let alike = self.diagram.bars.iter().zip(&self.columns);
        let alike = alike.filter(|(bar, _)| (bar.kind, bar.lane) == (BarKind::Build, lane));
        let count = alike.map(|(_, column)| column + 1).max().unwrap_or(1);
        let w = ((BAR + BUILD_GAP) / count - BUILD_GAP).max(BUILD_MIN);
        let all = count * (w + BUILD_GAP) - BUILD_GAP;
        (self.columns[index] * (w + BUILD_GAP) - all / 2, w)
    }

    /// Who has a slot, where the bar begins: the label of such a row stands beside the same lane, on
    /// its other side. Those of one row are one text, in the order of their bars.
    fn holders(&mut self) {
        let diagram = self.diagram;
        let mut told: BTreeMap<(usize, usize), Vec<(i32, &str)>> = BTreeMap::new();
        for (bar, column) in diagram.bars.iter().zip(&self.columns) {
            let is_told = diagram.rows.get(bar.from).is_some_and(|row| {
                row.kind != RowKind::Quiet
                    && row.label.as_ref().is_none_or(|label| label.lane == bar.lane)
            });
            if bar.kind == BarKind::Slot && is_told {
                told.entry((bar.from, bar.lane)).or_default().push((*column, &bar.what));
            }
        }
        for ((row, lane), mut slots) in told {
            slots.sort_by_key(|(column, _)| Reverse(*column));
            let words: Vec<&str> = slots.iter().map(|(_, what)| *what).collect();
            let x = self.lanes[lane] - BAR / 2 - 17 - 7 * self.outermost(row, lane);
            let y = self.rows[row] + 4;
            self.text(x, y, &words.join(", "), Class::Detail, Anchor::End);
        }
    }

    /// The last column beside a lane in which a slot is held in this row.
    fn outermost(&self, row: usize, lane: usize) -> i32 {
        let bars = self.diagram.bars.iter().zip(&self.columns).filter(|(bar, _)| {
            let lasts = bar.from <= row && bar.to.is_none_or(|to| to >= row);
            (bar.kind, bar.lane) == (BarKind::Slot, lane) && lasts
        });
        bars.map(|(_, column)| *column).max().unwrap_or(0)
    }

    fn messages(&mut self, bottom: i32) {
        for message in &self.diagram.messages {
            let (from, sent) = message.sent;
            let (x1, y1, to) = (self.lanes[from], self.rows[sent], self.lanes[message.to]);
            let class = match (message.kind, message.is_quiet) {
                (MessageKind::Statement, _) => Class::Statement,
                (MessageKind::View, false) => Class::View,
                (MessageKind::View, true) => Class::QuietView,
            };
            let side = if to < x1 { 1 } else { -1 };
            let x1 = x1 - side * (BAR / 2 + 1);
            let end = to + side * (BAR / 2 + 1);
            match message.end {
                MessageEnd::Arrives(row) => {
                    let (x2, y2) = (end, self.rows[row]);
                    self.shapes.push(Shape::Arrow { x1, y1, x2, y2, class });
                }
                MessageEnd::Lost(row) => {
                    let (x2, y2) = self.lost_at((x1, y1), end, row, sent);
                    self.shapes.push(Shape::Line { x1, y1, x2, y2, class });
                    self.shapes.push(Shape::Cross { x: x2, y: y2, class: Class::Cross });
                }
                MessageEnd::Open if message.says.is_empty() => {}
                MessageEnd::Open => {
                    let (x2, y2) = (x1 - side * STUB, (y1 + STUB).min(bottom));
                    self.shapes.push(Shape::Line { x1, y1, x2, y2, class: Class::Open });
                }
            }
        }
    }

    /// Half of the way; a message that never got onto its link, just beside its sender.
    fn lost_at(&self, (x, y): (i32, i32), end: i32, row: usize, sent: usize) -> (i32, i32) {
        if row == sent {
            return (x + (end - x).signum() * 34, y + 9);
        }
        (x + (end - x) / 2, y + (self.rows[row] - y) / 2)
    }

    fn rows(&mut self) {
        let diagram = self.diagram;
        for (row, y) in diagram.rows.iter().zip(self.rows.clone()) {
            let class = match row.kind {
                RowKind::Command => Class::Command,
                RowKind::Follows => Class::Follows,
                RowKind::Stale => Class::Stale,
                RowKind::Quiet => {
                    self.commits(row, y);
                    continue;
                }
            };
            self.text(MARGIN, y + 4, &row_text(row), class, Anchor::Start);
            self.commits(row, y);
            if let Some(lane) = row.fault {
                let x = self.lanes[lane];
                self.shapes.push(Shape::Bolt { x, y });
            }
            self.label(row, y);
        }
    }

    /// One that is folded again lies below the one that was lost.
    fn commits(&mut self, row: &Row, y: i32) {
        for (commit, y) in row.commits.iter().zip((y + 7..).step_by(COMMIT_LINES)) {
            let (x1, x2) = (self.lanes[commit.lane] - BAR / 2 - 1, self.lanes[0] + 5);
            let Some(revision) = &commit.revision else {
                // The store refuses it.
                let x2 = x2 + 26;
                self.shapes.push(Shape::Line { x1, y1: y, x2, y2: y, class: Class::Commit });
                self.shapes.push(Shape::Cross { x: x2, y, class: Class::Cross });
                continue;
            };
            let class = Class::Commit;
            self.shapes.push(Shape::Arrow { x1, y1: y, x2, y2: y, class });
            if !row.is_quiet() {
                self.text(x2 - 13, y + 2, revision, Class::Detail, Anchor::End);
            }
        }
    }

    fn label(&mut self, row: &Row, y: i32) {
        let Some(label) = &row.label else {
            return;
        };
        let class = match label.tone {
            Tone::Plain => Class::Label,
            Tone::Good => Class::GoodLabel,
            Tone::Fault | Tone::Broken | Tone::Lost => Class::FaultLabel,
        };
        let lane = self.lanes[label.lane];
        let (x, y, anchor) = match self.diagram.lanes[label.lane].kind {
            LaneKind::Host => (lane + BAR / 2 + 13, y + 4, Anchor::Start),
            LaneKind::Record | LaneKind::Store => (lane - BAR / 2 - 6, y + 1, Anchor::End),
        };
        self.text(x, y, &label.text, class, anchor);
    }
}

/// Pixels between two commits of a row.
const COMMIT_LINES: usize = 7;

/// For each bar the first column beside its lane in which no earlier bar of the kind still stands.
fn columns(bars: &[Bar]) -> Vec<i32> {
    let mut columns: Vec<i32> = Vec::new();
    for bar in bars {
        let stands = |other: &Bar| {
            let is_alike = (other.kind, other.lane) == (bar.kind, bar.lane);
            is_alike && (other.from == bar.from || other.to.is_none_or(|to| to > bar.from))
        };
        let earlier = bars.iter().zip(&columns);
        let taken: Vec<i32> =
            earlier.filter(|(other, _)| stands(other)).map(|(_, column)| *column).collect();
        let free = (0..).find(|column| !taken.contains(column));
        columns.push(free.expect("there are more columns than bars"));
    }
    columns
}

/// Commands are as long as they are; the column on the left has room for so many characters.
const ROW_CHARS_MAX: usize = 40;

fn row_text(row: &Row) -> String {
    if row.text.chars().count() <= ROW_CHARS_MAX {
        return row.text.clone();
    }
    let cut: String = row.text.chars().take(ROW_CHARS_MAX - 3).collect();
    format!("{}...", cut.trim_end())
}
