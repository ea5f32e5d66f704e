// What stories are made of.

function heading(text) {
  return el('h2', {class: 'kernel-name', tabindex: -1}, text);
}

function part(title, ...content) {
  return el('section', {class: 'part'}, el('h3', null, title), content);
}

function fact(name, ...value) {
  const shown = value.flat(Infinity).filter((v) => v !== undefined && v !== null && v !== false && v !== '');
  return shown.length > 0 && el('div', {class: 'fact'}, el('dt', null, name), el('dd', null, shown));
}

// [name, value, title] each.
function figures(list) {
  return el('dl', {class: 'figures'}, list.filter(Boolean).map(([name, value, title]) =>
    el('div', {title}, el('dt', null, name), el('dd', null, value))));
}

function numberCell(text) {
  return el('td', {class: 'number'}, text);
}

function rowsTable(name, rows) {
  return el('table', {class: name}, el('tbody', null, rows.map((cells) => el('tr', null, cells))));
}

function nodeList(names) {
  return el('ul', {class: 'nodes-list'}, names.map((n) => el('li', null, n)));
}

// Links to other items, by what they are.
function linkTo(item, app) {
  const names = {
    step: () => `step ${item.id}`, lowered: () => `${item.position} ${opName(item.problem)}`, buffer: () => item.name,
  };
  const title = item.kind === 'buffer' ? item.name : nodesText(item);
  return button(names[item.kind](), {class: 'link', title}, () => app.select(item));
}

function links(items, app) {
  return items.flatMap((item, i) => (i === 0 ? [linkTo(item, app)] : [', ', linkTo(item, app)]));
}

// Everything about a problem that its sentence leaves out. For a lowered step, buffers are its own.
function problemFacts(item, app) {
  const {problem} = item;
  const values = item.kind === 'step' ? app.report.values : app.entry.loweredBuffers;
  const name = (buffer) => asText((values[buffer] || {}).name);
  const attrs = (problem.attrs || []).map(([n, v]) => `${n.replaceAll('_', ' ')} ${v}`);
  const guards = (item.guards || []).map(([b, expected]) => `${expected ? '' : 'not '}${name(b)}`);
  return el('dl', {class: 'facts'},
    fact('attributes', attrs.join(', ')),
    fact('arithmetic', `${problem.math} math`),
    fact('before', formula(problem.pro, inputNamer(problem, false), () => 'x')),
    fact('score', formula(problem.score, inputNamer(problem, true), () => 's')),
    fact(problem.family === 'elementwise' ? 'formula' : 'then',
      formula(problem.epi, inputNamer(problem, true), (k) => `out${k}`)),
    fact('runs where', guards.join(' and ')),
    item.kind === 'step' && executionFacts(item, app));
}

function formula(expression, inputName, resultName) {
  if (!expression) return null;
  return el('pre', {class: 'formula'}, expressionLines(expression, inputName, resultName).join('\n'));
}

function executionFacts(step, app) {
  return [
    fact('repeats', loopsText(step, app)),
    fact('launch', launchText(step)),
    fact('order', orderText(step)),
    fact('device code', step.symbol && `${asText(step.symbol)}, image ${step.image}`),
    fact('library', step.library_version && `algorithm recorded with version ${step.library_version}`),
    step.workspace_bytes > 0 && fact('workspace',
      `${bytesText(step.workspace_bytes)} at arena +${step.workspace_offset.toLocaleString('en')}`),
  ];
}

function orderText(step) {
  const words = [];
  if (step.stream) words.push(`on stream ${step.stream}`);
  if (step.waits) words.push(`waits for ${step.waits.map((s) => `step ${s}`).join(' and ')}`);
  if (step.programmatic) words.push('launched while the step before it still runs');
  return words.join(', ');
}

function launchText(step) {
  if (!step.grid) return '';
  const size = (extent) => (extent || []).join('\u00d7');
  const words = [`grid ${size(step.grid)}`, `block ${size(step.block)}`];
  if (step.dynamic_shared_bytes) words.push(`shared ${bytesText(step.dynamic_shared_bytes)}`);
  if ((step.cluster || []).some((n) => n !== 1)) words.push(`cluster ${size(step.cluster)}`);
  return words.join(', ');
}

// The loops that a step of the plan is in.
function loopsText(step, app) {
  const around = (app.entry.info.loops || []).filter((l) =>
    step.id >= l.first_step && step.id < l.first_step + l.step_count);
  return around.map((l) => {
    const condition = asText((app.report.values[l.condition] || {}).name);
    return `with steps ${l.first_step}\u2013${l.first_step + l.step_count - 1} while ${condition}`;
  }).join('; ');
}

// Where a value's bytes lie.
function placeText(report, index) {
  const value = report.values[index];
  if (!value) return NONE;
  const root = report.values[report.root(index)];
  const at = `${root.storage} +${(root.offset || 0).toLocaleString('en')}`;
  return value.storage === 'alias' ? `in place of \u2018${asText(root.name)}\u2019, ${at}` : at;
}

function viewText(view, packed) {
  if (!view) return '';
  return `${asText(view[0])} ${shapeText(view[1])}, ${packed || layoutWords(view)}`;
}

function operandTable(step, app) {
  const {problem} = step;
  const row = (what, index, view, packed) => {
    const value = app.report.values[index] || {};
    const life = app.lifeOf(index);
    const name = asText(value.name);
    const named = life ? button(name, {class: 'link cut', title: name}, () => app.go('memory', life)) : cut(name);
    return [
      el('td', {class: 'muted'}, what),
      el('td', null, named, el('span', {class: 'where'}, viewText(view, packed)),
        el('span', {class: 'where'}, `${asText(value.role)}, ${placeText(app.report, index)}`)),
      numberCell(bytesText(value.bytes)),
    ];
  };
  const packed = (k) => {
    if (((step.packed_inputs || 0) >> k & 1) === 0) return '';
    const {origin} = app.report.values[step.inputs[k]] || {};
    return origin ? `packed as ${asText(origin.layout)}` : 'packed for the kernel';
  };
  return rowsTable('operands', [
    ...step.inputs.map((b, k) => row(`in${k}`, b, problem.in[k], packed(k))),
    ...step.outputs.map((b, k) => row(`out${k}`, b, problem.out[k], '')),
  ]);
}

function loweredOperands(low, buffers) {
  const row = (what, index, view) => {
    const buffer = buffers[index] || {};
    return [
      el('td', {class: 'muted'}, what),
      el('td', null, cut(asText(buffer.name)),
        el('span', {class: 'where'}, `${asText(buffer.role)}, ${viewText(view)}`)),
    ];
  };
  return rowsTable('operands', [
    ...low.inputs.map((b, k) => row(`in${k}`, b, low.problem.in[k])),
    ...low.outputs.map((b, k) => row(`out${k}`, b, low.problem.out[k])),
  ]);
}

function neighbours(item, app) {
  const {producers, consumers} = item;
  return part('Data flow', el('dl', {class: 'facts'},
    fact('reads from', producers.length > 0 ? links(producers, app) : 'inputs and constants only'),
    fact('read by', consumers.length > 0 ? links(consumers, app) : readersWords(item, app))));
}

// Who reads what no later step does.
function readersWords(item, app) {
  const values = item.kind === 'step' ? app.report.values : app.entry.loweredBuffers;
  const roles = item.outputs.map((index) => (values[index] || {}).role);
  if (roles.includes('output')) return 'the caller';
  if (roles.includes('carried')) return 'the loop: its condition, or its next trip';
  return roles.includes('state') ? 'the next replay' : 'no step';
}

const KIND_ORDER = [
  'kernel', 'algorithm', 'precision', 'epilogue', 'prologue', 'fusion', 'in-place', 'stream', 'launch',
  'layout', 'copy', 'fold',
];
const STORY_DECISIONS = 60;

// A step's own decisions first.
function decisionStories(decisions, app) {
  if (decisions.length === 0) return el('p', {class: 'muted'}, 'None recorded.');
  const place = (d) => (KIND_ORDER.includes(d.kind) ? KIND_ORDER.indexOf(d.kind) : KIND_ORDER.length);
  const rank = (d) => (d.ownStep ? 0 : 20) + place(d);
  const ordered = decisions.slice().sort((a, b) => rank(a) - rank(b) || a.index - b.index);
  const more = ordered.length - STORY_DECISIONS;
  return [
    ordered.slice(0, STORY_DECISIONS).map((d) => decisionStory(d, app)),
    more > 0 && el('p', {class: 'muted'}, `and ${more} more, in the table`),
  ];
}

function decisionStory(decision, app) {
  const props = {class: 'link right', 'aria-label': `Decision on ${decision.subject} in the table`};
  return el('article', {class: 'decision'},
    el('h4', null, kindTag(decision.kind), el('span', {class: 'choice'}, decision.choice),
      button('in the table', props, () => app.goToDecision(decision))),
    el('p', {class: 'subject'}, decision.subject),
    el('p', {class: 'muted'}, decision.reason),
    decision.alternatives.length > 0 && alternativesTable(decision));
}
