// Which artifact this is, in numbers.

function headline(app) {
  const {data, entries} = app.report;
  const header = data.header || {};
  const {entry} = app;
  const nodes = new Set([...data.steps.flatMap((s) => s.sources), ...entry.lowered.flatMap((l) => l.sources)]).size;
  const images = (header.images || []).reduce((sum, i) => sum + i.bytes, 0);
  const what = [asText(header.target), `${asText(header.math)} math`];
  if (entry.loweredName) what.push(`graph ${asText(entry.loweredName)}`);
  const code = `${(header.images || []).length} / ${bytesText(images)}`;
  const over = header.arena_lower_bound > 0 ? header.arena_bytes / header.arena_lower_bound : 1;
  return [
    el('div', {class: 'name'}, el('h1', {title: data.title}, data.title),
      cut(what.join(' \u00b7 '), 'muted')),
    figures([
      ['steps', entry.steps.length.toLocaleString('en'), 'steps of the plan, of this entry point'],
      ['source nodes', nodes.toLocaleString('en'), 'nodes of the model that became steps'],
      [`time ${entry.timeFrom}`, timeText(entry.totalUs), 'the steps\u2019 times together'],
      ['arena, over its bound', `${bytesText(header.arena_bytes)}, ${over.toFixed(3)}\u00a0\u00d7`,
        `the lower bound is the largest set of bytes live at once: ${bytesText(header.arena_lower_bound)}`],
      ['weights', bytesText(header.weights_bytes)],
      header.state_bytes > 0 && ['state', bytesText(header.state_bytes), 'what a session keeps from replay to replay'],
      images > 0 && ['device code', code, 'images and their bytes'],
      ['decisions', entry.decisions.length.toLocaleString('en')],
    ]),
    el('div', {class: 'actions'}, entries.length > 1 && entrySwitch(app),
      button('About', {title: 'Sections, images, provenance'}, () => app.about()),
      button('Theme', {title: 'Light or dark (t)', id: 'theme'}, () => app.theme.toggle()),
      button('?', {title: 'Keys (?)', 'aria-label': 'Keyboard shortcuts'}, () => app.help())),
  ];
}

function entrySwitch(app) {
  const select = el('select', {id: 'entry', on: {change: () => app.setEntry(Number(select.value))}},
    app.report.entries.map((e, i) => el('option', {value: i, selected: i === app.entryIndex}, e.name)));
  return el('label', {class: 'entry'}, 'entry point ', select);
}

function facts(object) {
  return el('dl', {class: 'facts'}, Object.entries(object).map(([key, value]) => {
    const empty = value === '' || (value && typeof value === 'object' && Object.keys(value).length === 0);
    return !empty && fact(key.replaceAll('_', ' '), asText(value));
  }));
}

function aboutPage(app) {
  const {data} = app.report;
  const header = data.header || {};
  const sections = (header.sections || []).map((s) =>
    [el('td', null, s.kind), numberCell(bytesText(s.bytes)), el('td', {class: 'hash'}, s.hash)]);
  return [
    data.language && part('Language model', facts(data.language)),
    part('Provenance', facts(header.provenance || {})),
    (data.entry_points || []).map(entryPart),
    statesPart(data.states || []),
    part('Sections', rowsTable('alternatives', sections)),
    imagesPart(header.images || []),
  ];
}

function entryPart(entry) {
  const tensors = (list) => nodeList((list || []).map((t) => `${t.name}: ${t.dtype} ${shapeText(t.shape)}`));
  return part(`Entry point ${entry.name}`, el('dl', {class: 'facts'},
    fact('inputs', tensors(entry.inputs)), fact('outputs', tensors(entry.outputs)),
    fact('steps', `${entry.first_step}\u2013${entry.first_step + entry.step_count - 1}`)));
}

function statesPart(states) {
  if (states.length === 0) return null;
  const rows = states.map((s) =>
    [el('td', null, s.name), el('td', null, `${s.dtype} ${shapeText(s.shape)}`), numberCell(bytesText(s.bytes))]);
  return part('States', rowsTable('alternatives', rows));
}

function imagesPart(images) {
  if (images.length === 0) return null;
  const all = (key) => [...new Set(images.map((image) => asText(image[key])))].join(', ');
  return part('Device code', el('p', null,
    `${plural(images.length, 'image')} for ${all('arch')}, compiled by ${all('compiler')}`));
}
