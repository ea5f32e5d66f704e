// What the views with a chart above a table of the same things have in common.

class ChartView {
  // chart, table: options of Chart and DataTable; the view draws, hits and tips the chart.
  constructor(app, {title, chart, table, tools}) {
    this.app = app;
    this.title = title;
    const pick = (item) => app.select(item);
    this.chart = new Chart({
      ...chart, pick, draw: (...args) => this.draw(...args), hit: (x, y) => this.hit(x, y),
      tip: (item) => this.tip(item),
    });
    this.table = new DataTable({...table, onCurrent: pick});
    this.caption = el('div', {class: 'note'});
    this.tools = el('div', {class: tools || 'tools'});
    const head = el('div', {class: 'chart-head'}, this.caption, this.tools);
    this.element = el('div', {class: 'view chart-view'}, head, this.chart.element, this.table.element);
  }

  // The table anew, largest first.
  sortBy(title) {
    this.table.sorted = this.table.columns.find((c) => c.title === title);
    this.table.descending = true;
    this.filter('');
  }

  // The steps that a search finds; views of other things have a filter of their own.
  filter(text) {
    const found = matching(this.entry, text);
    this.table.setItems(found);
    this.chart.redraw();
    return text ? `${found.length.toLocaleString('en')} of ${plural(this.entry.steps.length, 'step')}` : '';
  }

  show() {
    this.table.setCurrent(asStep(this.app.selection), false);
    this.chart.redraw();
  }

  move(by) {
    this.table.move(by);
  }

  focus() {
    this.table.focus();
  }

  redraw() {
    this.chart.redraw();
  }
}

// The step that a selection stands for.
function asStep(selection) {
  if (!selection) return null;
  if (selection.kind === 'lowered') return selection.into;
  return selection.kind === 'step' ? selection : null;
}

function wordsOf(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

// Steps whose number, kernel, family or nodes hold every word.
function matching(entry, text) {
  const words = wordsOf(text);
  if (words.length === 0) return entry.steps;
  return entry.steps.filter((s) => {
    s.search = s.search || `${s.id} ${s.kernel} ${s.family} ${s.sources.join('\n')}`.toLowerCase();
    return words.every((w) => s.search.includes(w));
  });
}

// Draws inside of a chart's plot only.
function clipped(g, x, y, width, height, draw) {
  g.save();
  g.beginPath();
  g.rect(x, y, width, height);
  g.clip();
  draw();
  g.restore();
}
