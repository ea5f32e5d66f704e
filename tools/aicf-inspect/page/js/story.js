// What is selected, told in full: a step of the plan, a lowered step, or a buffer.

class Story {
  constructor(app, element) {
    this.app = app;
    this.element = element;
  }

  show(item) {
    const tell = {step: stepStory, lowered: loweredStory, buffer: bufferStory};
    this.element.classList.toggle('has-selection', Boolean(item));
    fill(this.element, item ? [el('div', {class: 'story-body'}, tell[item.kind](item, this.app)), this.closer()] : overview(this.app));
    this.element.scrollTop = 0;
  }

  closer() {
    return button('\u00d7', {class: 'close', title: 'Close (Esc)', 'aria-label': 'Close the selection'}, () => this.app.select(null));
  }
}

function fact(name, ...value) {
  const shown = value.flat(Infinity).filter((v) => v !== undefined && v !== null && v !== false && v !== '');
  return shown.length > 0 && el('div', {class: 'fact'}, el('dt', null, name), el('dd', null, shown));
}

function part(title, ...content) {
  return el('section', {class: 'part'}, el('h3', null, title), content);
}

function figures(list) {
  return el('dl', {class: 'figures'}, list.filter(Boolean).map(([name, value, title]) =>
    el('div', {title}, el('dt', null, name), el('dd', null, value))));
}

function nodeList(names) {
  return el('ul', {class: 'nodes-list'}, names.map((n) => el('li', null, n)));
}

// Links to other steps, by what they are.
function linkTo(item, app) {
  const text = item.kind === 'step' ? `step ${item.id}` : item.kind === 'lowered' ? `${item.position} ${opName(item.problem)}` : item.name;
  return button(text, {class: 'link', title: item.kind === 'buffer' ? item.name : nodesText(item)}, () => app.select(item));
}

function links(items, app) {
  return items.flatMap((item, i) => (i === 0 ? [linkTo(item, app)] : [', ', linkTo(item, app)]));
}

function stepStory(step, app) {
  const {entry} = app;
  const from = {profiled: 'profiled', tuned: step.measuredUs === undefined ? 'predicted' : 'measured', predicted: 'predicted'}[entry.timeFrom];
  return [
    el('p', {class: 'over'}, swatch(step.family), `step ${step.id}, ${step.family}`),
    el('h2', {class: 'kernel-name', tabindex: -1}, asText(step.kernel)),
    step.ran && el('p', {class: 'note'}, `Profiled with ${asText(step.ran)} in its place.`),
    figures([
      [`time ${from}`, timeText(step.us)], ['of all steps', percentText(step.us / entry.totalUs)],
      ['of the limit', percentText(step.roofUs / step.us), 'time the device\u2019s limits allow, over the time it takes'],
      ['arithmetic', countText(step.flop, 'FLOP')], ['moved', countText(step.bytes, 'B')],
    ]),
    part('Problem', el('p', null, problemSentence(step.problem)), problemFacts(step, app)),
    part(step.sources.length === 1 ? 'Source node' : `${step.sources.length} source nodes`,
      step.sources.length > 0 ? nodeList(step.sources) : el('p', {class: 'muted'}, 'none: the compiler made this step')),
    step.lowered.length > 0 && part(step.lowered.length === 1 ? 'Before fusion' : `Fused from ${step.lowered.length} lowered steps`,
      el('ul', {class: 'lowered-list'}, step.lowered.map((l) => el('li', null, linkTo(l, app), ' ', cut(nodesText(l), 'muted'))))),
    part('Operands', operandTable(step, app)),
    neighbours(step, app),
    part(`Decisions (${step.decisions.length})`, decisionStories(step, app)),
  ];
}

function problemFacts(step, app) {
  const {problem} = step;
  const name = (buffer) => asText((app.report.values[buffer] || {}).name);
  const formula = (expression, epilogue) => expression && el('pre', {class: 'formula'},
    expressionLines(expression, inputNamer(problem, epilogue), (k) => (epilogue ? `out${k}` : 'x')).join('\n'));
  const size = (extent) => (extent || []).join('\u00d7');
  return el('dl', {class: 'facts'},
    fact('attributes', (problem.attrs || []).map(([n, v], i) => `${i === 0 ? '' : ', '}${n.replaceAll('_', ' ')} ${v}`)),
    fact('arithmetic', `${problem.math} math`),
    fact('before', formula(problem.pro, false)), fact(problem.family === 'elementwise' ? 'formula' : 'then', formula(problem.epi, true)),
    fact('runs where', (step.guards || []).map(([b, expected], i) => `${i === 0 ? '' : ' and '}${expected ? '' : 'not '}${name(b)}`)),
    fact('repeats', loopText(step, app)),
    fact('launch', step.grid && `grid ${size(step.grid)}, block ${size(step.block)}${step.dynamic_shared_bytes ? `, shared ${bytesText(step.dynamic_shared_bytes)}` : ''}`
      + `${size(step.cluster) === '1\u00d71\u00d71' ? '' : `, cluster ${size(step.cluster)}`}`),
    fact('device code', step.symbol && `${asText(step.symbol)}, image ${step.image}`),
    fact('library', step.library_version && `algorithm recorded with version ${step.library_version}`),
    fact('workspace', step.workspace_bytes > 0 && `${bytesText(step.workspace_bytes)} at arena +${step.workspace_offset.toLocaleString('en')}`));
}

// The loops that a step of the plan is in.
function loopText(step, app) {
  const loops = step.kind === 'step' ? app.entry.info.loops || [] : [];
  return loops.filter((l) => step.id >= l.first_step && step.id < l.first_step + l.step_count).map((l, i) =>
    `${i === 0 ? '' : '; '}with steps ${l.first_step}\u2013${l.first_step + l.step_count - 1} while ${asText((app.report.values[l.condition] || {}).name)}`);
}

// Where a value's bytes lie.
function placeText(report, index) {
  const value = report.values[index];
  if (!value) return NONE;
  const root = report.values[report.root(index)];
  const at = `${root.storage} +${(root.offset || 0).toLocaleString('en')}`;
  return value.storage === 'alias' ? `in place of \u2018${asText(root.name)}\u2019, ${at}` : at;
}

function operandTable(step, app) {
  const {problem} = step;
  const row = (what, index, view, packed) => {
    const value = app.report.values[index] || {};
    const life = app.lifeOf(index);
    const name = asText(value.name);
    return el('tr', null, el('td', {class: 'muted'}, what),
      el('td', null, life ? button(name, {class: 'link cut', title: name}, () => app.go('memory', life)) : cut(name),
        el('span', {class: 'where'}, `${asText(view && view[0])} ${shapeText(view && view[1])}, ${packed ? 'packed for the kernel' : view ? layoutWords(view) : ''}`),
        el('span', {class: 'where'}, `${asText(value.role)}, ${placeText(app.report, index)}`)),
      el('td', {class: 'number'}, bytesText(value.bytes)));
  };
  return el('table', {class: 'operands'}, el('tbody', null,
    step.inputs.map((b, k) => row(`in${k}`, b, problem.in[k], (step.packed_inputs || 0) >> k & 1)),
    step.outputs.map((b, k) => row(`out${k}`, b, problem.out[k], false))));
}

function neighbours(item, app) {
  return part('Data flow', el('dl', {class: 'facts'},
    fact('reads from', item.producers.length > 0 ? links(item.producers, app) : 'inputs and constants only'),
    fact('read by', item.consumers.length > 0 ? links(item.consumers, app) : readersWords(item, app))));
}

// Who reads what no later step does.
function readersWords(item, app) {
  const values = item.kind === 'step' ? app.report.values : app.entry.loweredBuffers;
  const roles = item.outputs.map((index) => (values[index] || {}).role);
  if (roles.includes('output')) return 'the caller';
  if (roles.includes('carried')) return 'the loop: its condition, or its next trip';
  return roles.includes('state') ? 'the next replay' : 'no step';
}

const KIND_ORDER = ['kernel', 'algorithm', 'precision', 'epilogue', 'prologue', 'fusion', 'in-place', 'layout', 'copy', 'fold'];

function decisionStories(item, app) {
  if (item.decisions.length === 0) return el('p', {class: 'muted'}, 'None recorded.');
  const rank = (d) => (d.ownStep ? 0 : 20) + (KIND_ORDER.includes(d.kind) ? KIND_ORDER.indexOf(d.kind) : KIND_ORDER.length);
  const ordered = item.decisions.slice().sort((a, b) => rank(a) - rank(b) || a.index - b.index);
  return ordered.slice(0, 60).map((d) => el('article', {class: 'decision'},
    el('h4', null, kindTag(d.kind), el('span', {class: 'choice'}, d.choice),
      button('in the table', {class: 'link right', 'aria-label': `Decision on ${d.subject} in the table`}, () => app.goToDecision(d))),
    el('p', {class: 'subject'}, d.subject),
    el('p', {class: 'muted'}, d.reason), d.alternatives.length > 0 && alternativesTable(d)))
    .concat(ordered.length > 60 ? [el('p', {class: 'muted'}, `and ${ordered.length - 60} more, in the table`)] : []);
}

function loweredStory(low, app) {
  const buffers = app.entry.loweredBuffers;
  const row = (what, index, view) => {
    const b = buffers[index] || {};
    return el('tr', null, el('td', {class: 'muted'}, what), el('td', null, cut(asText(b.name)),
      el('span', {class: 'where'}, `${asText(b.role)}, ${asText(view && view[0])} ${shapeText(view && view[1])}, ${view ? layoutWords(view) : ''}`)));
  };
  const names = new Set(low.sources);
  const about = low.into ? [] : app.entry.decisions.filter((d) => d.nodes.some((n) => names.has(n)));
  return [
    el('p', {class: 'over'}, swatch(low.family), `lowered step ${low.position}, before fusion`),
    el('h2', {class: 'kernel-name', tabindex: -1}, opName(low.problem)),
    figures([['arithmetic', countText(low.flop, 'FLOP')], ['moved', countText(low.bytes, 'B')]]),
    part('Went into', low.into ? el('p', null, linkTo(low.into, app), ` ${asText(low.into.kernel)}`,
      low.into.lowered.length > 1 && `, with ${low.into.lowered.length - 1} others`)
      : el('p', {class: 'muted'}, 'No step of the plan: its work was removed, or is a view of another value.')),
    part('Problem', el('p', null, problemSentence(low.problem)), problemFacts(low, {report: {values: buffers}})),
    part('Source nodes', nodeList(low.sources)),
    part('Operands', el('table', {class: 'operands'}, el('tbody', null,
      low.inputs.map((b, k) => row(`in${k}`, b, low.problem.in[k])), low.outputs.map((b, k) => row(`out${k}`, b, low.problem.out[k]))))),
    neighbours(low, app),
    about.length > 0 && part(`Decisions (${about.length})`, decisionStories({decisions: about}, app)),
  ];
}

function bufferStory(life, app) {
  const value = life.value;
  return [
    el('p', {class: 'over'}, life.workspace ? swatch(life.workspace.family) : el('i', {class: 'swatch'}), `${asText(life.role)} in the arena`),
    el('h2', {class: 'kernel-name', tabindex: -1}, life.name),
    figures([['bytes', bytesText(life.bytes)], ['offset', `+${life.offset.toLocaleString('en')}`],
      ['lives', `${app.entry.steps[life.first] ? app.entry.steps[life.first].id : 0}\u2013${app.entry.steps[life.last] ? app.entry.steps[life.last].id : 0}`]]),
    el('dl', {class: 'facts'},
      fact('exactly', `${life.bytes.toLocaleString('en')} bytes`),
      value && fact('element', `${asText(value.dtype)} ${shapeText(value.shape)}`),
      fact('written by', life.workspace ? linkTo(life.workspace, app) : life.writers.length > 0 ? links(life.writers, app) : 'the caller'),
      !life.workspace && fact('read by', life.readers.length > 0 ? links(life.readers, app) : 'the caller')),
    life.aliases.length > 0 && part('Written in place of it', el('ul', {class: 'nodes-list'},
      life.aliases.map((a) => el('li', null, asText(app.report.values[a].name))))),
  ];
}

// What the story says while nothing is selected: where the time goes.
function overview(app) {
  const {entry} = app;
  const longest = entry.steps.filter((s) => s.us > 0).sort((a, b) => b.us - a.us).slice(0, 8);
  const byGroup = groupsUsed(entry.steps).map((g) => {
    const steps = entry.steps.filter((s) => groupOf(s.family) === g.id);
    return {g, steps, us: steps.reduce((sum, s) => sum + (s.us || 0), 0)};
  }).sort((a, b) => b.us - a.us);
  return el('div', {class: 'story-body'},
    el('p', {class: 'over'}, 'nothing selected'),
    el('p', {class: 'muted'}, 'Select a step, a node or a buffer to see its story. Press ? for the keys.'),
    part(`Time by kind (${entry.timeFrom})`, el('table', {class: 'kinds'}, el('tbody', null, byGroup.map(({g, steps, us}) => el('tr', null,
      el('td', null, el('i', {class: `swatch g-${g.id}`}), g.title), el('td', {class: 'number muted'}, plural(steps.length, 'step')),
      el('td', {class: 'number'}, timeText(us)), el('td', {class: 'number'}, percentText(us / entry.totalUs))))))),
    longest.length > 0 && part('Longest steps', el('table', {class: 'kinds'}, el('tbody', null, longest.map((s) => el('tr', null,
      el('td', null, linkTo(s, app)), el('td', {class: 'fill'}, cut(nodesText(s))), el('td', {class: 'number'}, timeText(s.us))))))));
}
