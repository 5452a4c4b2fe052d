// What the views share: elements, numbers, words that fade.

const svgNames = new Set(['svg', 'g', 'rect', 'line', 'text', 'circle', 'title']);

// h makes an element. Attributes that begin with "on" are listeners; null and false leave one out.
export function h(name, attributes = {}, ...children) {
  const e = svgNames.has(name) ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else if (value === true) e.setAttribute(key, '');
    else if (value !== null && value !== undefined && value !== false) e.setAttribute(key, value);
  }
  e.append(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

export const $ = (selector) => document.querySelector(selector);

// short writes a number of the compiler's for reading.
export function short(text) {
  const x = Number(text);
  if (Number.isNaN(x) || Number.isInteger(x) || text.length <= 7) return text;
  return String(Number(x.toPrecision(4)));
}

// pause lets the page draw and take keys before it goes on.
export const pause = () => new Promise((resume) => { setTimeout(resume); });

let fade;
export function toast(text) {
  const t = $('#toast');
  t.textContent = text;
  t.classList.add('on');
  clearTimeout(fade);
  fade = setTimeout(() => t.classList.remove('on'), 2500);
}

// light marks the elements that a test takes, and only those.
export function light(root, selector, test) {
  for (const e of root.querySelectorAll(selector)) e.classList.toggle('lit', test(e));
}
