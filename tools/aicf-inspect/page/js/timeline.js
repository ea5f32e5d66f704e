// Steps of one replay in time, and the longest first.

class TimelineView {
  constructor(app) {
    this.app = app;
    this.title = 'Timeline';
    this.margin = {left: 16, right: 16, top: 10, bottom: 24};
    this.chart = new Chart({
      label: 'Steps in time; the table below holds the same steps', className: 'low-chart',
      draw: (g, w, h, ink) => this.draw(g, w, h, ink), hit: (x, y) => this.hit(x, y), tip: (s) => this.tip(s),
      pick: (s) => app.select(s),
    });
    this.axis = new ZoomAxis(this.chart, this.margin);
    this.caption = el('div', {class: 'note'});
    this.tools = el('div', {class: 'tools'});
    this.table = new DataTable({
      label: 'Steps, longest first', onCurrent: (s) => app.select(s), empty: 'No step matches.',
      columns: [
        {title: 'step', width: '3.5rem', number: true, text: (s) => s.id, value: (s) => s.id},
        {title: 'nodes', width: 'minmax(8rem, 1fr)', text: nodesText, value: nodesText},
        {title: 'kernel', width: 'minmax(7rem, 12rem)', text: (s) => asText(s.ran || s.kernel), value: (s) => s.ran || s.kernel},
        {title: 'time', width: '4.6rem', number: true, text: (s) => timeText(s.us), value: (s) => s.us},
        {title: 'share', width: '4.5rem', number: true, text: (s) => percentText(s.us / this.entry.totalUs), value: (s) => s.us},
        {title: 'up to here', width: '4.6rem', number: true, text: (s) => percentText(this.sums.get(s)), value: (s) => s.us},
        {title: 'predicted', width: '4.6rem', number: true, text: (s) => timeText(s.predictedUs), value: (s) => s.predictedUs},
      ],
    });
    this.element = el('div', {class: 'view chart-view'}, el('div', {class: 'chart-head'}, this.caption, this.tools),
      this.chart.element, this.table.element);
  }

  setEntry(entry) {
    this.entry = entry;
    let at = 0;
    for (const step of entry.steps) {
      step.start = at;
      at += step.us || 0;
    }
    this.sums = new Map();
    let sum = 0;
    for (const step of entry.steps.slice().sort((a, b) => (b.us || 0) - (a.us || 0))) {
      sum += step.us || 0;
      this.sums.set(step, entry.totalUs > 0 ? sum / entry.totalUs : undefined);
    }
    this.axis.reset(Math.max(1e-6, entry.totalUs));
    fill(this.caption, this.words());
    fill(this.tools, legend(entry.steps), this.axis.buttons());
    this.table.sorted = this.table.columns[3];
    this.table.descending = true;
    this.filter('');
  }

  words() {
    const {profile} = this.app.report.data;
    const total = timeText(this.entry.totalUs);
    if (this.entry.hasProfile) {
      const replay = profile.replay_us ? `; the whole replay takes ${timeText(profile.replay_us)}` : '';
      return `Profiled on ${asText(profile.device)}: median times of the steps, ${total} together${replay}.`;
    }
    const name = this.app.report.data.title;
    return el('div', null, `No profile of this entry point: what follows are the times that the compiler ${this.entry.timeFrom}, ${total} together. For measured ones: `,
      el('code', null, `aicf-run ${name} --export-profile=P.json && aicf-inspect ${name} --html=F --profile=P.json`));
  }

  draw(g, width, height, ink) {
    Object.assign(this, {width, height});
    const {left, right, top, bottom} = this.margin;
    const tick = niceStep(this.axis.to - this.axis.from, (width - left - right) / 90);
    for (let v = Math.ceil(this.axis.from / tick) * tick; v <= this.axis.to; v += tick) {
      line(g, this.axis.x(v), top, this.axis.x(v), height - bottom, ink.rule);
      label(g, timeText(v), this.axis.x(v), height - bottom + 12, ink.muted, v === 0 ? 'left' : 'center');
    }
    const shown = new Set(this.table.items);
    g.save();
    g.beginPath();
    g.rect(left, 0, width - left - right, height);
    g.clip();
    for (const step of this.entry.steps) this.block(g, step, ink, shown.has(step) ? 1 : 0.15);
    const chosen = asStep(this.app.selection);
    if (chosen && chosen.us > 0) {
      g.lineWidth = 2;
      g.strokeStyle = ink.text;
      g.strokeRect(this.axis.x(chosen.start), top + 3, Math.max(2, this.axis.x(chosen.start + chosen.us) - this.axis.x(chosen.start)), height - bottom - top - 6);
    }
    g.restore();
  }

  block(g, step, ink, alpha) {
    if (!(step.us > 0)) return;
    const x0 = this.axis.x(step.start), x1 = this.axis.x(step.start + step.us);
    if (x1 < this.margin.left || x0 > this.width - this.margin.right) return;
    const y = this.margin.top + 4, h = this.height - this.margin.top - this.margin.bottom - 8;
    g.globalAlpha = alpha * 0.85;
    g.fillStyle = ink.group[groupOf(step.family)];
    g.fillRect(x0, y, Math.max(0.5, x1 - x0 - (x1 - x0 > 3 ? 1 : 0)), h);
    g.globalAlpha = alpha;
    if (x1 - x0 > 26) {
      g.save();
      g.beginPath();
      g.rect(x0, y, x1 - x0 - 3, h);
      g.clip();
      label(g, `${step.id}`, x0 + 4, y + 10, ink.panel);
      if (x1 - x0 > 60) label(g, opName(step.problem), x0 + 4, y + 24, ink.panel);
      g.restore();
    }
    g.globalAlpha = 1;
  }

  hit(x, y) {
    if (y > this.height - this.margin.bottom) return null;
    const time = this.axis.at(x);
    return this.entry.steps.find((s) => s.us > 0 && time >= s.start && time < s.start + s.us) || null;
  }

  tip(step) {
    return [`step ${step.id}: ${asText(step.ran || step.kernel)}`, nodesText(step),
      `${timeText(step.us)}, ${percentText(step.us / this.entry.totalUs)} of all`];
  }

  filter(text) {
    const found = matching(this.entry, text);
    this.table.setItems(found);
    this.chart.redraw();
    return text ? `${found.length} of ${plural(this.entry.steps.length, 'step')}` : '';
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
