// Numbers as people read them. Every function takes a number or nothing ("–").

const NONE = '\u2013';

function isNumber(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

// Three significant digits, without an exponent for what the prefixes leave.
function digits(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en');
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.001) return value.toFixed(size >= 1 ? 2 : 3);
  return value.toExponential(1);
}

function scaled(value, step, units) {
  let unit = 0;
  while (Math.abs(value) >= step * 0.9995 && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  return [value, units[unit]];
}

function bytesText(value) {
  if (!isNumber(value)) return NONE;
  const [size, unit] = scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
  return `${unit === 'B' ? size : digits(size)}\u00a0${unit}`;
}

// FLOP, FLOP/s and bytes/s: decimal prefixes.
function countText(value, what) {
  if (!isNumber(value)) return NONE;
  const [size, prefix] = scaled(value, 1000, ['', 'k', 'M', 'G', 'T', 'P']);
  return `${digits(size)}\u00a0${prefix}${what}`;
}

// A power of ten on an axis.
function decadeText(value, what) {
  const [size, prefix] = scaled(value, 1000, ['', 'k', 'M', 'G', 'T', 'P']);
  return `${Number(size.toPrecision(6))}${what ? `\u00a0${prefix}${what}` : prefix}`;
}

function timeText(us) {
  if (!isNumber(us)) return NONE;
  if (us >= 1e6) return `${digits(us / 1e6)}\u00a0s`;
  if (us >= 1000) return `${digits(us / 1000)}\u00a0ms`;
  return `${digits(us)}\u00a0\u00b5s`;
}

function percentText(share) {
  if (!isNumber(share)) return NONE;
  const value = share * 100;
  if (value > 0 && value < 0.05) return '<\u00a00.1\u00a0%';
  return `${value >= 99.95 ? value.toFixed(0) : value.toFixed(1)}\u00a0%`;
}

function shapeText(shape) {
  if (!Array.isArray(shape)) return NONE;
  return shape.length === 0 ? 'scalar' : shape.join('\u00d7');
}

// "1 step", "2 steps".
function plural(count, noun) {
  return `${count.toLocaleString('en')}\u00a0${noun}${count === 1 ? '' : 's'}`;
}

// What is not text in a hostile file becomes text.
function asText(value) {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
