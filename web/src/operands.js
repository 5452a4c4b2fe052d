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

// levels are the parts of a format that a picker by levels has, if it is made of such.
const levelKinds = { C: 'dense, pointers below', DC: 'compressed, pointers below', S: 'sparse', D: 'dense' };

export function operandCards(parent, state, { formats, files, results, changed, failed }) {
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
        field('density', o.random.density, (v) => { if (v === '') delete o.random.density; else o.random.density = Number(v); }, { placeholder: 'dense', inputmode: 'decimal' }),
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
      h('select', { 'aria-label': `what ${o.name} is`, onchange: (e) => { if (e.target.value === 'data' && !files.length) picker.click(); else { change(o, e.target.value); if (e.target.value === 'data') o.file = files[0]; changed(true); } } },
        Object.entries(kinds).filter(([k]) => (k === 'result') === (kind === 'result')).map(([k, label]) => h('option', { value: k, selected: k === kind }, label))),
      inputs),
    kind === 'text' && h('textarea', {
      rows: Math.min(8, o.text.split('\n').length + 1), 'aria-label': `elements of ${o.name}; a dot is not stored`, spellcheck: 'false',
      onchange: (e) => { o.text = e.target.value; changed(); },
    }, o.text),
    kind !== 'number' && h('div', { class: 'levels' },
      h('label', {}, 'format', formatPicker(o)),
      field('type', o.dtype, (v) => { if (v) o.dtype = v; else delete o.dtype; }, { placeholder: 'f64', list: 'types' }),
      kind !== 'result' && field('fill', o.fill, (v) => { if (v) o.fill = v; else delete o.fill; }, { placeholder: '0' })));
    const picker = h('input', { type: 'file', hidden: true, 'aria-hidden': 'true', tabindex: '-1', onchange: () => drop(o, picker.files[0]) });
    box.append(picker);
    return box;
  }

  function fileChoice(o) {
    return h('select', { 'aria-label': `file of ${o.name}`, onchange: (e) => { o.file = e.target.value; changed(); } },
      files.map((f) => h('option', { selected: f === o.file }, f)));
  }

  // formatPicker chooses among the formats of the rank: named ones, and level by level.
  function formatPicker(o) {
    const list = formats(o.name);
    const set = (v) => { if (v) o.format = v; else delete o.format; changed(); };
    const named = list.filter((f) => !f.includes('-'));
    const levels = list.filter((f) => f.includes('-'));
    const option = (f) => h('option', { value: f, selected: f === (o.format || '') }, f || 'the usual one');
    if (o.format && !list.includes(o.format)) named.push(o.format);
    return h('select', { 'aria-label': `format of ${o.name}`, onchange: (e) => set(e.target.value) }, option(''),
      h('optgroup', { label: 'named' }, named.map(option)),
      h('optgroup', { label: 'by levels' }, levels.map((f) => {
        const e = option(f);
        e.title = f.split('-').map((l, i) => `level ${i}: ${levelKinds[l] || l}`).join(', ');
        return e;
      })));
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
