// Every decision: filtered by kind, searched, opened to its alternatives.

class DecisionsView {
  constructor(app) {
    this.app = app;
    this.title = 'Decisions';
    this.kinds = new Set();
    this.text = '';
    this.chips = el('div', {class: 'chips', role: 'group', 'aria-label': 'Kinds of decisions'});
    this.table = new DataTable({
      label: 'Decisions', onCurrent: (d) => this.current(d), details: (d) => decisionDetails(d, app),
      columns: [
        {...column('kind', '5rem', (d) => d.kind), cell: (d) => kindTag(d.kind)},
        numbers('step', '3.2rem', stepsText, (d) => (d.steps[0] || {}).id),
        column('about', 'minmax(9rem, 1.3fr)', (d) => d.about),
        column('choice', 'minmax(8rem, 1fr)', (d) => d.choice),
        column('reason', 'minmax(7rem, 1fr)', (d) => d.reason),
        numbers('cost', '4.4rem', (d) => timeText(costOf(d.raw)), (d) => costOf(d.raw)),
        numbers('others', '3.2rem', (d) => d.alternatives.length || NONE, (d) => d.alternatives.length),
      ],
    });
    this.element = el('div', {class: 'view decisions-view'}, this.chips, this.table.element);
  }

  setEntry(entry) {
    this.entry = entry;
    this.kinds.clear();
    this.table.open.clear();
    this.table.emptyText = entry.decisions.length > 0 ? 'No decision matches.'
      : 'This artifact carries no decisions: it was compiled with --strip.';
    this.drawChips();
    this.filter('');
  }

  drawChips() {
    const counts = new Map();
    for (const d of this.entry.decisions) counts.set(d.kind, (counts.get(d.kind) || 0) + 1);
    fill(this.chips, [...counts].map(([kind, count]) => {
      const props = {class: 'chip', 'aria-pressed': String(this.kinds.has(kind)), 'data-kind': kind};
      const chip = button(kind, props, () => this.toggleKind(kind));
      return append(chip, [el('span', {class: 'count'}, count.toLocaleString('en'))]);
    }));
  }

  toggleKind(kind) {
    if (!this.kinds.delete(kind)) this.kinds.add(kind);
    for (const chip of this.chips.children) {
      chip.setAttribute('aria-pressed', String(this.kinds.has(chip.dataset.kind)));
    }
    this.app.search();
  }

  filter(text) {
    const words = wordsOf(text);
    const found = this.entry.decisions.filter((d) =>
      (this.kinds.size === 0 || this.kinds.has(d.kind)) && words.every((w) => d.search.includes(w)));
    this.table.setItems(found);
    if (!text && this.kinds.size === 0) return '';
    return `${found.length.toLocaleString('en')} of ${plural(this.entry.decisions.length, 'decision')}`;
  }

  // A decision's step is shown beside it.
  current(decision) {
    this.app.select(decision.steps[0] || null);
  }

  // To a decision from elsewhere: whatever hides it is lifted.
  reveal(decision) {
    if (!this.table.items.includes(decision)) {
      this.kinds.clear();
      this.drawChips();
      this.app.search('');
    }
    this.table.setCurrent(decision, false);
    if (!this.table.open.has(decision)) this.table.toggle();
  }

  show() {
    this.table.list.refresh();
  }

  move(by) {
    this.table.move(by);
  }

  activate() {
    this.table.toggle();
    return true;
  }

  focus() {
    this.table.focus();
  }

  redraw() {}
}

function kindTag(kind) {
  return el('span', {class: 'kind'}, kind);
}

function stepsText(decision) {
  const [first, ...more] = decision.steps;
  if (!first) return NONE;
  return more.length === 0 ? first.id : `${first.id} +${more.length}`;
}

// Measured where it was, else predicted.
function costOf(raw) {
  return isNumber(raw.measured_us) ? raw.measured_us : isNumber(raw.cost_us) ? raw.cost_us : undefined;
}

function costWords(raw) {
  const words = [];
  if (isNumber(raw.measured_us)) words.push(`${timeText(raw.measured_us)} measured`);
  if (isNumber(raw.cost_us)) words.push(`${timeText(raw.cost_us)} predicted`);
  return words.join(', ');
}

// "condition: sentence" with the condition in front set apart; costs as they are.
function alternativeRow(alternative, chosenCost) {
  const refusal = asText(alternative.refusal);
  const cost = costOf(alternative);
  const slower = cost / chosenCost >= 0 ? `${digits(cost / chosenCost)}\u00d7` : '';
  return el('tr', {class: refusal ? 'refused' : 'legal'},
    el('td', {class: 'alternative'}, asText(alternative.choice)),
    el('td', null, refusal || (isNumber(cost) ? costWords(alternative) : 'legal; no cost is known'),
      !refusal && slower && el('span', {class: 'muted'}, ` (${slower})`)));
}

function alternativesTable(decision) {
  if (decision.alternatives.length === 0) return el('p', {class: 'muted'}, 'No alternative was recorded.');
  return el('table', {class: 'alternatives'}, el('tbody', null,
    el('tr', {class: 'chosen'}, el('td', {class: 'alternative'}, decision.choice),
      el('td', null, el('b', null, 'chosen'), costWords(decision.raw) && `, ${costWords(decision.raw)}`)),
    decision.alternatives.map((a) => alternativeRow(a, costOf(decision.raw)))));
}

function stepLinks(steps, app) {
  const shown = steps.slice(0, 40).map((step) =>
    button(`step ${step.id}`, {class: 'link', title: nodesText(step)}, () => app.go('graph', step)));
  const spaced = shown.flatMap((link, i) => (i === 0 ? [link] : [' ', link]));
  return [spaced, steps.length > 40 && ` and ${steps.length - 40} more`];
}

function decisionDetails(decision, app) {
  return [
    el('dl', {class: 'facts'},
      fact('about', decision.subject), fact('choice', decision.choice), fact('reason', decision.reason),
      fact('decided by', decision.pass), decision.steps.length > 0 && fact('steps', stepLinks(decision.steps, app))),
    alternativesTable(decision),
  ];
}
