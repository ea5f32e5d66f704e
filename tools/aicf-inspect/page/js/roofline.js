// Steps on a roofline: FLOP per byte against FLOP per second, both logarithmic, under the device's limits.

class RooflineView extends ChartView {
  constructor(app) {
    super(app, {
      title: 'Roofline',
      chart: {label: 'Roofline; the table below holds the same steps', className: 'tall'},
      table: {
        label: 'Steps by time above the device\u2019s limit', empty: 'No step matches.',
        columns: [
          numbers('step', '3.5rem', (s) => s.id, (s) => s.id),
          column('nodes', 'minmax(8rem, 1fr)', nodesText),
          column('kernel', 'minmax(7rem, 12rem)', (s) => asText(s.kernel)),
          numbers('FLOP/B', '4.5rem', (s) => (s.flop > 0 ? digits(s.flop / s.bytes) : NONE), (s) => s.flop / s.bytes),
          numbers('time', '4.6rem', (s) => timeText(s.us), (s) => s.us),
          numbers('of limit', '4.4rem', (s) => percentText(s.roofUs / s.us), (s) => s.roofUs / s.us),
          numbers('above limit', '5.2rem', (s) => timeText(app.entry.lostUs(s)), (s) => app.entry.lostUs(s)),
        ],
      },
    });
    this.margin = {left: 88, right: 16, top: 14, bottom: 34};
  }

  setEntry(entry) {
    this.entry = entry;
    this.points = entry.steps.filter((s) => s.us > 0 && s.bytes > 0);
    fill(this.caption, this.words());
    fill(this.tools, legend(entry.steps));
    this.setRange();
    this.sortBy('above limit');
  }

  words() {
    const {device} = this.app.report;
    if (!device) return 'The target of this artifact is unknown to this version: its limits are not drawn.';
    const peak = (flops, name) => `${countText(flops * 1e6, 'FLOP/s')} ${name}`;
    const limits = [countText(device.bytes_per_us * 1e6, 'B/s'), peak(device.fp32_flops_per_us, 'fp32')];
    if (device.tensor_flops_per_us > 0) limits.push(peak(device.tensor_flops_per_us, 'on tensor cores'));
    const from = {
      profiled: 'from the profile',
      tuned: 'measured while tuning, predicted where not',
      predicted: 'as predicted when compiling',
    };
    return `${asText(device.name)}: ${limits.join(', ')}. Times ${from[this.entry.timeFrom]}. Steps without arithmetic `
      + 'stand at the left edge, by their bytes per second; above the line is what caches served.';
  }

  setRange() {
    const device = this.app.report.device;
    const intensity = this.points.filter((s) => s.flop > 0).map((s) => s.flop / s.bytes);
    const ridge = device ? device.fp32_flops_per_us / device.bytes_per_us : 1;
    this.x0 = decadeBelow([...intensity, ridge / 3]);
    this.x1 = decadeAbove([...intensity, ridge * 3]);
    const rates = this.points.map((s) => this.rate(s));
    const top = device ? [device.fp32_flops_per_us * 1e6] : [];
    this.y1 = decadeAbove([...rates, ...top, 1e6]);
    this.y0 = Math.max(decadeBelow(rates.length > 0 ? rates : [1e6]), this.y1 / 1e9);
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
    const chosen = asStep(this.app.selection);
    if (this.points.includes(chosen)) this.dot(g, chosen, ink, 1, true);
  }

  // The limits: first their lines, and above the dots their names.
  drawRoofs(g, ink, names) {
    const device = this.app.report.device;
    if (!device) return;
    const tensor = this.points.some((s) => peakOf(device, s) !== device.fp32_flops_per_us);
    const peaks = [[device.fp32_flops_per_us * 1e6, 'fp32']];
    if (tensor) peaks.push([device.tensor_flops_per_us * 1e6, 'tensor cores']);
    const bandwidth = device.bytes_per_us * 1e6;
    for (const [peak, name] of peaks) {
      const text = `${name} ${countText(peak, 'FLOP/s')}`;
      if (names) this.nameRoof(g, text, this.px(peak / bandwidth), this.py(peak), ink);
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
    const all = [[end, y - 12], [end, y + 13], [ridge + 12, y - 12], [ridge + 12, y + 13]];
    const places = all.filter(([x, at]) => x <= end && at > 8);
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
    if (!chosen) return;
    const atEdge = x + step.radius + 60 > this.width;
    const away = (step.radius + 5) * (atEdge ? -1 : 1);
    haloLabel(g, `step ${step.id}`, x + away, y, ink, atEdge ? 'right' : 'left');
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
}

function decadeBelow(values) {
  return 10 ** Math.floor(Math.log10(values.reduce((a, b) => Math.min(a, b))));
}

function decadeAbove(values) {
  return 10 ** Math.ceil(Math.log10(values.reduce((a, b) => Math.max(a, b))));
}
