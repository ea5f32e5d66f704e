// The arena over time: every buffer a rectangle of its bytes and its lifetime, above it what is live.

class MemoryView extends ChartView {
  constructor(app) {
    const ids = (steps) => (steps.length === 0 ? NONE : steps.map((s) => s.id).join(', '));
    super(app, {
      title: 'Memory',
      chart: {label: 'Arena offsets over steps; the table below holds the same buffers', className: 'tall'},
      table: {
        label: 'Buffers in the arena', empty: 'No buffer matches.',
        columns: [
          column('buffer', 'minmax(8rem, 1fr)', (b) => b.name),
          column('role', '5rem', (b) => asText(b.role)),
          numbers('bytes', '4.8rem', (b) => bytesText(b.bytes), (b) => b.bytes),
          numbers('offset', '5.6rem', (b) => b.offset.toLocaleString('en'), (b) => b.offset),
          numbers('lives', '5.2rem', (b) => lifeText(b, this.entry), (b) => b.first),
          column('written by', '5.2rem', (b) => (b.workspace ? NONE : ids(b.writers)), (b) => (b.writers[0] || {}).id),
          column('read by', '6rem', (b) => (b.workspace ? NONE : ids(b.readers)), (b) => b.readers.length),
          numbers('in place', '4rem', (b) => b.aliases.length || NONE, (b) => b.aliases.length),
        ],
      },
    });
    this.margin = {left: 74, right: 16, top: 74, bottom: 26};
    this.axis = new ZoomAxis(this.chart, this.margin);
  }

  setEntry(entry) {
    const {header} = this.app.report.data;
    this.entry = entry;
    this.arena = header.arena_bytes;
    this.bound = header.arena_lower_bound;
    this.lives = livesOf(entry);
    this.live = liveBytes(this.lives, entry.steps.length);
    this.peak = this.live.reduce((best, v, i) => (v > this.live[best] ? i : best), 0);
    fill(this.caption, this.words());
    this.axis.reset(Math.max(1, entry.steps.length));
    fill(this.tools, legend(entry.steps), this.axis.buttons());
    this.sortBy('bytes');
  }

  words() {
    if (this.live.length === 0) return 'This program has no steps.';
    const mean = this.live.reduce((a, b) => a + b, 0) / this.live.length;
    const reused = this.lives.reduce((sum, b) => sum + b.aliases.length, 0);
    const {header, states} = this.app.report.data;
    const state = header.state_bytes > 0
      ? ` Beside the arena: ${bytesText(header.state_bytes)} of state in ${plural((states || []).length, 'value')}.` : '';
    return `Arena ${bytesText(this.arena)}; lower bound ${bytesText(this.bound)}. Most is live at step `
      + `${this.entry.steps[this.peak].id}: ${bytesText(this.live[this.peak])}; on average ${bytesText(mean)}. `
      + `${plural(this.lives.length, 'buffer')} in the colour of the step that writes them; `
      + `${plural(reused, 'value')} written in place (dashed); workspaces hatched.${state}`;
  }

  // Top and bottom of bytes [offset, offset + bytes).
  span(offset, bytes) {
    const inner = this.height - this.margin.top - this.margin.bottom;
    const scale = this.arena > 0 ? inner / this.arena : 0;
    const bottom = this.height - this.margin.bottom - offset * scale;
    return [bottom - bytes * scale, bottom];
  }

  box(b) {
    const [top, bottom] = this.span(b.offset, b.bytes);
    const x0 = this.axis.x(b.first), x1 = this.axis.x(b.last + 1);
    return [x0, top, Math.max(1, x1 - x0), Math.max(1, bottom - top)];
  }

  draw(g, width, height, ink) {
    Object.assign(this, {width, height});
    const {left, right, top, bottom} = this.margin;
    this.drawGrid(g, ink);
    g.save();
    g.beginPath();
    g.rect(left, 0, width - left - right, height);
    g.clip();
    const shown = new Set(this.table.items);
    for (const b of this.lives) this.drawLife(g, b, ink, shown.has(b) ? 1 : 0.15);
    if (this.lives.includes(this.app.selection)) this.frame(g, this.app.selection, ink);
    this.drawLive(g, ink);
    g.restore();
    this.drawMarks(g, ink, left, width - right, top, height - bottom);
  }

  drawGrid(g, ink) {
    const {left, right, top, bottom} = this.margin;
    const tick = niceStep(this.arena, (this.height - top - bottom) / 36, true);
    for (let v = 0; v <= this.arena; v += tick) {
      const y = this.span(v, 0)[1];
      line(g, left, y, this.width - right, y, ink.rule);
      label(g, bytesText(v), left - 8, y, ink.muted, 'right');
    }
    const steps = Math.max(1, niceStep(this.axis.to - this.axis.from, (this.width - left - right) / 70));
    for (let s = Math.ceil(this.axis.from / steps) * steps; s < this.axis.to; s += steps) {
      const step = this.entry.steps[Math.round(s)];
      if (step) label(g, step.id, this.axis.x(s + 0.5), this.height - bottom + 12, ink.muted, 'center');
    }
  }

  drawLife(g, b, ink, alpha) {
    const [x, y, w, h] = this.box(b);
    const family = b.workspace ? b.workspace.family : b.writers[0] && b.writers[0].family;
    g.globalAlpha = alpha * (b.workspace ? 0.45 : 0.78);
    g.fillStyle = family ? ink.group[groupOf(family)] : ink.muted;
    g.fillRect(x, y, w, h);
    g.globalAlpha = alpha;
    g.lineWidth = 1;
    g.strokeStyle = ink.panel;
    if (w > 3 && h > 3) g.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    if (b.workspace) this.hatch(g, x, y, w, h, ink.panel);
    // Every later write of the same bytes: the value that was there is overwritten in place.
    for (const step of b.aliases.length > 0 && w > 8 ? b.writers.slice(1) : []) {
      const at = this.axis.x(step.position);
      line(g, at, y, at, y + h, ink.panel, [3, 2]);
    }
    if (w > 60 && h > 15) this.name(g, b, x, y, w, h, ink);
    g.globalAlpha = 1;
  }

  name(g, b, x, y, w, h, ink) {
    g.save();
    g.beginPath();
    g.rect(x, y, w - 4, h);
    g.clip();
    label(g, b.name, Math.max(x, this.margin.left) + 5, y + Math.min(h / 2, 12), ink.panel);
    g.restore();
  }

  hatch(g, x, y, w, h, color) {
    g.save();
    g.beginPath();
    g.rect(x, y, w, h);
    g.clip();
    for (let d = -h; d < w; d += 5) line(g, x + d, y + h, x + d + h, y, color);
    g.restore();
  }

  frame(g, b, ink) {
    const [x, y, w, h] = this.box(b);
    g.lineWidth = 2;
    g.strokeStyle = ink.text;
    g.strokeRect(x, y, w, h);
  }

  // What is live at each step, above the map.
  drawLive(g, ink) {
    const base = this.margin.top - 16, high = base - 12;
    const most = Math.max(1, this.live[this.peak] || 0, this.bound);
    g.fillStyle = ink.faint;
    g.beginPath();
    g.moveTo(this.axis.x(0), base);
    this.live.forEach((v, i) => {
      const y = base - v / most * high;
      g.lineTo(this.axis.x(i), y);
      g.lineTo(this.axis.x(i + 1), y);
    });
    g.lineTo(this.axis.x(this.live.length), base);
    g.fill();
  }

  drawMarks(g, ink, left, right, top, bottom) {
    const base = top - 16;
    label(g, 'live', left - 8, base - 6, ink.muted, 'right');
    line(g, left, base + 0.5, right, base + 0.5, ink.muted);
    const [bound] = this.span(0, this.bound);
    line(g, left, bound, right, bound, ink.accent, [6, 4]);
    const slack = this.arena > this.bound;
    const reached = slack ? '' : ', reached:';
    label(g, `lower bound${reached} ${bytesText(this.bound)}`, right - 4, bound - 8, ink.accent, 'right');
    if (this.live.length === 0) return;
    const x = this.axis.x(this.peak + 0.5);
    if (x < left || x > right) return;
    line(g, x, 12, x, bottom, ink.accent, [2, 3]);
    const text = `peak ${bytesText(this.live[this.peak])} at step ${this.entry.steps[this.peak].id}`;
    const fits = x + 6 + g.measureText(text).width < right;
    label(g, text, fits ? x + 6 : x - 6, 6, ink.accent, fits ? 'left' : 'right');
  }

  hit(x, y) {
    let found = null;
    for (const b of this.lives) {
      const [bx, by, w, h] = this.box(b);
      if (x >= bx && x <= bx + w && y >= by && y <= by + h) found = b;
    }
    return found;
  }

  tip(b) {
    return [b.name, `${bytesText(b.bytes)} at +${b.offset.toLocaleString('en')}, ${b.role}`,
      `steps ${lifeText(b, this.entry)}`,
      b.aliases.length > 0 && `${plural(b.aliases.length, 'value')} written in place`];
  }

  filter(text) {
    const words = wordsOf(text);
    const aliases = (b) => b.aliases.map((a) => asText(this.app.report.values[a].name));
    const named = (b) => [b.name, b.role, ...aliases(b)].join('\n').toLowerCase();
    const found = this.lives.filter((b) => words.every((w) => named(b).includes(w)));
    this.table.setItems(found);
    this.chart.redraw();
    return text ? `${found.length.toLocaleString('en')} of ${plural(this.lives.length, 'buffer')}` : '';
  }

  show() {
    this.table.setCurrent(this.lives.includes(this.app.selection) ? this.app.selection : null, false);
    this.chart.redraw();
  }
}
