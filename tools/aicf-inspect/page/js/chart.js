// A canvas that follows its box and the screen's density, redraws when asked, and knows what is where.

const SMALL_FONT = '11px ui-sans-serif, -apple-system, "Segoe UI", Roboto, "Noto Sans", '
  + '"DejaVu Sans Condensed", sans-serif';

class Chart {
  // draw(g, width, height, ink), hit(x, y) -> item or null, tip(item) -> lines, pick(item).
  constructor({label, draw, hit, tip, pick, className}) {
    this.canvas = el('canvas', {role: 'img', 'aria-label': label});
    this.element = el('div', {class: `chart ${className || ''}`}, this.canvas);
    Object.assign(this, {drawing: draw, hit, tip, pick});
    this.redraw = perFrame(() => this.paint());
    new ResizeObserver(this.redraw).observe(this.element);
    this.listen();
  }

  listen() {
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return this.hit ? this.hit(event.clientX - box.left, event.clientY - box.top) : null;
    };
    this.canvas.addEventListener('pointermove', (event) => {
      if (event.buttons) return;
      const item = at(event);
      this.canvas.classList.toggle('over', Boolean(item));
      if (item && this.tip) showTip(this.tip(item), event.clientX, event.clientY);
      else hideTip();
    });
    this.canvas.addEventListener('pointerleave', hideTip);
    this.canvas.addEventListener('click', (event) => {
      const item = this.dragged ? null : at(event);
      this.dragged = false;
      if (item && this.pick) this.pick(item);
    });
  }

  paint() {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (width === 0 || height === 0) return;
    const density = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * density);
    this.canvas.height = Math.round(height * density);
    const g = this.canvas.getContext('2d');
    g.setTransform(density, 0, 0, density, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = SMALL_FONT;
    g.textBaseline = 'middle';
    this.drawing(g, width, height, inks());
  }
}

function showTip(lines, x, y) {
  const tip = document.getElementById('tip');
  fill(tip, lines.filter(Boolean).map((line, i) => el(i === 0 ? 'b' : 'span', null, line)));
  tip.hidden = false;
  const left = Math.min(x + 14, innerWidth - tip.offsetWidth - 8);
  const top = y + 16 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 10 : y + 16;
  tip.style.setProperty('left', `${Math.max(8, left)}px`);
  tip.style.setProperty('top', `${Math.max(8, top)}px`);
}

function hideTip() {
  document.getElementById('tip').hidden = true;
}

// A round step for about `count` marks up to `span`; `binary`: for bytes.
function niceStep(span, count, binary) {
  const rough = span / Math.max(1, count);
  const base = binary ? 2 ** Math.floor(Math.log2(rough || 1)) : 10 ** Math.floor(Math.log10(rough || 1));
  return [1, 2, 5, 10].map((k) => base * (binary ? {1: 1, 2: 2, 5: 4, 10: 8}[k] : k)).find((s) => s >= rough) || base;
}

function line(g, x0, y0, x1, y1, color, dash) {
  g.strokeStyle = color;
  g.lineWidth = 1;
  g.setLineDash(dash || []);
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
  g.setLineDash([]);
}

function label(g, text, x, y, color, align) {
  g.fillStyle = color;
  g.textAlign = align || 'left';
  g.fillText(visible(String(text)), x, y);
}

// Text that stays readable over what is drawn already.
function haloLabel(g, text, x, y, ink, align) {
  g.textAlign = align || 'left';
  g.lineJoin = 'round';
  g.lineWidth = 4;
  g.strokeStyle = ink.bg;
  g.strokeText(visible(text), x, y);
  label(g, text, x, y, ink.text, align);
}

// A horizontal axis that the wheel zooms and dragging moves; [from, to] in the axis's own units.
class ZoomAxis {
  constructor(chart, margin) {
    Object.assign(this, {chart, margin});
    this.reset(1);
    chart.canvas.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    chart.canvas.addEventListener('pointerdown', (event) => this.drag(event));
  }

  reset(length) {
    Object.assign(this, {length, from: 0, to: length});
  }

  get inner() {
    return Math.max(1, (this.paperWidth || this.chart.element.clientWidth) - this.margin.left - this.margin.right);
  }

  x(value) {
    return this.margin.left + (value - this.from) / (this.to - this.from) * this.inner;
  }

  at(x) {
    return this.from + (x - this.margin.left) / this.inner * (this.to - this.from);
  }

  zoom(factor, around) {
    const least = this.length / 2000;
    const span = Math.min(this.length, Math.max(least, (this.to - this.from) * factor));
    const share = (around - this.from) / (this.to - this.from);
    this.show(around - share * span, span);
  }

  show(from, span) {
    this.from = Math.max(0, Math.min(this.length - span, from));
    this.to = this.from + span;
    this.chart.redraw();
  }

  wheel(event) {
    // A plain wheel scrolls the page; with a modifier, or sideways, it is for the chart.
    if (event.shiftKey || event.deltaX) {
      event.preventDefault();
      const by = (event.deltaX || event.deltaY) / this.inner * (this.to - this.from);
      return this.show(this.from + by, this.to - this.from);
    }
    if (!event.ctrlKey && !event.metaKey) return undefined;
    event.preventDefault();
    return this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.at(event.offsetX));
  }

  drag(event) {
    if (this.to - this.from >= this.length) return;
    const canvas = this.chart.canvas;
    const start = {x: event.clientX, from: this.from};
    const move = (e) => {
      if (Math.abs(e.clientX - start.x) > 3) this.chart.dragged = true;
      const span = this.to - this.from;
      this.show(start.from - (e.clientX - start.x) / this.inner * span, span);
    };
    const stop = () => {
      canvas.removeEventListener('pointermove', move);
      canvas.removeEventListener('pointerup', stop);
    };
    canvas.setPointerCapture(event.pointerId);
    canvas.addEventListener('pointermove', move);
    canvas.addEventListener('pointerup', stop);
  }

  buttons() {
    const middle = () => (this.from + this.to) / 2;
    return el('div', {class: 'zoom', role: 'group', 'aria-label': 'Zoom'},
      button('\u2212', {title: 'Zoom out', 'aria-label': 'Zoom out'}, () => this.zoom(2, middle())),
      button('+', {title: 'Zoom in', 'aria-label': 'Zoom in'}, () => this.zoom(0.5, middle())),
      button('all', {title: 'Show all'}, () => this.show(0, this.length)));
  }
}
