// The drawing of a tensor's storage: coordinate tree, arrays and matrix, in which an entry lights up in all three.
// Elements have data-n="level:position" if they are nodes of the tree, and data-e="position" if they are values.
import { h, light, reveal, short } from './dom.js';
import { cellsOf, tableOf, widest } from './table.js';

// Trees with more values than this are not drawn.
const maxTree = 160;
const maxCells = 2500;

export function storageDrawing(s, parts = ['tree', 'arrays', 'matrix']) {
  const caption = `${s.name}: ${s.shape.join('×') || 'a number'} ${s.dtype}, ${s.format}, ${s.stored} stored, fill ${s.fill}, ${s.bytes} bytes`;
  if (!s.entries.length && s.more) return h('section', {}, h('h3', {}, caption), h('p', { class: 'hint' }, 'Too large to draw entry by entry.'));
  const root = h('section', { 'aria-label': `storage of ${s.name}` }, h('h3', {}, caption));
  if (parts.includes('tree') && s.levels.length) root.append(h('div', { class: 'wide' }, tree(s)));
  if (parts.includes('arrays')) root.append(arrays(s));
  if (parts.includes('matrix')) root.append(matrix(s));
  const point = (event) => {
    const e = event.target.closest('[data-e],[data-n]');
    if (!e) return;
    lightEntries(root, s, e.dataset.e !== undefined ? [Number(e.dataset.e)] : under(s, e.dataset.n));
    reveal(root);
  };
  root.addEventListener('pointerover', point);
  root.addEventListener('pointerleave', () => lightEntries(root, s, []));
  if (parts.includes('arrays')) walk(root, s);
  return root;
}

// walk lets the arrow keys go from entry to entry, and says which one is lit.
function walk(root, s) {
  const words = h('p', { class: 'hint', role: 'status' });
  let at = -1;
  root.tabIndex = 0;
  root.append(words);
  root.addEventListener('keydown', (event) => {
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: s.entries.length - 1 }[event.key];
    if (to === undefined || !s.entries[to]) return;
    event.preventDefault();
    at = to;
    lightEntries(root, s, [at]);
    reveal(root);
    words.textContent = `${s.name}(${s.entries[at].coord.join(',')}) = ${s.values[at]}, entry ${at + 1} of ${s.entries.length}`;
  });
}

// under are the values below a node.
function under(s, node) {
  const [k, p] = node.split(':').map(Number);
  return s.entries.flatMap((e, i) => (e.path[k] === p ? [i] : []));
}

// lightEntries marks values with the way to them.
export function lightEntries(root, s, list) {
  const values = new Set(list.map(String));
  const nodes = new Set(list.flatMap((i) => (s.entries[i]?.path || []).map((p, k) => `${k}:${p}`)));
  light(root, '[data-e],[data-n]', (e) => values.has(e.dataset.e) || nodes.has(e.dataset.n));
}

function tree(s) {
  if (s.values.length > maxTree || s.levels.some((l) => l.nodes.length > maxTree)) return h('p', { class: 'hint' }, 'The tree is too wide to draw.');
  const step = Math.max(34, ...s.values.map((v) => short(v).length * 7 + 8));
  const rows = s.levels.length + 1;
  const below = s.levels.map((l) => l.nodes.map(() => []));
  s.levels.forEach((l, k) => k > 0 && l.nodes.forEach((n, p) => below[k - 1][n.parent].push(p)));
  // A node stands above the middle of what is below it, and one with nothing below takes a place of its own.
  let next = 0;
  const x = s.levels.map(() => []);
  const place = (k, p) => {
    const children = below[k][p].map((c) => place(k + 1, c));
    return (x[k][p] = children.length ? (children[0] + children[children.length - 1]) / 2 : next++ * step + step / 2);
  };
  s.levels[0].nodes.forEach((_, p) => place(0, p));
  const width = Math.max(1, next) * step + 200;
  const y = (row) => row * 46 + 24;
  const svg = h('svg', { width, height: rows * 46 + 4, role: 'img', 'aria-label': `coordinate tree of ${s.name}` });
  s.levels.forEach((l, k) => {
    svg.append(h('text', { class: 'left', x: 2, y: y(k) }, `level ${k}: ${l.kind}, axis ${l.axis}`));
    l.nodes.forEach((n, p) => {
      const at = x[k][p] + 190;
      svg.append(h('g', { 'data-n': `${k}:${p}` },
        k > 0 && h('line', { class: 'edge', x1: x[k - 1][n.parent] + 190, y1: y(k - 1) + 12, x2: at, y2: y(k) - 12 }),
        h('circle', { class: 'node', cx: at, cy: y(k), r: 12 }), h('text', { x: at, y: y(k) }, String(n.coord))));
    });
  });
  const last = s.levels.length - 1;
  s.values.forEach((v, i) => {
    const at = x[last][i] + 190;
    svg.append(h('g', { 'data-e': i },
      h('line', { class: 'edge', x1: at, y1: y(last) + 12, x2: at, y2: y(last + 1) - 10 }),
      h('rect', { class: 'node', x: at - step / 2 + 2, y: y(last + 1) - 10, width: step - 4, height: 20, rx: 3 }), h('text', { x: at, y: y(last + 1) }, short(v))));
  });
  svg.append(h('text', { class: 'left', x: 2, y: y(last + 1) }, 'values'));
  return svg;
}

function arrays(s) {
  const row = (name, list, attributes) => {
    const texts = list.slice(0, maxCells).map((v) => short(String(v)));
    return cellsOf(name, texts.map((text, i) => h('span', { class: 'cell mono', ...attributes(i) }, text)), widest(texts));
  };
  const box = h('div', { class: 'arrays' });
  s.levels.forEach((l, k) => {
    if (l.pos) box.append(row(`${s.name}${k}_pos`, l.pos, (p) => (k > 0 ? { 'data-n': `${k - 1}:${p}` } : {})));
    if (l.crd) box.append(row(`${s.name}${k}_crd`, l.crd, (p) => ({ 'data-n': `${k}:${p}` })));
  });
  box.append(row(`${s.name}_vals`, s.values, (i) => ({ 'data-e': i })));
  return box;
}

// matrix draws the elements where they are: of a tensor of rank 3 in slices.
function matrix(s) {
  const [rows, columns] = s.shape.length < 2 ? [1, s.shape[0] ?? 1] : s.shape.slice(-2);
  const slices = s.shape.slice(0, -2).reduce((a, b) => a * b, 1);
  if (rows * columns * slices > maxCells) return h('p', { class: 'hint' }, 'The matrix is too large to draw element by element.');
  const at = new Map();
  s.entries.forEach((e, i) => at.set(e.coord.join(','), i));
  const texts = s.values.map(short);
  const width = { cell: Math.max(widest(texts), String(columns).length), label: s.shape.length > 1 ? String(rows).length : 0 };
  const number = (name, n) => h('th', { scope: name }, n);
  const box = h('div', { class: 'row wide' });
  for (let slice = 0; slice < slices; slice++) {
    const lead = [];
    for (let rest = slice, axis = s.shape.length - 3; axis >= 0; axis--) {
      lead.unshift(rest % s.shape[axis]);
      rest = Math.floor(rest / s.shape[axis]);
    }
    const row = (i) => [s.shape.length > 1 && number('row', i), ...Array.from({ length: columns }, (_, j) => {
      const e = at.get([...lead, ...(s.shape.length > 1 ? [i, j] : s.shape.length ? [j] : [])].join(','));
      return e === undefined ? h('td', { class: 'gap' }, '·') : h('td', { 'data-e': e }, texts[e]);
    })];
    const head = s.shape.length > 0 && [s.shape.length > 1 && h('th'), ...Array.from({ length: columns }, (_, j) => number('col', j))];
    box.append(tableOf(rows, row, width, head, lead.length ? `slice ${lead.join(',')}` : null));
  }
  return box;
}
