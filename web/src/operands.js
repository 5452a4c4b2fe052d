// The operands: what is in each, and how it is stored.
import { h } from './dom.js';

const kinds = { random: 'random', text: 'typed', number: 'a number', data: 'a file', result: 'a result' };

export const kindOf = (o) => (o.random ? 'random' : o.number ? 'number' : o.file ? 'data' : o.text ? 'text' : 'result');

// fresh is an operand for a name that a program has begun to use.
export function fresh({ name, rank }, seed) {
  if (rank === 0) return { name, number: '2.5' };
  const shape = Array(rank).fill(rank > 2 ? 5 : 6);
  return rank === 1 ? { name, random: { shape, seed } } : { name, format: rank === 2 ? 'CSR' : 'CSF', random: { shape, density: 0.3, seed } };
}

// change gives an operand another kind of value, as like the old as may be.
function change(o, kind) {
  const shape = o.random?.shape || [6, 6];
  for (const key of ['random', 'text', 'number', 'data', 'file', 'shape']) delete o[key];
  if (kind === 'random') o.random = { shape, density: 0.3, seed: 1 };
  if (kind === 'text') o.text = shape.length === 1 ? '1 . 2 3' : '1 . 2\n. 3 .\n4 . 5';
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

// opened are the operands whose levels are shown.
const opened = new Set();

export function operandCards(parent, state, { storage, samples, files, results, changed, failed }) {
  parent.replaceChildren(...state.operands.map((o) => card(o)));

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
        Object.entries(kinds).filter(([k]) => (k === 'result') === (kind === 'result')).map(([k, label]) => h('option', { value: k, selected: k === kind }, label)),
        kind !== 'result' && h('optgroup', { label: 'samples' }, samples.map((s, i) => h('option', { value: `sample ${i}`, title: s.about }, s.title)))),
      inputs),
    kind === 'text' && h('textarea', {
      rows: Math.min(8, o.text.split('\n').length + 1), 'aria-label': `elements of ${o.name}; a dot is not stored`, spellcheck: 'false',
      onchange: (e) => { o.text = e.target.value; changed(); },
    }, o.text),
    kind !== 'number' && h('div', { class: 'levels' },
      h('label', {}, 'format', formatPicker(o)),
      levelPicker(o),
      field('type', o.dtype, (v) => { if (v) o.dtype = v; else delete o.dtype; }, { placeholder: 'f64', list: 'types' }),
      kind !== 'result' && field('fill', o.fill, (v) => { if (v) o.fill = v; else delete o.fill; }, { placeholder: '0' })));
    function become(to) {
      if (to === 'data' && !files.length) return picker.click();
      if (to.startsWith('sample ')) {
        change(o, 'text');
        Object.assign(o, samples[to.slice(7)].operands[0], { name: o.name });
      } else {
        change(o, to);
        if (to === 'data') o.file = files[0];
      }
      return changed(true);
    }
    const picker = h('input', { type: 'file', hidden: true, 'aria-hidden': 'true', tabindex: '-1', onchange: () => drop(o, picker.files[0]) });
    box.append(picker);
    return box;
  }

  function fileChoice(o) {
    return h('select', { 'aria-label': `file of ${o.name}`, onchange: (e) => { o.file = e.target.value; changed(); } },
      (files.includes(o.file) ? files : [o.file, ...files]).map((f) => h('option', { selected: f === o.file }, f)));
  }

  // formatPicker chooses among the formats that have names.
  function formatPicker(o) {
    const named = [...storage(o.name)?.named || []];
    if (o.format && !named.includes(o.format)) named.push(o.format);
    return h('select', { 'aria-label': `format of ${o.name}`, onchange: (e) => setFormat(o, e.target.value) },
      h('option', { value: '' }, 'the usual one'), named.map((f) => h('option', { value: f, selected: f === o.format }, f)));
  }

  // levelPicker chooses level by level, and the axes that they are of. A kind that others do not go with changes those too.
  function levelPicker(o) {
    const s = storage(o.name);
    if (!s?.combinations.length) return null;
    const levels = s.kinds.split('-');
    const write = (list, order) => setFormat(o, list.join('-') + (order.every((axis, k) => axis === k) ? '' : `[${order}]`));
    return h('details', { class: 'picker', open: opened.has(o.name), ontoggle: (e) => { if (e.target.open) opened.add(o.name); else opened.delete(o.name); } }, h('summary', {}, 'by levels'),
      levels.map((kind, k) => h('label', {}, `level ${k}`, h('select', { 'aria-label': `level ${k} of ${o.name}`, onchange: (e) => write(nearest(s.combinations, levels, k, e.target.value), s.order) },
        Object.keys(levelKinds).filter((x) => nearest(s.combinations, levels, k, x)).map((x) => h('option', { value: x, selected: x === kind }, levelKinds[x]))))),
      levels.length > 1 && h('label', {}, 'axes from the outermost', h('select', { 'aria-label': `axes of ${o.name}`, onchange: (e) => write(levels, e.target.value.split(',').map(Number)) },
        permutations(levels.length).map((p) => h('option', { value: String(p), selected: String(p) === String(s.order) }, p.join(', '))))));
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
      changed(true);
    } catch (e) { failed(e); }
  }

  // Results that have no card yet can be given a format.
  const open = results.filter((r) => !state.operands.some((o) => o.name === r.name));
  if (open.length) {
    parent.append(h('p', { class: 'row' }, open.map((r) => h('button', { onclick: () => { state.operands.push({ name: r.name }); changed(true); } }, `Store ${r.name} as…`))));
  }
}
