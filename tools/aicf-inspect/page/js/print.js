// On paper: the charts as they are, then the plan as a table, in light colours.

const PAPER_ROWS = 3000;

const PAPER_COLUMNS = ['step', 'kernel', 'source nodes', 'output', 'fused', 'time', 'of limit'];

function paperPage(app) {
  const {steps} = app.entry;
  const charts = ['roofline', 'memory', 'timeline'].map((id) => app.viewOf(id));
  return [
    charts.map((view) => el('figure', null, el('figcaption', null, view.title), picture(view))),
    el('h2', null, `Plan, times ${app.entry.timeFrom}`),
    el('table', null,
      el('thead', null, el('tr', null, PAPER_COLUMNS.map((title) => el('th', null, title)))),
      el('tbody', null, steps.slice(0, PAPER_ROWS).map((s) => el('tr', null, paperRow(s))))),
    steps.length > PAPER_ROWS && el('p', null, `and ${steps.length - PAPER_ROWS} more steps`),
  ];
}

function paperRow(step) {
  const texts = [asText(step.kernel), nodesText(step), outputShape(step)];
  const figures = [step.lowered.length || NONE, timeText(step.us), percentText(step.roofUs / step.us)];
  return [numberCell(step.id), texts.map((text) => el('td', null, text)), figures.map(numberCell)];
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
