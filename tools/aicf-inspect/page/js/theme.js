// Light and dark: what the system prefers until the reader chooses.

const THEME_KEY = 'aicf-report-theme';

class Theme {
  constructor(onChange) {
    this.onChange = onChange;
    this.system = matchMedia('(prefers-color-scheme: dark)');
    this.system.addEventListener('change', () => this.apply());
    this.apply();
  }

  // Storage may be refused to a local file.
  get chosen() {
    try {
      return localStorage.getItem(THEME_KEY);
    } catch {
      return this.memory || null;
    }
  }

  get current() {
    return this.chosen || (this.system.matches ? 'dark' : 'light');
  }

  toggle() {
    this.memory = this.current === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem(THEME_KEY, this.memory);
    } catch {
      // The choice then lasts as long as the page.
    }
    this.apply();
  }

  apply(forced) {
    document.documentElement.dataset.theme = forced || this.current;
    this.onChange();
  }
}

// Colours of the style sheet, for drawing.
function inks() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const out = {};
  for (const name of ['bg', 'panel', 'text', 'muted', 'rule', 'accent', 'faint']) out[name] = read(name);
  out.group = Object.fromEntries(FAMILY_GROUPS.map((g) => [g.id, read(`g-${g.id}`)]));
  return out;
}
