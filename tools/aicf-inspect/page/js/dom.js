// What could reorder or hide the text around it is written out: names come from anywhere.
const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function visible(text) {
  return text.replace(UNSEEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// Elements. Text enters the page as text nodes only: no function here parses HTML.

function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'class') node.className = value;
    else if (key === 'on') for (const [type, fn] of Object.entries(value)) node.addEventListener(type, fn);
    else if (key === 'vars') for (const [name, v] of Object.entries(value)) node.style.setProperty(name, v);
    else node.setAttribute(key, value === true ? '' : key === 'title' ? visible(String(value)) : value);
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === '') continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
  return node;
}

function fill(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

// Text that may be longer than its place: cut by CSS, whole in the title.
function cut(text, name) {
  return el('span', {class: `cut ${name || ''}`, title: text}, text);
}

// The same, cut in the middle: paths differ at their ends.
function cutMiddle(text, name) {
  const tail = Math.min(10, Math.floor(text.length / 2));
  if (text.length < 22) return cut(text, name);
  return el('span', {class: `cut-middle ${name || ''}`, title: text}, cut(text.slice(0, -tail)),
    el('span', {class: 'tail'}, text.slice(-tail)));
}

function button(text, props, onClick) {
  return el('button', {type: 'button', ...props, on: {click: onClick}}, text);
}

// One redraw per frame, however often it is asked for.
function perFrame(fn) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      fn();
    });
  };
}
