// The graph before fusion and after, row by row: a band for each step of the plan, with the lowered steps
// that went into it on its left. Edges run in lanes on both sides.

const GRAPH_ROW = 24;
const GRAPH_GAP = 5;
const GRAPH_TOP = 8;  // the list's margin

class GraphView {
  constructor(app) {
    this.app = app;
    this.title = 'Graph';
    const name = 'Steps: before fusion on the left, the plan on the right';
    this.list = new VirtualList({label: name, className: 'graph'});
    this.before = el('canvas', {class: 'lanes before', 'aria-hidden': 'true'});
    this.after = el('canvas', {class: 'lanes after', 'aria-hidden': 'true'});
    this.note = el('p', {class: 'note'});
    this.headings = el('div', {class: 'graph-head'});
    this.none = el('p', {class: 'empty', hidden: true}, 'No step matches.');
    this.element = el('div', {class: 'view graph-view'}, this.headings, this.none,
      el('div', {class: 'graph-box'}, this.list.element, this.before, this.after));
    this.list.onScroll = perFrame(() => this.drawEdges());
    this.list.element.addEventListener('click', (event) => this.clicked(event));
  }

  setEntry(entry) {
    this.entry = entry;
    this.all = groupsOf(entry);
    this.allEdges = null;
    this.most = entry.steps.reduce((m, s) => Math.max(m, s.us || 0), 0);
    this.drawHead(entry);
    this.filter('');
  }

  drawHead(entry) {
    const before = entry.lowered.length > 0 ? plural(entry.lowered.length, 'lowered step')
      : entry.loweredError ? `not readable: ${entry.loweredError}` : 'not in this artifact; source nodes';
    const linked = entry.lowered.filter((l) => l.into).length;
    const fused = linked - entry.steps.filter((s) => s.lowered.length > 0).length;
    const gone = entry.lowered.filter((l) => !l.into).length;
    const words = [plural(entry.steps.length, 'step')];
    if (fused > 0) words.push(`${fused} fused into others`);
    if (gone > 0) words.push(`${gone} became no step`);
    fill(this.headings,
      el('div', null, el('h2', null, 'Before fusion'), el('span', {class: 'muted'}, before)),
      el('div', null, el('h2', null, 'Plan'), el('span', {class: 'muted'}, words.join(', '))),
      legend(entry.steps.concat(entry.lowered)));
  }

  filter(text) {
    const words = wordsOf(text);
    const holds = (group) => words.every((w) => group.search.includes(w));
    this.groups = words.length === 0 ? this.all : this.all.filter(holds);
    this.rowOf = new Map();
    this.groups.forEach((group, index) => {
      if (group.step) this.rowOf.set(group.step, index);
      for (const low of group.lowered) this.rowOf.set(low, index);
    });
    this.none.hidden = this.groups.length > 0;
    this.makeEdges();
    this.list.element.scrollTop = 0;
    this.list.setRows(this.groups.length, (i) => this.groups[i].height, (i) => this.row(i));
    this.show();
    if (words.length === 0) return '';
    const found = this.groups.filter((g) => g.step).length;
    return `${found.toLocaleString('en')} of ${plural(this.entry.steps.length, 'step')}`;
  }

  makeEdges() {
    const collect = (nodes) => {
      const shown = nodes.filter((n) => this.rowOf.has(n)).sort((a, b) => this.order(a) - this.order(b));
      const place = new Map(shown.map((n, i) => [n, i]));
      const edges = [];
      for (const node of shown) {
        for (const next of node.consumers) {
          const by = place.get(next) - place.get(node);
          if (!(by > 0)) continue;
          edges.push({from: this.order(node), to: this.order(next), next: by === 1, a: node, b: next});
        }
      }
      assignLanes(edges);
      return edges;
    };
    const both = () => [collect(this.entry.lowered), collect(this.entry.steps)];
    const edges = this.groups === this.all ? (this.allEdges ||= both()) : both();
    [this.edgesBefore, this.edgesAfter] = edges;
  }

  // Place of a node's row: group and line in it, as one number.
  order(node) {
    const index = this.rowOf.get(node);
    if (node.kind === 'step') return index * 1000;
    return index * 1000 + Math.min(999, this.groups[index].lowered.indexOf(node));
  }

  yOf(order, after) {
    const index = Math.floor(order / 1000);
    const group = this.groups[index];
    const top = this.list.tops[index] - this.list.element.scrollTop + GRAPH_TOP;
    if (after) return top + (group.height - GRAPH_GAP) / 2;
    return top + (order % 1000) * GRAPH_ROW + GRAPH_ROW / 2;
  }

  row(index) {
    const {step, lowered, nodes} = this.groups[index];
    const left = lowered.length > 0 ? lowered.map((low) => this.lowRow(low)) : nodes.map(sourceRow);
    const right = step ? this.card(step, left.length)
      : el('div', {class: 'card gone', role: 'gridcell'}, cut(goneText(this.groups[index], this.entry), 'why'));
    return el('div', {
      class: `band ${step ? `g-${groupOf(step.family)}` : 'gone'}`, role: 'row', id: `group-${index}`,
      'data-index': index, 'aria-selected': this.isSelected(step),
    }, el('div', {class: 'lows'}, left), right);
  }

  isSelected(node) {
    return String(Boolean(node) && node === this.app.selection);
  }

  lowRow(low) {
    const chosen = this.app.selection;
    const counterpart = chosen && chosen.kind === 'step' && low.into === chosen;
    const name = nodesText(low);
    return el('div', {
      class: `low ${counterpart ? 'is-counterpart' : ''}`, role: 'gridcell', 'data-low': low.position,
      'aria-selected': this.isSelected(low),
    },
    el('span', {class: 'index'}, low.position), swatch(low.family),
    low.sources.length === 1 ? cutMiddle(name, 'nodes') : cut(name, 'nodes'),
    el('span', {class: 'op'}, opName(low.problem)),
    el('span', {class: 'shape'}, outputShape(low)));
  }

  card(step, lines) {
    const chosen = this.app.selection;
    const counterpart = chosen && chosen.kind === 'lowered' && chosen.into === step;
    const share = this.most > 0 ? (step.us || 0) / this.most : 0;
    const more = [outputShape(step), plural(step.sources.length, 'node')];
    if (step.lowered.length > 1) more.push(`${step.lowered.length} steps in one`);
    return el('div', {
      class: `card ${counterpart ? 'is-counterpart' : ''}`, role: 'gridcell', 'data-step': step.id,
      'aria-selected': this.isSelected(step),
    },
    el('span', {class: 'index'}, step.id), cut(asText(step.kernel), 'kernel'),
    el('span', {class: 'share', vars: {'--share': share.toFixed(4)}}),
    el('span', {class: 'time'}, timeText(step.us)),
    lines > 1 && el('span', {class: 'more muted'}, more.join(' \u00b7 ')));
  }

  clicked(event) {
    const low = event.target.closest('[data-low]');
    const card = event.target.closest('[data-step]');
    if (low) this.app.select(this.entry.lowered[Number(low.dataset.low)]);
    else if (card) this.app.select(this.entry.byId.get(Number(card.dataset.step)));
  }

  // What is selected comes into sight.
  show() {
    const chosen = this.app.selection;
    const index = chosen ? this.rowOf.get(chosen) : undefined;
    if (index !== undefined) this.list.show(index);
    this.list.refresh();
    if (index === undefined) this.list.element.removeAttribute('aria-activedescendant');
    else this.list.element.setAttribute('aria-activedescendant', `group-${index}`);
  }

  move(by) {
    const steps = this.groups.map((g) => g.step).filter(Boolean);
    if (steps.length === 0) return;
    const chosen = this.app.selection;
    const now = chosen && chosen.kind === 'lowered' ? chosen.into || chosen : chosen;
    const at = steps.indexOf(now);
    const next = at < 0 ? 0 : Math.max(0, Math.min(steps.length - 1, at + by));
    this.app.select(steps[next]);
  }

  focus() {
    this.list.element.focus({preventScroll: true});
  }

  redraw() {
    this.drawEdges();
  }

  drawEdges() {
    const chosen = this.app.selection;
    const ink = inks();
    const isChosen = (edge) => Boolean(chosen) && (edge.a === chosen || edge.b === chosen);
    const sides = [[this.before, this.edgesBefore, false], [this.after, this.edgesAfter, true]];
    for (const [canvas, edges, after] of sides) {
      const width = canvas.clientWidth, height = canvas.clientHeight;
      if (width === 0 || !edges) continue;
      const density = window.devicePixelRatio || 1;
      canvas.width = width * density;
      canvas.height = height * density;
      const g = canvas.getContext('2d');
      g.scale(density, density);
      drawLanes(g, edges, {
        x: after ? 5 : width - 5, side: after ? 1 : -1, height, rows: this.dots(after, ink),
        yOf: (order) => this.yOf(order, after), ink, chosen: isChosen,
      });
    }
  }

  // The rows in sight.
  dots(after, ink) {
    const dots = [];
    for (const index of this.list.rows.keys()) {
      const group = this.groups[index];
      const nodes = after ? [group.step].filter(Boolean) : group.lowered;
      for (const node of nodes) {
        const color = node === this.app.selection ? ink.accent : ink.group[groupOf(node.family)];
        dots.push({y: this.yOf(this.order(node), after), color});
      }
    }
    return dots;
  }
}

function sourceRow(name) {
  const props = {class: 'low source', role: 'gridcell'};
  return el('div', props, el('span', {class: 'index'}), el('i'), cutMiddle(name, 'nodes'));
}

function outputShape(item) {
  return shapeText((item.problem.out[0] || [])[1]);
}

function nodesText(item) {
  return item.sources.length > 0 ? item.sources.join(' + ') : '(no source node)';
}

// Bands in the plan's order; lowered steps that became none stand where they were.
function groupsOf(entry) {
  const groups = [];
  const after = new Map();
  let last = null;
  for (const low of entry.lowered) {
    if (low.into) last = low.into;
    else if (after.has(last)) after.get(last).push(low);
    else after.set(last, [low]);
  }
  const gone = (step) => after.has(step) && groups.push(groupFor(null, after.get(step)));
  gone(null);
  for (const step of entry.steps) {
    groups.push(groupFor(step, step.lowered));
    gone(step);
  }
  return groups;
}

function groupFor(step, lowered) {
  const nodes = lowered.length === 0 && step ? step.sources : [];
  const lines = Math.max(1, lowered.length, nodes.length);
  const search = [step && `${step.id} ${step.kernel} ${step.family}`, ...(step ? step.sources : []),
    ...lowered.flatMap((l) => [opName(l.problem), ...l.sources])].join('\n').toLowerCase();
  return {step, lowered, nodes, height: lines * GRAPH_ROW + GRAPH_GAP, search};
}

// Why lowered steps have no step: what was decided about their nodes.
function goneText(group, entry) {
  const names = new Set(group.lowered.flatMap((l) => l.sources));
  const removes = (d) => ['copy', 'fold'].includes(d.kind) && d.choice !== 'copy';
  const why = entry.decisions.find((d) => removes(d) && d.nodes.some((n) => names.has(n)));
  return why ? `no step: ${why.choice}` : 'no step';
}
