// The keyboard.

const KEYS = [
  ['/', 'search'],
  ['j k or \u2193 \u2191', 'next, previous row'],
  ['PgDn PgUp, Home End', 'ten rows, first and last'],
  ['Enter', 'open: a decision\u2019s alternatives, else the story of what is selected'],
  ['Esc', 'close: help, search, story, selection'],
  ['1 \u2026 5', 'views: graph, roofline, memory, decisions, timeline'],
  ['t', 'light or dark'],
  ['?', 'these keys'],
  ['Ctrl wheel', 'zoom a chart; drag or Shift wheel moves it'],
];

function helpPage() {
  return el('dl', {class: 'keys'}, KEYS.map(([key, what]) =>
    el('div', null, el('dt', null, el('kbd', null, key)), el('dd', null, what))));
}

const MOVES = {ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity};

function handleKey(event, app) {
  const {key, target} = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (app.dialogOpen()) return;
  if (key === 'Escape') return app.escape(event);
  if (target === app.searchBox) return inSearch(event, app);
  if (['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName)) return;
  if (target.getAttribute('role') === 'tab' && ['ArrowLeft', 'ArrowRight'].includes(key)) {
    return app.nextTab(key === 'ArrowRight' ? 1 : -1);
  }
  if (key === 'Enter' && ['BUTTON', 'A'].includes(target.tagName)) return;
  // Inside the story the arrows scroll it.
  const reading = app.storyElement.contains(target) && key !== 'j' && key !== 'k';
  if (MOVES[key] !== undefined && !reading) {
    event.preventDefault();
    app.view.move(MOVES[key]);
    app.view.focus();
  } else if (key === '/') {
    event.preventDefault();
    app.searchBox.focus();
    app.searchBox.select();
  } else if (key === 'Enter') app.open(event);
  else if (key === '?') app.help();
  else if (key === 't') app.theme.toggle();
  else if (/^[1-9]$/.test(key)) app.openTab(Number(key) - 1);
}

function inSearch(event, app) {
  if (!['ArrowDown', 'Enter'].includes(event.key)) return;
  event.preventDefault();
  app.view.focus();
  app.view.move(1);
}
