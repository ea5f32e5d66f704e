// A sortable table over a virtual list, with one current row and rows that may open.

// Columns of a table. text(item); value(item): what it is sorted by.
function column(title, width, text, value) {
  return {title, width, text, value: value || text};
}

function numbers(title, width, text, value) {
  return {title, width, text, value, number: true};
}

const ROW_HEIGHT = 26;
let tableCount = 0;

class DataTable {
  // columns: {title, width, text(item) or cell(item), value(item) for sorting, number}
  constructor({label: text, columns, onCurrent, details, empty}) {
    Object.assign(this, {columns, onCurrent, details, emptyText: empty || 'Nothing here.'});
    this.id = `table-${++tableCount}`;
    this.items = [];
    this.open = new Map();  // item to the height of its details
    this.list = new VirtualList({label: text, role: 'grid'});
    this.head = el('div', {class: 'table-head', role: 'row'}, columns.map((c) => this.header(c)));
    this.empty = el('p', {class: 'empty', hidden: true});
    this.element = el('div', {class: 'table', vars: {'--columns': columns.map((c) => c.width).join(' ')}},
      this.head, this.empty, this.list.element);
    this.list.element.addEventListener('click', (event) => this.clicked(event));
    if (details) new ResizeObserver(() => this.resized()).observe(this.list.element);
  }

  header(column) {
    const name = column.number ? 'number' : '';
    if (!column.value) return el('span', {class: name, role: 'columnheader'}, column.title);
    return el('span', {class: name, role: 'columnheader', 'aria-sort': 'none'},
      button(column.title, {title: `Sort by ${column.title}`}, () => this.sortBy(column)));
  }

  sortBy(column, descending) {
    this.descending = descending ?? (this.sorted === column ? !this.descending : Boolean(column.number));
    this.sorted = column;
    this.setItems(this.items);
  }

  setItems(items) {
    this.items = items.slice();
    if (this.sorted) {
      const sign = this.descending ? -1 : 1;
      const value = this.sorted.value;
      const missing = (v) => v === undefined || v === null;
      this.items.sort((a, b) => {
        const x = value(a), y = value(b);
        if (missing(x) || missing(y)) return missing(x) - missing(y);
        return sign * (x < y ? -1 : x > y ? 1 : 0);
      });
    }
    for (const [i, cell] of [...this.head.children].entries()) {
      if (cell.hasAttribute('aria-sort')) {
        const own = this.columns[i] === this.sorted;
        cell.setAttribute('aria-sort', own ? (this.descending ? 'descending' : 'ascending') : 'none');
      }
    }
    this.empty.hidden = items.length > 0;
    this.empty.textContent = this.emptyText;
    this.list.element.scrollTop = 0;
    this.list.setRows(this.items.length, (i) => this.rowHeight(i), (i) => this.row(i));
  }

  rowHeight(index) {
    const item = this.items[index];
    return ROW_HEIGHT + (this.open.get(item) || 0);
  }

  row(index) {
    const item = this.items[index];
    const opened = this.open.has(item);
    const cells = this.columns.map((c) => el('span', {class: c.number ? 'number' : 'cut', role: 'gridcell',
      title: c.text && !c.number ? c.text(item) : null}, c.cell ? c.cell(item) : c.text(item)));
    const row = el('div', {class: 'row', role: 'row', id: `${this.id}-${index}`, 'data-index': index,
      'aria-selected': String(item === this.current), 'aria-expanded': this.details ? String(opened) : null},
    el('div', {class: 'cells'}, cells));
    if (opened) row.append(el('div', {class: 'details'}, this.details(item)));
    return row;
  }

  clicked(event) {
    const row = event.target.closest('.row');
    if (!row || event.target.closest('.details')) return;
    const item = this.items[Number(row.dataset.index)];
    const again = item === this.current;
    this.setCurrent(item, true);
    if (this.details && (again || !this.open.has(item))) this.toggle();
  }

  setCurrent(item, tell) {
    this.current = item;
    const index = this.items.indexOf(item);
    this.list.show(index);
    this.list.refresh();
    if (index >= 0) this.list.element.setAttribute('aria-activedescendant', `${this.id}-${index}`);
    else this.list.element.removeAttribute('aria-activedescendant');
    if (tell && this.onCurrent && item) this.onCurrent(item);
  }

  move(by) {
    if (this.items.length === 0) return;
    const at = this.items.indexOf(this.current);
    const next = at < 0 ? 0 : Math.max(0, Math.min(this.items.length - 1, at + by));
    this.setCurrent(this.items[next], true);
  }

  toggle() {
    if (!this.details || !this.current) return;
    if (!this.open.delete(this.current)) this.open.set(this.current, this.heightOfDetails(this.current));
    this.list.measure();
    this.list.refresh();
    this.list.show(this.items.indexOf(this.current));
  }

  heightOfDetails(item) {
    const trial = el('div', {class: 'row'}, el('div', {class: 'details'}, this.details(item)));
    this.list.space.append(trial);
    const height = trial.firstChild.offsetHeight;
    trial.remove();
    return height;
  }

  // Another width breaks lines elsewhere.
  resized() {
    if (this.open.size === 0 || this.width === this.list.element.clientWidth) return;
    this.width = this.list.element.clientWidth;
    for (const item of this.open.keys()) this.open.set(item, this.heightOfDetails(item));
    this.list.measure();
    this.list.refresh();
  }

  focus() {
    this.list.element.focus({preventScroll: true});
  }
}
