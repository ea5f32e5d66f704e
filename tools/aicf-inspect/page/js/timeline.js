// Steps of one replay in time, and the longest first.

class TimelineView extends ChartView {
  constructor(app) {
    super(app, {
      title: 'Timeline',
      chart: {label: 'Steps in time; the table below holds the same steps', className: 'low-chart'},
      table: {
        label: 'Steps, longest first', empty: 'No step matches.',
        columns: [
          numbers('step', '3.5rem', (s) => s.id, (s) => s.id),
          column('nodes', 'minmax(8rem, 1fr)', nodesText),
          column('kernel', 'minmax(7rem, 12rem)', (s) => asText(s.ran || s.kernel)),
          numbers('time', '4.6rem', (s) => timeText(s.us), (s) => s.us),
          numbers('share', '4.5rem', (s) => percentText(s.us / this.entry.totalUs), (s) => s.us),
          numbers('up to here', '4.6rem', (s) => percentText(this.sums.get(s)), (s) => s.us),
          numbers('predicted', '4.6rem', (s) => timeText(s.predictedUs), (s) => s.predictedUs),
        ],
      },
    });
    this.margin = {left: 16, right: 16, top: 10, bottom: 24};
    this.axis = new ZoomAxis(this.chart, this.margin);
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
    this.sortBy('time');
  }

  words() {
    const {profile, title} = this.app.report.data;
    const total = timeText(this.entry.totalUs);
    if (this.entry.hasProfile) {
      const replay = profile.replay_us ? `; the whole replay takes ${timeText(profile.replay_us)}` : '';
      return `Profiled on ${asText(profile.device)}: median times of the steps, ${total} together${replay}.`;
    }
    const command = `aicf-run ${title} --export-profile=P.json && aicf-inspect ${title} --html=F --profile=P.json`;
    const words = `No profile of this entry point: these are the times that the compiler ${this.entry.timeFrom}, `
      + `${total} together. For measured ones: `;
    return [words, el('code', null, command)];
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
      const x0 = this.axis.x(chosen.start), x1 = this.axis.x(chosen.start + chosen.us);
      g.strokeRect(x0, top + 3, Math.max(2, x1 - x0), height - bottom - top - 6);
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
}
