// On paper: the charts as they are, then the plan as a table, in light colours.

const PAPER_ROWS = 3000;

function paperPage(app) {
  const {entry} = app;
  const row = (s) => el('tr', null, el('td', {class: 'number'}, s.id), el('td', null, asText(s.kernel)), el('td', null, nodesText(s)),
    el('td', null, shapeText((s.problem.out[0] || [])[1])), el('td', {class: 'number'}, s.lowered.length || NONE),
    el('td', {class: 'number'}, timeText(s.us)), el('td', {class: 'number'}, percentText(s.roofUs / s.us)));
  const charts = ['roofline', 'memory', 'timeline'].map((id) => app.viewOf(id)).map((view) =>
    el('figure', null, el('figcaption', null, view.title), picture(view)));
  return [
    charts,
    el('h2', null, 'Plan'),
    el('table', null, el('thead', null, el('tr', null, ['step', 'kernel', 'source nodes', 'output', 'fused', `time ${entry.timeFrom}`, 'of limit'].map((t) => el('th', null, t)))),
      el('tbody', null, entry.steps.slice(0, PAPER_ROWS).map(row))),
    entry.steps.length > PAPER_ROWS && el('p', null, `and ${entry.steps.length - PAPER_ROWS} more steps`),
  ];
}

// A view's chart drawn again, for the width of a page.
function picture(view) {
  const [width, height] = [700, 280];
  const canvas = el('canvas', {width: 2 * width, height: 2 * height});
  const g = canvas.getContext('2d');
  g.scale(2, 2);
  g.font = SMALL_FONT;
  g.textBaseline = 'middle';
  if (view.axis) view.axis.paperWidth = width;
  view.chart.drawing(g, width, height, inks());
  if (view.axis) view.axis.paperWidth = 0;
  view.chart.redraw();
  return canvas;
}

function watchPrint(app) {
  addEventListener('beforeprint', () => {
    app.theme.apply('light');
    fill(document.getElementById('paper'), paperPage(app));
  });
  addEventListener('afterprint', () => {
    fill(document.getElementById('paper'));
    app.theme.apply();
  });
}
