// What is selected, told in full: a step of the plan, a lowered step, or a buffer.

class Story {
  constructor(app, element) {
    this.app = app;
    this.element = element;
  }

  show(item) {
    const tell = {step: stepStory, lowered: loweredStory, buffer: bufferStory};
    const told = item ? tell[item.kind](item, this.app) : overview(this.app);
    this.element.classList.toggle('has-selection', Boolean(item));
    fill(this.element, el('div', {class: 'story-body'}, told), item && this.closer());
    this.element.scrollTop = 0;
  }

  closer() {
    const props = {class: 'close', title: 'Close (Esc)', 'aria-label': 'Close the selection'};
    return button('\u00d7', props, () => this.app.select(null));
  }
}

function stepStory(step, app) {
  const {entry} = app;
  const tuned = step.measuredUs === undefined ? 'predicted' : 'measured';
  const from = entry.timeFrom === 'tuned' ? tuned : entry.timeFrom;
  const limit = 'time the device\u2019s limits allow, over the time it takes';
  return [
    el('p', {class: 'over'}, swatch(step.family), `step ${step.id}, ${step.family}`),
    heading(asText(step.kernel)),
    step.ran && el('p', {class: 'note'}, `Profiled with ${asText(step.ran)} in its place.`),
    figures([
      [`time ${from}`, timeText(step.us)],
      ['of all steps', percentText(step.us / entry.totalUs)],
      ['of the limit', percentText(step.roofUs / step.us), limit],
      ['arithmetic', countText(step.flop, 'FLOP')],
      ['moved', countText(step.bytes, 'B')],
    ]),
    part('Problem', el('p', null, problemSentence(step.problem)), problemFacts(step, app)),
    sourcesPart(step),
    fusedPart(step, app),
    part('Operands', operandTable(step, app)),
    neighbours(step, app),
    part(`Decisions (${step.decisions.length})`, decisionStories(step.decisions, app)),
  ];
}

function sourcesPart(step) {
  const title = step.sources.length === 1 ? 'Source node' : `${step.sources.length} source nodes`;
  if (step.sources.length > 0) return part(title, nodeList(step.sources));
  return part(title, el('p', {class: 'muted'}, 'none: the compiler made this step'));
}

function fusedPart(step, app) {
  const {lowered} = step;
  if (lowered.length === 0) return null;
  const row = (low) => el('li', null, linkTo(low, app), ' ', cut(nodesText(low), 'muted'));
  return part(lowered.length === 1 ? 'Before fusion' : `Fused from ${lowered.length} lowered steps`,
    el('ul', {class: 'lowered-list'}, lowered.map(row)));
}

function loweredStory(low, app) {
  const names = new Set(low.sources);
  const about = low.into ? [] : app.entry.decisions.filter((d) => d.nodes.some((n) => names.has(n)));
  return [
    el('p', {class: 'over'}, swatch(low.family), `lowered step ${low.position}, before fusion`),
    heading(opName(low.problem)),
    figures([['arithmetic', countText(low.flop, 'FLOP')], ['moved', countText(low.bytes, 'B')]]),
    part('Went into', wentInto(low, app)),
    part('Problem', el('p', null, problemSentence(low.problem)), problemFacts(low, app)),
    part('Source nodes', nodeList(low.sources)),
    part('Operands', loweredOperands(low, app.entry.loweredBuffers)),
    neighbours(low, app),
    about.length > 0 && part(`Decisions (${about.length})`, decisionStories(about, app)),
  ];
}

function wentInto(low, app) {
  if (!low.into) {
    const why = 'No step of the plan: its work was removed, or is a view of another value.';
    return el('p', {class: 'muted'}, why);
  }
  const others = low.into.lowered.length - 1;
  return el('p', null, linkTo(low.into, app), ` ${asText(low.into.kernel)}`,
    others > 0 && `, with ${plural(others, 'other')}`);
}

function bufferStory(life, app) {
  const {value, workspace} = life;
  const who = (steps) => (steps.length > 0 ? links(steps, app) : 'the caller');
  const names = life.aliases.map((a) => asText(app.report.values[a].name));
  return [
    el('p', {class: 'over'}, workspace ? swatch(workspace.family) : el('i', {class: 'swatch'}),
      `${asText(life.role)} in the arena`),
    heading(life.name),
    figures([
      ['bytes', bytesText(life.bytes)],
      ['offset', `+${life.offset.toLocaleString('en')}`],
      ['lives', lifeText(life, app.entry)],
    ]),
    el('dl', {class: 'facts'},
      fact('exactly', `${life.bytes.toLocaleString('en')} bytes`),
      value && fact('element', `${asText(value.dtype)} ${shapeText(value.shape)}`),
      fact('written by', workspace ? linkTo(workspace, app) : who(life.writers)),
      !workspace && fact('read by', who(life.readers))),
    names.length > 0 && part('Written in place of it', nodeList(names)),
  ];
}

// While nothing is selected: where the time goes.
function overview(app) {
  const {entry} = app;
  const longest = entry.steps.filter((s) => s.us > 0).sort((a, b) => b.us - a.us).slice(0, 8);
  return [
    el('p', {class: 'over'}, 'nothing selected'),
    el('p', {class: 'muted'}, 'Select a step, a node or a buffer to see its story. Press ? for the keys.'),
    part(`Time by kind (${entry.timeFrom})`, rowsTable('kinds', groupRows(entry))),
    longest.length > 0 && part('Longest steps', rowsTable('kinds', longest.map((s) => [
      el('td', null, linkTo(s, app)), el('td', {class: 'fill'}, cut(nodesText(s))), numberCell(timeText(s.us)),
    ]))),
  ];
}

function groupRows(entry) {
  const groups = groupsUsed(entry.steps).map((g) => {
    const steps = entry.steps.filter((s) => groupOf(s.family) === g.id);
    return {g, steps, us: steps.reduce((sum, s) => sum + (s.us || 0), 0)};
  });
  return groups.sort((a, b) => b.us - a.us).map(({g, steps, us}) => [
    el('td', null, el('i', {class: `swatch g-${g.id}`}), g.title),
    el('td', {class: 'number muted'}, plural(steps.length, 'step')),
    numberCell(timeText(us)), numberCell(percentText(us / entry.totalUs)),
  ]);
}
