// Steps on a roofline: FLOP per byte against FLOP per second, both logarithmic, under the device's limits.

class RooflineView {
  constructor(app) {
    this.app = app;
    this.title = 'Roofline';
    this.margin = {left: 88, right: 16, top: 14, bottom: 34};
    this.chart = new Chart({
      label: 'Roofline; the table below holds the same steps', className: 'tall',
      draw: (g, w, h, ink) => this.draw(g, w, h, ink), hit: (x, y) => this.hit(x, y), tip: (s) => this.tip(s),
      pick: (s) => app.select(s),
    });
    this.caption = el('p', {class: 'note'});
    this.legend = el('div');
    this.table = new DataTable({
      label: 'Steps by time above the device\u2019s limit', onCurrent: (s) => app.select(s), empty: 'No step matches.',
      columns: [
        {title: 'step', width: '3.5rem', number: true, text: (s) => s.id, value: (s) => s.id},
        {title: 'nodes', width: 'minmax(8rem, 1fr)', text: nodesText, value: nodesText},
        {title: 'kernel', width: 'minmax(7rem, 12rem)', text: (s) => asText(s.kernel), value: (s) => s.kernel},
        {title: 'FLOP/B', width: '4.5rem', number: true, text: (s) => (s.flop > 0 ? digits(s.flop / s.bytes) : NONE), value: (s) => s.flop / s.bytes},
        {title: 'time', width: '4.6rem', number: true, text: (s) => timeText(s.us), value: (s) => s.us},
        {title: 'of limit', width: '4.4rem', number: true, text: (s) => percentText(s.roofUs / s.us), value: (s) => s.roofUs / s.us},
        {title: 'above limit', width: '5.2rem', number: true, text: (s) => timeText(app.entry.lostUs(s)), value: (s) => app.entry.lostUs(s)},
      ],
    });
    this.element = el('div', {class: 'view chart-view'}, el('div', {class: 'chart-head'}, this.caption, this.legend),
      this.chart.element, this.table.element);
  }

  setEntry(entry) {
    this.entry = entry;
    const device = this.app.report.device;
    this.points = entry.steps.filter((s) => s.us > 0 && s.bytes > 0);
    const from = {profiled: 'from the profile', tuned: 'measured while tuning, predicted where not', predicted: 'as predicted when compiling'}[entry.timeFrom];
    fill(this.caption, device ? `${asText(device.name)}: ${countText(device.bytes_per_us * 1e6, 'B/s')}, `
      + `${countText(device.fp32_flops_per_us * 1e6, 'FLOP/s')} fp32`
      + (device.tensor_flops_per_us > 0 ? `, ${countText(device.tensor_flops_per_us * 1e6, 'FLOP/s')} on tensor cores` : '')
      + `. Times ${from}. Steps without arithmetic stand at the left edge, by their bytes per second; above the line is what caches served.`
      : 'The target of this artifact is unknown to this version: its limits are not drawn.');
    fill(this.legend, legend(entry.steps));
    this.setRange();
    this.table.sorted = this.table.columns[6];
    this.table.descending = true;
    this.filter('');
  }

  setRange() {
    const device = this.app.report.device;
    const intensity = this.points.filter((s) => s.flop > 0).map((s) => s.flop / s.bytes);
    const ridge = device ? device.fp32_flops_per_us / device.bytes_per_us : 1;
    const decade = (list, up) => 10 ** (up ? Math.ceil(Math.log10(Math.max(...list))) : Math.floor(Math.log10(Math.min(...list))));
    this.x0 = decade([...intensity, ridge / 3], false);
    this.x1 = decade([...intensity, ridge * 3], true);
    const rates = this.points.map((s) => this.rate(s));
    const top = device ? [device.fp32_flops_per_us * 1e6] : [];
    this.y1 = decade([...rates, ...top, 1e6], true);
    this.y0 = Math.max(decade(rates.length ? rates : [1e6], false), this.y1 / 1e9);
  }

  // FLOP/s; for a step without arithmetic, what its bytes per second are worth at the left edge.
  rate(step) {
    return (step.flop > 0 ? step.flop : step.bytes * this.x0) / (step.us * 1e-6);
  }

  place(step) {
    const x = step.flop > 0 ? step.flop / step.bytes : this.x0;
    return [this.px(x), this.py(this.rate(step))];
  }

  px(value) {
    const {left, right} = this.margin;
    return left + Math.log(value / this.x0) / Math.log(this.x1 / this.x0) * (this.width - left - right);
  }

  py(value) {
    const {top, bottom} = this.margin;
    const share = Math.log(Math.max(value, this.y0) / this.y0) / Math.log(this.y1 / this.y0);
    return this.height - bottom - share * (this.height - top - bottom);
  }

  draw(g, width, height, ink) {
    Object.assign(this, {width, height});
    const {left, right, top, bottom} = this.margin;
    for (let v = this.x0; v <= this.x1 * 1.001; v *= 10) {
      line(g, this.px(v), top, this.px(v), height - bottom, ink.rule);
      label(g, decadeText(v, ''), this.px(v), height - bottom + 12, ink.muted, 'center');
    }
    for (let v = this.y0; v <= this.y1 * 1.001; v *= 10) {
      line(g, left, this.py(v), width - right, this.py(v), ink.rule);
      label(g, decadeText(v, 'FLOP/s'), left - 8, this.py(v), ink.muted, 'right');
    }
    label(g, 'FLOP per byte', width - right, height - 8, ink.muted, 'right');
    this.drawRoofs(g, ink, false);
    const shown = new Set(this.table.items);
    for (const step of this.points) this.dot(g, step, ink, shown.has(step) ? 0.85 : 0.12);
    this.drawRoofs(g, ink, true);
    if (this.app.selection && this.points.includes(this.app.selection)) this.dot(g, this.app.selection, ink, 1, true);
  }

  // The limits: first their lines, and above the dots their names.
  drawRoofs(g, ink, names) {
    const device = this.app.report.device;
    if (!device) return;
    const tensor = this.points.some((s) => peakOf(device, s) !== device.fp32_flops_per_us);
    const peaks = [[device.fp32_flops_per_us * 1e6, 'fp32']].concat(tensor ? [[device.tensor_flops_per_us * 1e6, 'tensor cores']] : []);
    const bandwidth = device.bytes_per_us * 1e6;
    for (const [peak, name] of peaks) {
      if (names) this.nameRoof(g, `${name} ${countText(peak, 'FLOP/s')}`, this.px(peak / bandwidth), this.py(peak), ink);
      else this.roof(g, bandwidth, peak, ink);
    }
    if (!names) return;
    const x = this.px(this.x0), y = this.py(this.x0 * bandwidth);
    g.save();
    g.translate(x, y);
    g.rotate(Math.atan2(this.py(this.x0 * 10 * bandwidth) - y, this.px(this.x0 * 10) - x));
    haloLabel(g, `memory ${countText(bandwidth, 'B/s')}`, 34, -10, ink);
    g.restore();
  }

  // Above or below the line, at its end or its start: where the fewest steps are.
  nameRoof(g, text, ridge, y, ink) {
    const wide = g.measureText(text).width;
    const end = this.width - this.margin.right - 6 - wide;
    const places = [[end, y - 12], [end, y + 13], [ridge + 12, y - 12], [ridge + 12, y + 13]].filter(([x, at]) => x <= end && at > 8);
    const crowd = ([x, at]) => this.points.filter((s) => {
      const [px, py] = this.place(s);
      return px > x - 10 && px < x + wide + 10 && Math.abs(py - at) < 16;
    }).length;
    const [x, at] = places.reduce((best, p) => (crowd(p) < crowd(best) ? p : best));
    haloLabel(g, text, x, at, ink);
  }

  roof(g, bandwidth, peak, ink) {
    g.strokeStyle = ink.text;
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(this.px(this.x0), this.py(this.x0 * bandwidth));
    g.lineTo(this.px(peak / bandwidth), this.py(peak));
    g.lineTo(this.px(this.x1), this.py(peak));
    g.stroke();
  }

  dot(g, step, ink, alpha, chosen) {
    const [x, y] = this.place(step);
    const share = this.entry.totalUs > 0 ? step.us / this.entry.totalUs : 0;
    step.radius = 3 + Math.min(9, Math.sqrt(share) * 16);
    g.globalAlpha = alpha;
    g.fillStyle = ink.group[groupOf(step.family)];
    g.beginPath();
    g.arc(x, y, step.radius, 0, 2 * Math.PI);
    g.fill();
    g.lineWidth = chosen ? 2 : 1;
    g.strokeStyle = chosen ? ink.text : ink.panel;
    g.stroke();
    g.globalAlpha = 1;
    if (chosen) label(g, `step ${step.id}`, x + step.radius + 5, y, ink.text);
  }

  hit(x, y) {
    let best = null, least = 14;
    for (const step of this.points) {
      const [px, py] = this.place(step);
      const distance = Math.hypot(px - x, py - y) - (step.radius || 3);
      if (distance < least) [best, least] = [step, distance];
    }
    return best;
  }

  tip(step) {
    return [`step ${step.id}: ${asText(step.kernel)}`, nodesText(step),
      `${timeText(step.us)}, ${countText(step.flop, 'FLOP')}, ${countText(step.bytes, 'B')}`,
      `${percentText(step.roofUs / step.us)} of the limit`];
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

// The step that a selection stands for.
function asStep(selection) {
  if (!selection) return null;
  return selection.kind === 'lowered' ? selection.into : selection.kind === 'step' ? selection : null;
}

// Steps whose number, kernel, family or nodes hold every word.
function matching(entry, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entry.steps;
  return entry.steps.filter((s) => {
    s.search = s.search || `${s.id} ${s.kernel} ${s.family} ${s.sources.join('\n')}`.toLowerCase();
    return words.every((w) => s.search.includes(w));
  });
}
