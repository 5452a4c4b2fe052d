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

// How long the page works before it looks whether a key came, in milliseconds.
const patience = 8;
let since = 0;

// breath lets the page draw and take keys before it goes on, if it has worked for a while.
export async function breath() {
  if (performance.now() - since < patience) return;
  await new Promise((resume) => { setTimeout(resume); });
  since = performance.now();
}

// frame waits until the page was drawn, or cannot be seen. What goes on then is not part of drawing.
export const frame = () => new Promise((resume) => {
  requestAnimationFrame(() => setTimeout(resume));
  setTimeout(resume, 100);
});

// patch makes a list of elements the children of a parent at once; those that stay in their place are not touched.
export function patch(parent, list) {
  for (const [k, e] of list.entries()) {
    if (!parent.children[k]) parent.append(e);
    else if (parent.children[k] !== e) parent.children[k].replaceWith(e);
  }
  while (parent.children.length > list.length) parent.lastChild.remove();
}

// put makes a list of elements the children of a parent, one after the other, while going holds; those that were there stay until their turn
// comes, so that what one looks at does not jump.
export async function put(parent, list, going) {
  for (const [k, e] of list.entries()) {
    await breath();
    if (!going()) return;
    if (!parent.children[k]) parent.append(e);
    else if (parent.children[k] !== e) parent.children[k].replaceWith(e);
    for (const t of [e, ...e.querySelectorAll('*')].filter((x) => x.fill)) await t.fill(going);
  }
  while (parent.children.length > list.length) parent.lastChild.remove();
}

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

const nameOf = (e) => e.getAttribute('aria-label') || e.closest('label')?.textContent || e.textContent;

// focused gives what moves the focus back to where it was in an element whose children are made anew.
export function focused(root) {
  const at = document.activeElement;
  if (at === root || !root.contains(at)) return () => {};
  const name = nameOf(at);
  return () => {
    if (!root.contains(document.activeElement)) [...root.querySelectorAll(at.tagName)].find((e) => nameOf(e) === name)?.focus({ preventScroll: true });
  };
}

// reveal scrolls what is lit, or written, into view in each box that scrolls sideways.
export function reveal(root) {
  for (const box of root.querySelectorAll('.wide')) {
    const e = box.querySelector('.write, .cell.lit, td.lit, .lit > .node');
    if (!e) continue;
    const [at, from] = [e.getBoundingClientRect(), box.getBoundingClientRect()];
    if (at.left < from.left || at.right > from.right) box.scrollLeft += at.left - from.left - from.width / 2;
  }
}
