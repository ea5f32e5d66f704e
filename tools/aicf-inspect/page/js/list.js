// A list of any length that holds only the rows in sight.

class VirtualList {
  // render(index) -> element; height(index) -> pixels.
  constructor({label: text, role, className}) {
    this.space = el('div', {class: 'list-space', role: 'presentation'});
    const props = {class: `list ${className || ''}`, role: role || 'grid', tabindex: 0, 'aria-label': text};
    this.element = el('div', props, this.space);
    this.rows = new Map();
    this.count = 0;
    this.tops = new Float64Array(1);
    this.element.addEventListener('scroll', perFrame(() => this.layout()), {passive: true});
    new ResizeObserver(() => this.layout()).observe(this.element);
  }

  setRows(count, height, render) {
    Object.assign(this, {count, height, render});
    this.element.setAttribute('aria-rowcount', count);
    this.measure();
    this.refresh();
  }

  // Heights again, from the functions.
  measure() {
    this.tops = new Float64Array(this.count + 1);
    for (let i = 0; i < this.count; ++i) this.tops[i + 1] = this.tops[i] + this.height(i);
    this.space.style.setProperty('height', `${this.tops[this.count]}px`);
  }

  // Every row in sight anew.
  refresh() {
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.layout();
  }

  indexAt(y) {
    let low = 0, high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle + 1] <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  layout() {
    const top = this.element.scrollTop;
    const bottom = top + this.element.clientHeight;
    const first = Math.max(0, this.indexAt(top) - 4);
    const last = Math.min(this.count - 1, this.indexAt(bottom) + 4);
    for (const [index, row] of this.rows) {
      if (index < first || index > last) {
        row.remove();
        this.rows.delete(index);
      }
    }
    for (let i = first; i <= last; ++i) if (!this.rows.has(i)) this.place(i);
    if (this.onScroll) this.onScroll(top);
  }

  place(index) {
    const row = this.render(index);
    row.classList.add('list-row');
    row.setAttribute('aria-rowindex', index + 1);
    row.style.setProperty('transform', `translateY(${this.tops[index]}px)`);
    row.style.setProperty('height', `${this.tops[index + 1] - this.tops[index]}px`);
    this.rows.set(index, row);
    this.space.append(row);
  }

  show(index) {
    if (index < 0 || index >= this.count) return;
    const view = this.element;
    const top = this.tops[index], bottom = this.tops[index + 1];
    const margin = Math.min(48, view.clientHeight / 4);
    if (top < view.scrollTop + margin) view.scrollTop = Math.max(0, top - margin);
    else if (bottom > view.scrollTop + view.clientHeight - margin) {
      view.scrollTop = Math.min(top - margin, bottom - view.clientHeight + margin);
    }
    this.layout();
  }
}
