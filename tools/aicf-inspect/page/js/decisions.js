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
      empty: 'No decision matches.',
      columns: [
        {title: 'kind', width: '5rem', cell: (d) => kindTag(d.kind), value: (d) => d.kind},
        {title: 'step', width: '3.2rem', number: true, text: (d) => stepsText(d), value: (d) => (d.steps[0] || {}).id},
        {title: 'about', width: 'minmax(9rem, 1.3fr)', text: (d) => d.about, value: (d) => d.about},
        {title: 'choice', width: 'minmax(8rem, 1fr)', text: (d) => d.choice, value: (d) => d.choice},
        {title: 'reason', width: 'minmax(7rem, 1fr)', text: (d) => d.reason, value: (d) => d.reason},
        {title: 'cost', width: '4.4rem', number: true, text: (d) => timeText(costOf(d.raw)), value: (d) => costOf(d.raw)},
        {title: 'others', width: '3.2rem', number: true, text: (d) => d.alternatives.length || NONE, value: (d) => d.alternatives.length},
      ],
    });
    this.element = el('div', {class: 'view decisions-view'}, this.chips, this.table.element);
  }

  setEntry(entry) {
    this.entry = entry;
    this.kinds.clear();
    this.table.open.clear();
    if (entry.decisions.length === 0) this.table.emptyText = 'This artifact carries no decisions: it was compiled with --strip.';
    this.drawChips();
    this.filter('');
  }

  drawChips() {
    const counts = new Map();
    for (const d of this.entry.decisions) counts.set(d.kind, (counts.get(d.kind) || 0) + 1);
    fill(this.chips, [...counts].map(([kind, count]) => append(
      button(kind, {class: 'chip', 'aria-pressed': String(this.kinds.has(kind)), 'data-kind': kind}, () => this.toggleKind(kind)),
      [el('span', {class: 'count'}, count.toLocaleString('en'))])));
  }

  toggleKind(kind) {
    if (!this.kinds.delete(kind)) this.kinds.add(kind);
    for (const chip of this.chips.children) chip.setAttribute('aria-pressed', String(this.kinds.has(chip.dataset.kind)));
    this.app.search();
  }

  filter(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.entry.decisions.filter((d) =>
      (this.kinds.size === 0 || this.kinds.has(d.kind)) && words.every((w) => d.search.includes(w)));
    this.table.setItems(found);
    return text || this.kinds.size > 0 ? `${found.length.toLocaleString('en')} of ${plural(this.entry.decisions.length, 'decision')}` : '';
  }

  // A decision's step is shown beside it.
  current(decision) {
    if (decision.steps.length > 0) this.app.select(decision.steps[0]);
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
  if (decision.steps.length === 0) return NONE;
  return decision.steps.length === 1 ? decision.steps[0].id : `${decision.steps[0].id} +${decision.steps.length - 1}`;
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
  const slower = isNumber(cost) && isNumber(chosenCost) && chosenCost > 0 ? `${digits(cost / chosenCost)}\u00d7` : '';
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
  const shown = steps.slice(0, 40).map((s) => button(`step ${s.id}`, {class: 'link', title: nodesText(s)}, () => app.go('graph', s)));
  return [shown.flatMap((b, i) => (i === 0 ? [b] : [' ', b])), steps.length > 40 && ` and ${steps.length - 40} more`];
}

function decisionDetails(decision, app) {
  const fact = (name, value) => value && value.length !== 0 && el('div', {class: 'fact'}, el('dt', null, name), el('dd', null, value));
  return [
    el('dl', {class: 'facts'}, fact('about', decision.subject), fact('choice', decision.choice), fact('reason', decision.reason),
      fact('decided by', decision.pass), fact('steps', decision.steps.length > 0 && stepLinks(decision.steps, app))),
    alternativesTable(decision),
  ];
}
