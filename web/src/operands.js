// The operands: what is in each, and how it is stored.
import { h, put, short } from './dom.js';
import { cells, gridOf, written } from './grid.js';

const kinds = { random: 'random', text: 'typed', number: 'a number', data: 'a file', result: 'a result' };

export const kindOf = (o) => (o.random ? 'random' : o.number ? 'number' : o.file ? 'data' : o.text ? 'text' : 'result');

// fresh is an operand for a name that a program has begun to use.
export function fresh({ name, rank }, seed) {
  if (rank === 0) return { name, number: '2.5' };
  const shape = Array(rank).fill(rank > 2 ? 5 : 6);
  return rank === 1 ? { name, random: { shape, seed } } : { name, format: rank === 2 ? 'CSR' : 'CSF', random: { shape, density: 0.3, seed } };
}

// typed is the text of a tensor that is stored so, if it is small enough to type.
function typed(s) {
  if (!s || s.more || s.rank < 1 || s.rank > 2) return null;
  const rows = Array.from({ length: s.rank > 1 ? s.shape[0] : 1 }, () => Array(s.shape[s.rank - 1]).fill('.'));
  s.entries.forEach((e, k) => { rows[s.rank > 1 ? e.coord[0] : 0][e.coord[s.rank - 1]] = short(s.values[k]); });
  return cells(written(rows)) && written(rows);
}

// pattern is a text of a shape, for want of elements.
function pattern(shape) {
  const [rows, columns] = shape.length === 1 ? [1, ...shape] : shape;
  return written(Array.from({ length: Math.min(rows, 16) }, (_, i) => Array.from({ length: Math.min(columns, 16) }, (_, j) => ((i + j) % 2 ? '.' : i + j + 1))));
}

// change gives an operand another kind of value, as like the old as may be.
function change(o, kind, storage) {
  const shape = o.random?.shape || storage?.shape || [6, 6];
  for (const key of ['random', 'text', 'number', 'data', 'file', 'shape']) delete o[key];
  if (kind === 'random') o.random = { shape, density: 0.3, seed: 1 };
  if (kind === 'text') o.text = typed(storage) || pattern(shape);
  if (kind === 'number') {
    o.number = '2.5';
    delete o.format;
  }
}

const base64 = (bytes) => {
  let s = '';
  for (let i = 0; i < bytes.length; i += 32768) s += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return btoa(s);
};

// The largest file that is read into a page.
const maxFile = 64 << 20;

// take puts a dropped file into an operand.
export async function take(o, f) {
  if (f.size > maxFile) throw new Error(`${f.name} has ${f.size} bytes: a page takes ${maxFile} at most; "lacuna serve" takes more`);
  const data = base64(new Uint8Array(await f.arrayBuffer()));
  change(o, 'data');
  o.file = f.name;
  o.data = data;
}

// levelKinds are what a level may be.
const levelKinds = { D: 'D: dense', C: 'C: dense, pointers to the next', DC: 'DC: compressed, pointers to the next', S: 'S: sparse' };

// permutations of the numbers below n.
const permutations = (n) => (n === 0 ? [[]] : permutations(n - 1).flatMap((p) => Array.from({ length: n }, (_, k) => [...p.slice(0, k), n - 1, ...p.slice(k)])));

// nearest is the combination with a kind at a level that changes fewest others.
function nearest(combinations, kinds, level, kind) {
  const changes = (c) => c.filter((x, k) => x !== kinds[k]).length;
  return combinations.map((c) => c.split('-')).filter((c) => c[level] === kind).sort((a, b) => changes(a) - changes(b))[0];
}

// offered says whether a tensor of a rank may be something.
const offered = (kind, rank) => ({ random: rank > 0, text: rank === 1 || rank === 2, number: rank === 0, data: true, result: false })[kind];

// opened are the operands whose levels are shown, and spelled those whose format is typed.
const opened = new Set();
const spelled = new Set();
const texts = new WeakSet(); // operands that are typed as text

// made are the cards of operands, with what they were made of: one that nothing changes stays.
const made = new WeakMap();
let latest;

export async function operandCards(parent, state, { storage, rank, samples, files, results, changed, failed, readonly }) {
  const mine = latest = {};
  const cards = state.operands.map((o) => {
    const { named, kinds: levels, order } = storage(o.name) || {};
    const key = JSON.stringify([{ ...o, data: null }, named, levels, order, rank(o.name), spelled.has(o.name), texts.has(o)]);
    if (made.get(o)?.key !== key) made.set(o, { key, card: card(o) });
    return made.get(o).card;
  });
  // Results that have no card yet can be given a format.
  const open = results.filter((r) => !state.operands.some((o) => o.name === r.name));
  if (open.length) cards.push(h('p', { class: 'row' }, open.map((r) => h('button', { onclick: () => { state.operands.push({ name: r.name }); changed(); } }, `Store ${r.name} as…`))));
  if (readonly) for (const c of cards) for (const e of c.querySelectorAll('input, select, textarea, button')) e.disabled = true;
  await put(parent, cards, () => mine === latest);

  function card(o) {
    const field = (label, value, set, attributes = {}) => h('label', {}, label, h('input', {
      ...attributes, value: value ?? '', 'aria-label': `${label} of ${o.name}`, onchange: (e) => { set(e.target.value.trim()); changed(); },
    }));
    const kind = kindOf(o);
    const inputs = [];
    if (kind === 'random') {
      inputs.push(
        field('shape', o.random.shape.join(' '), (v) => { o.random.shape = v.split(/[\s,x×]+/).filter(Boolean).map(Number); }),
        field('density', o.random.density ?? (o.random.nnz === undefined ? '' : `${o.random.nnz} entries`), (v) => {
          delete o.random.density;
          delete o.random.nnz;
          if (/^\d+ *entries$/.test(v)) o.random.nnz = parseInt(v, 10);
          else if (v !== '') o.random.density = Number(v);
        }, { placeholder: 'dense', title: 'a part such as 0.1, or a number such as "50 entries"' }),
        field('seed', o.random.seed, (v) => { o.random.seed = Math.max(0, Math.trunc(Number(v)) || 0); }, { inputmode: 'numeric' }));
    }
    if (kind === 'number') inputs.push(field('value', o.number, (v) => { o.number = v; }));
    if (kind === 'data') {
      inputs.push(o.data ? h('span', { class: 'mono' }, o.file) : fileChoice(o));
    }
    const box = h('div', {
      class: 'card', 'data-operand': o.name,
      ondragover: (e) => { e.preventDefault(); box.classList.add('over'); },
      ondragleave: () => box.classList.remove('over'),
      ondrop: (e) => { e.preventDefault(); e.stopPropagation(); box.classList.remove('over'); drop(o, e.dataTransfer.files[0]); },
    },
    h('div', {},
      h('b', { class: 'mono' }, o.name),
      h('select', { 'aria-label': `what ${o.name} is`, onchange: (e) => become(e.target.value) },
        Object.entries(kinds).filter(([k]) => k === kind || offered(k, rank(o.name))).map(([k, label]) => h('option', { value: k, selected: k === kind }, label)),
        fitting().length > 0 && h('optgroup', { label: 'samples' }, fitting().map((s) => h('option', { value: `sample ${samples.indexOf(s)}`, title: s.about }, s.title)))),
      inputs),
    kind === 'text' && typing(o),
    kind !== 'number' && h('div', { class: 'levels' },
      h('label', {}, 'format', formatPicker(o)),
      levelPicker(o),
      field('type', o.dtype, (v) => { if (v) o.dtype = v; else delete o.dtype; }, { placeholder: 'f64', list: 'types' }),
      kind !== 'result' && field('fill', o.fill, (v) => { if (v) o.fill = v; else delete o.fill; }, { placeholder: '0' })));
    function fitting() {
      return kind === 'result' ? [] : samples.filter((s) => rank(o.name) === (s.operands[0].text.includes('\n') ? 2 : 1));
    }
    function become(to) {
      if (to === 'data' && !files.length) return picker.click();
      if (to.startsWith('sample ')) {
        change(o, 'text');
        Object.assign(o, samples[to.slice(7)].operands[0], { name: o.name });
      } else {
        change(o, to, storage(o.name));
        if (to === 'data') o.file = files[0];
      }
      return changed();
    }
    const picker = h('input', { type: 'file', hidden: true, 'aria-hidden': 'true', tabindex: '-1', onchange: () => drop(o, picker.files[0]) });
    box.append(picker);
    return box;
  }

  // typing is where elements are typed: a grid, if they are few, or a text.
  function typing(o) {
    const rows = texts.has(o) ? null : cells(o.text);
    const type = (text) => { o.text = text; changed(); };
    if (rows) return gridOf(o.name, rows, type, () => { texts.add(o); changed(); });
    return h('textarea', {
      rows: Math.min(8, o.text.split('\n').length + 1), 'aria-label': `elements of ${o.name}; a dot is not stored`, spellcheck: 'false', onchange: (e) => type(e.target.value),
    }, o.text);
  }

  function fileChoice(o) {
    return h('select', { 'aria-label': `file of ${o.name}`, onchange: (e) => { o.file = e.target.value; changed(); } },
      (files.includes(o.file) ? files : [o.file, ...files]).map((f) => h('option', { selected: f === o.file }, f)));
  }

  // formatPicker chooses among the formats that have names.
  function formatPicker(o) {
    const named = [...storage(o.name)?.named || []];
    if (o.format && !named.includes(o.format)) named.push(o.format);
    const spell = () => {
      spelled.add(o.name);
      changed();
    };
    if (spelled.has(o.name)) {
      const list = `formats-${o.name}`;
      return [h('input', { value: o.format ?? '', list, 'aria-label': `format of ${o.name}`, placeholder: 'such as DC-S', spellcheck: 'false', autocomplete: 'off', onchange: (e) => { spelled.delete(o.name); setFormat(o, e.target.value.trim()); } }),
        h('datalist', { id: list }, [...new Set([...named, ...storage(o.name)?.combinations || []])].map((f) => h('option', { value: f })))];
    }
    return h('select', { 'aria-label': `format of ${o.name}`, onchange: (e) => (e.target.value === 'spell' ? spell() : setFormat(o, e.target.value)) },
      h('option', { value: '' }, 'the usual one'), named.map((f) => h('option', { value: f, selected: f === o.format }, f)), h('option', { value: 'spell' }, 'spell it…'));
  }

  // levelPicker chooses level by level, and the axes that they are of. A kind that others do not go with changes those too.
  function levelPicker(o) {
    const s = storage(o.name);
    if (!s?.combinations.length) return null;
    const levels = s.kinds.split('-');
    const write = (list, order) => setFormat(o, list.join('-') + (order.every((axis, k) => axis === k) ? '' : `[${order}]`));
    const choices = () => [levels.map((kind, k) => h('label', {}, `level ${k}`, h('select', { 'aria-label': `level ${k} of ${o.name}`, onchange: (e) => write(nearest(s.combinations, levels, k, e.target.value), s.order) },
      Object.keys(levelKinds).filter((x) => nearest(s.combinations, levels, k, x)).map((x) => h('option', { value: x, selected: x === kind }, levelKinds[x]))))),
    levels.length > 1 && h('label', {}, 'axes from the outermost', h('select', { 'aria-label': `axes of ${o.name}`, onchange: (e) => write(levels, e.target.value.split(',').map(Number)) },
      permutations(levels.length).map((p) => h('option', { value: String(p), selected: String(p) === String(s.order) }, p.join(', ')))))];
    const box = h('div', {});
    // What is closed is empty: browsers look for what may be filled in, and lay out all that is hidden for each.
    const toggle = (open) => {
      opened[open ? 'add' : 'delete'](o.name);
      box.replaceChildren(...(open ? choices().flat().filter(Boolean) : []));
    };
    if (opened.has(o.name)) toggle(true);
    return h('details', { class: 'picker', open: opened.has(o.name), ontoggle: (e) => toggle(e.target.open) }, h('summary', {}, 'by levels'), box);
  }

  function setFormat(o, format) {
    if (format) o.format = format;
    else delete o.format;
    changed();
  }

  async function drop(o, f) {
    if (!f) return;
    try {
      await take(o, f);
      changed();
    } catch (e) { failed(e); }
  }
}
