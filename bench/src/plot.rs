//! The plot: what an event and a state cost, by the number of hosts. Self-contained, and readable
//! in light and dark.

use std::fmt::Write as _;

/// A line of the plot: its name, and a cost in nanoseconds for each number of hosts.
pub struct Line {
    /// As the plot calls it.
    pub name: &'static str,
    /// Hosts and nanoseconds.
    pub points: Vec<(u16, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

const STYLE: &str = "
  .paper { fill: #ffffff }
  text { font: 13px sans-serif; fill: #1f2328 }
  .title { font-weight: bold }
  .axis { stroke: #59636e; fill: none }
  .grid { stroke: #d1d9e0; fill: none }
  .a { stroke: #0550ae; fill: none; stroke-width: 2 } .a-dot { fill: #0550ae }
  .b { stroke: #bc4c00; fill: none; stroke-width: 2; stroke-dasharray: 6 4 } .b-dot { fill: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } text { fill: #f0f6fc } .axis { stroke: #9198a1 } .grid { stroke: #3d444d }
    .a { stroke: #79c0ff } .a-dot { fill: #79c0ff } .b { stroke: #ffa657 } .b-dot { fill: #ffa657 }
  }
";

/// Draws lines over the number of hosts, which goes up by doubling.
pub fn draw(title: &str, lines: &[Line; 2]) -> String {
    let all = lines.iter().flat_map(|line| &line.points);
    let most = all.clone().map(|(_, nanos)| *nanos).fold(0.0, f64::max);
    let step = nice_step(most);
    let top = (most / step).ceil() * step;
    let last = all.map(|(hosts, _)| f64::from(*hosts).log2()).fold(1.0, f64::max);
    let x = |hosts: u16| {
        LEFT + (f64::from(hosts).log2() - 1.0) / (last - 1.0).max(1.0) * (WIDTH - LEFT - RIGHT)
    };
    let y = |nanos: f64| HEIGHT - BOTTOM - nanos / top * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"22\">{title}</text>\n"
    );
    let mut nanos = 0.0;
    while nanos <= top {
        let (at, end) = (y(nanos), WIDTH - RIGHT);
        let label = nanos / 1_000.0;
        let _ = writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{end}\"/>");
        let (text_x, text_y) = (LEFT - 8.0, at + 4.0);
        let _ = writeln!(
            svg,
            "<text x=\"{text_x}\" y=\"{text_y:.1}\" text-anchor=\"end\">{label} µs</text>"
        );
        nanos += step;
    }
    for (hosts, _) in &lines[0].points {
        let (at, below) = (x(*hosts), HEIGHT - BOTTOM + 20.0);
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{hosts}</text>"
        );
    }
    let (middle, below) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10.0);
    let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">hosts</text>");
    let (bottom, end) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let _ = writeln!(svg, "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{end}\"/>");
    for (line, class) in lines.iter().zip(["a", "b"]) {
        let points = line.points.iter().map(|(hosts, nanos)| (x(*hosts), y(*nanos)));
        let path: Vec<String> = points.clone().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(svg, "<path class=\"{class}\" d=\"M{}\"/>", path.join("L"));
        for (x, y) in points.clone() {
            let _ = writeln!(
                svg,
                "<circle class=\"{class}-dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"
            );
        }
        if let Some((x, y)) = points.last() {
            let (text_x, text_y, name) = (x + 10.0, y + 4.0, line.name);
            let _ = writeln!(svg, "<text x=\"{text_x:.1}\" y=\"{text_y:.1}\">{name}</text>");
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// A step of 1, 2 or 5 times a power of ten that divides an axis into about five.
fn nice_step(most: f64) -> f64 {
    let rough = (most / 5.0).max(1.0);
    let power = 10_f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= rough);
    times.unwrap_or(10.0) * power
}
