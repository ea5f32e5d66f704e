// Which lane each edge of a graph runs in, beside the rows of its steps: the chain of neighbours in the
// innermost, what skips rows further out.

const LANE_LIMIT = 7;
const LANE_WIDTH = 7;

// edges: {from, to, next} with rows from < to; next: nothing is between them. Sets edge.lane; edges of one
// producer share a lane.
function assignLanes(edges) {
  const spans = new Map();
  for (const edge of edges) {
    edge.lane = 0;
    if (edge.next) continue;
    const span = spans.get(edge.from) || {from: edge.from, to: edge.to, edges: []};
    span.to = Math.max(span.to, edge.to);
    span.edges.push(edge);
    spans.set(edge.from, span);
  }
  const ends = [];
  const ordered = [...spans.values()].sort((a, b) => a.from - b.from || a.to - b.to);
  for (const span of ordered) {
    let lane = ends.findIndex((end) => end <= span.from);
    if (lane < 0) lane = Math.min(ends.length, LANE_LIMIT - 2);
    ends[lane] = Math.max(ends[lane] ?? 0, span.to);
    for (const edge of span.edges) edge.lane = lane + 1;
  }
}

// Draws rows as dots and the edges between them. x: of the dots; side -1: lanes grow to the left, +1: to the
// right. rows: the middles of those in sight; yOf(row) for any. chosen(edge): drawn last, in the accent.
function drawLanes(g, edges, {x, side, height, rows, yOf, ink, chosen}) {
  const strong = [];
  for (const edge of edges) {
    const y0 = yOf(edge.from), y1 = yOf(edge.to);
    if (y1 < 0 || y0 > height) continue;
    if (chosen(edge)) strong.push(edge);
    else drawEdge(g, x, side, edge.lane, y0, y1, ink.faint, 1);
  }
  for (const edge of strong) drawEdge(g, x, side, edge.lane, yOf(edge.from), yOf(edge.to), ink.accent, 2);
  for (const {y, color} of rows) {
    g.fillStyle = color;
    g.beginPath();
    g.arc(x, y, 2.5, 0, 2 * Math.PI);
    g.fill();
  }
}

function drawEdge(g, x, side, lane, y0, y1, color, width) {
  const out = x + side * lane * LANE_WIDTH;
  const bend = Math.min(9, (y1 - y0) / 2);
  g.strokeStyle = color;
  g.lineWidth = width;
  g.beginPath();
  g.moveTo(x, y0);
  if (lane > 0) {
    g.quadraticCurveTo(out, y0, out, y0 + bend);
    g.lineTo(out, y1 - bend);
    g.quadraticCurveTo(out, y1, x, y1);
  } else {
    g.lineTo(x, y1);
  }
  g.stroke();
}
