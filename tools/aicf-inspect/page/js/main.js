// The page: one selection, five views of it.

const VIEWS = [
  ['graph', GraphView], ['roofline', RooflineView], ['memory', MemoryView], ['decisions', DecisionsView],
  ['timeline', TimelineView],
];

class App {
  constructor(data) {
    this.report = new Report(data);
    this.selection = null;
    this.views = new Map();
    this.searchBox = document.getElementById('search');
    this.storyElement = document.getElementById('story');
    this.story = new Story(this, this.storyElement);
    this.theme = new Theme(() => this.view && this.view.redraw());
    this.makeTabs();
    this.setEntry(0);
    this.searchBox.addEventListener('input', () => this.search());
    document.addEventListener('keydown', (event) => handleKey(event, this));
    document.getElementById('help').addEventListener('close', () => this.view.focus());
    watchPrint(this);
  }

  makeTabs() {
    this.tabs = VIEWS.map(([id], i) => {
      const props = {role: 'tab', id: `tab-${id}`, 'aria-controls': `view-${id}`, title: `${id} (${i + 1})`};
      return button(id[0].toUpperCase() + id.slice(1), props, () => this.openTab(i));
    });
    fill(document.getElementById('tabs'), this.tabs);
  }

  // Views are made when they are first looked at.
  viewOf(id) {
    if (!this.views.has(id)) {
      const View = VIEWS.find(([name]) => name === id)[1];
      const view = new View(this);
      view.element.id = `view-${id}`;
      view.element.setAttribute('role', 'tabpanel');
      view.element.setAttribute('aria-labelledby', `tab-${id}`);
      view.element.hidden = true;
      document.getElementById('views').append(view.element);
      this.views.set(id, view);
      view.setEntry(this.entry);
    }
    return this.views.get(id);
  }

  setEntry(index) {
    this.entryIndex = index;
    this.entry = this.report.entry(index);
    this.selection = null;
    this.lives = null;
    fill(document.getElementById('top'), headline(this));
    for (const view of this.views.values()) view.setEntry(this.entry);
    this.story.show(null);
    this.openTab(this.tabIndex ?? 0);
  }

  openTab(index) {
    if (!VIEWS[index]) return;
    this.tabIndex = index;
    const view = this.viewOf(VIEWS[index][0]);
    this.tabs.forEach((tab, i) => {
      tab.setAttribute('aria-selected', String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
    });
    for (const other of this.views.values()) other.element.hidden = other !== view;
    this.view = view;
    hideTip();
    this.search();
    view.show();
    view.focus();
  }

  nextTab(by) {
    const index = (this.tabIndex + by + VIEWS.length) % VIEWS.length;
    this.openTab(index);
    this.tabs[index].focus();
  }

  search(text) {
    if (text !== undefined) this.searchBox.value = text;
    document.getElementById('found').textContent = this.view.filter(this.searchBox.value.trim());
  }

  select(item) {
    this.selection = item;
    this.story.show(item);
    this.view.show();
  }

  // To an item in a certain view.
  go(id, item) {
    this.searchBox.value = '';
    this.selection = item;
    this.openTab(VIEWS.findIndex(([name]) => name === id));
    this.story.show(item);
  }

  goToDecision(decision) {
    this.go('decisions', this.selection);
    this.view.reveal(decision);
  }

  // The buffer in the arena that a value lies in.
  lifeOf(index) {
    const root = this.report.root(index);
    const value = this.report.values[root];
    if (!value || value.storage !== 'arena') return null;
    return this.viewOf('memory').lives.find((life) => life.id === root) || null;
  }

  open(event) {
    if (this.view.activate && this.view.activate()) return;
    if (!this.selection) return;
    event.preventDefault();
    const heading = this.storyElement.querySelector('h2');
    if (heading) heading.focus();
  }

  escape(event) {
    if (event.target === this.searchBox) {
      if (this.searchBox.value !== '') this.search('');
      this.view.focus();
    } else if (this.storyElement.contains(event.target)) this.view.focus();
    else if (this.selection) this.select(null);
    else if (this.searchBox.value !== '') this.search('');
    event.preventDefault();
  }

  dialogOpen() {
    return document.getElementById('help').open;
  }

  dialog(title, content) {
    const dialog = document.getElementById('help');
    fill(dialog, el('div', {class: 'dialog-head'}, el('h2', {id: 'help-title'}, title),
      button('\u00d7', {class: 'close', title: 'Close (Esc)', 'aria-label': 'Close'}, () => dialog.close())), content);
    dialog.showModal();
  }

  help() {
    this.dialog('Keys', helpPage());
  }

  about() {
    this.dialog(this.report.data.title, aboutPage(this));
  }
}

const data = JSON.parse(document.getElementById('data').textContent);
document.title = `${data.title} \u2013 aicf`;
const app = new App(data);
// When the page was there, in ms since it was asked for, for whoever measures it.
document.documentElement.dataset.ready = performance.now().toFixed(1);
