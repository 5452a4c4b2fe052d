// Results: as a table, a picture, a histogram. And where the time went.
import { frame, h, short } from './dom.js';
import { tableOf, widest } from './table.js';

const maxRows = 200;
const maxColumns = 40;

export function resultView(r) {
  const shape = r.shape.join('×') || 'a number';
  const heading = h('h3', {}, `${r.name}: ${shape} ${r.dtype} ${r.format}`, ' ', h('small', {}, r.dense ? '' : `${r.stored} stored, fill ${r.fill}`, r.more ? `; the first ${r.values.length} are shown` : ''));
  const section = h('section', { 'data-result': r.name }, heading);
  if (!r.shape.length) {
    section.append(h('p', { class: 'mono' }, `${r.name} = ${r.values[0] ?? r.fill}`));
    return section;
  }
  section.append(h('div', { class: 'wide' }, r.shape.length <= 2 ? grid(r) : list(r)));
  if (r.values.length > 1 && !r.values[0].includes('i')) {
    section.fill = async (going) => {
      await frame();
      if (going()) section.append(h('div', { class: 'row' }, pictures(r)));
    };
  }
  return section;
}

// element gives the value at a row and a column, undefined if it is not stored.
function elements(r) {
  const columns = r.shape[r.shape.length - 1];
  if (r.dense) return (i, j) => r.values[i * columns + j];
  const at = new Map();
  const crd = r.coords;
  r.values.forEach((v, n) => at.set(r.shape.length > 1 ? `${crd[0][n]},${crd[1][n]}` : `0,${crd[0][n]}`, v));
  return (i, j) => at.get(`${i},${j}`);
}

function grid(r) {
  const [rows, columns] = r.shape.length === 2 ? r.shape : [1, r.shape[0]];
  const value = elements(r);
  const width = Math.min(columns, maxColumns);
  const range = Array.from({ length: width }, (_, j) => j);
  const shown = Array.from({ length: Math.min(rows, maxRows) }, (_, i) => i);
  const row = (i) => [h('th', { scope: 'row' }, i), range.map((j) => {
    const v = value(i, j);
    return v === undefined ? h('td', { class: 'gap', title: `fill ${r.fill}` }, '·') : h('td', { title: v }, short(v));
  })];
  const head = [h('th', {}), range.map((j) => h('th', { scope: 'col' }, j)), columns > width && h('th', {}, '…')];
  return tableOf(shown.length, row, { cell: widest([...shown.flatMap((i) => range.map((j) => short(value(i, j) ?? ''))), columns]), label: String(rows).length }, head, rows > maxRows && `the first ${maxRows} rows of ${rows}`);
}

function list(r) {
  const coordinate = (n) => {
    if (!r.dense) return r.coords.map((c) => c[n]);
    const c = [];
    for (let axis = r.shape.length - 1, rest = n; axis >= 0; axis--) {
      c.unshift(rest % r.shape[axis]);
      rest = Math.floor(rest / r.shape[axis]);
    }
    return c;
  };
  const texts = r.values.slice(0, maxRows).map(short);
  return tableOf(texts.length, (n) => [h('th', { scope: 'row' }, coordinate(n).join(', ')), h('td', { title: r.values[n] }, texts[n])], { cell: widest(texts), label: (widest(r.shape) + 2) * r.shape.length });
}

// cividis is a scale that the colour-blind read alike (Nunez, Anderton, Renslow 2018), at five places.
const cividis = [[0, 34, 78], [65, 77, 107], [124, 123, 120], [188, 175, 111], [254, 232, 56]];

const scaleSteps = 64;
const scale = [];

function colour(x) {
  const at = Math.min(0.9999, Math.max(0, x)) * (cividis.length - 1);
  const k = Math.floor(at);
  return scale[Math.round(at * scaleSteps)] ??= cividis[k].map((c, i) => Math.round(c + (cividis[k + 1][i] - c) * (at - k)));
}

// pictures are those of a result; their numbers are made once.
function pictures(r) {
  const values = r.values.map(Number);
  return [r.shape.length <= 2 && picture(r, values), histogram(r, values)];
}

function span(values) {
  const numbers = values.filter(Number.isFinite);
  return { numbers, low: numbers.reduce((a, b) => Math.min(a, b), Infinity), high: numbers.reduce((a, b) => Math.max(a, b), -Infinity) };
}

function picture(r, values) {
  const [rows, columns] = r.shape.length === 2 ? r.shape : [1, r.shape[0]];
  const { numbers, low, high } = span(values);
  if (!numbers.length || rows * columns === 0) return null;
  const size = 400;
  const width = Math.min(columns, size);
  const height = Math.min(rows, size);
  const sum = new Float64Array(width * height);
  const count = new Uint32Array(width * height);
  const put = (i, j, v) => {
    const at = Math.floor((i * height) / rows) * width + Math.floor((j * width) / columns);
    if (Number.isFinite(v)) {
      sum[at] += v;
      count[at]++;
    }
  };
  values.forEach((v, n) => {
    if (r.dense) put(Math.floor(n / columns), n % columns, v);
    else put(r.shape.length > 1 ? r.coords[0][n] : 0, r.coords[r.coords.length - 1][n], v);
  });
  const scale = Math.max(1, Math.floor(Math.min(240 / height, 240 / width)));
  const canvas = h('canvas', { width, height, role: 'img', 'aria-label': `picture of ${r.name}, from ${low} (dark) to ${high} (light)`, style: `width:${width * scale}px;height:${height * scale}px` });
  const image = new ImageData(width, height);
  count.forEach((n, at) => {
    if (!n) return;
    const [red, green, blue] = colour(high > low ? (sum[at] / n - low) / (high - low) : 0.7);
    image.data[4 * at] = red;
    image.data[4 * at + 1] = green;
    image.data[4 * at + 2] = blue;
    image.data[4 * at + 3] = 255;
  });
  canvas.getContext('2d').putImageData(image, 0, 0);
  return h('figure', {}, canvas, h('figcaption', { class: 'hint' }, `${short(String(low))} is dark, ${short(String(high))} light; blank is not stored`));
}

function histogram(r, values) {
  const { numbers, low, high } = span(values);
  if (numbers.length < 2) return null;
  const bins = Math.min(20, Math.max(4, Math.ceil(Math.sqrt(numbers.length))));
  const counts = Array(bins).fill(0);
  for (const x of numbers) counts[Math.min(bins - 1, Math.floor(((x - low) / (high - low || 1)) * bins))]++;
  const most = Math.max(...counts);
  return h('figure', {}, h('svg', { width: 260, height: 120, role: 'img', 'aria-label': `histogram of the values of ${r.name}: ${counts.join(', ')}` },
    counts.map((n, k) => h('rect', { class: 'bar', x: (k * 260) / bins + 1, y: 118 - (112 * n) / most, width: 260 / bins - 2, height: (112 * n) / most }, h('title', {}, `${n}`)))),
  h('figcaption', { class: 'hint' }, `values from ${short(String(low))} to ${short(String(high))}${r.dense ? '' : ', those that are stored'}; the highest bar has ${most}`));
}

// parts are the steps of a run with what is in each: stages, and loops in those, as { row, name, kind, start, took, … }.
function parts(p) {
  const out = [];
  let measured = 0;
  let estimated = 0;
  for (const s of p.steps) {
    out.push({ row: 0, kind: 'estimate', name: `${s.result}, estimated`, start: estimated, took: s.estimated ?? 0 },
      { row: 1, kind: 'flame', name: s.what, start: measured, took: s.took, step: s });
    let at = measured;
    for (const t of s.stages) {
      out.push({ row: 2, kind: 'flame stage', name: t.name, start: at, took: t.took, stage: t });
      const next = [at]; // where the next loop at each depth begins
      for (const l of t.loops) {
        out.push({ row: 3 + l.depth, kind: 'flame loop', name: l.text, start: next[l.depth], took: l.took, loop: l, unknown: t.looks === 0 });
        next[l.depth + 1] = next[l.depth];
        next[l.depth] += l.took;
      }
      at += t.took;
    }
    measured += s.took;
    estimated += s.estimated ?? 0;
  }
  return out;
}

// timesView draws what the steps of a run took, one behind the other, with the stages of each below and their loops below those, and above
// what was estimated. Point at a loop, or go to its row, to see what of the program it was made for.
export function timesView(p, editor) {
  const list = parts(p);
  const end = Math.max(...list.map((b) => b.start + b.took), 1e-6);
  const width = 900;
  const x = (t) => (t / end) * width;
  const root = h('section', {});
  const show = (b) => {
    for (const e of root.querySelectorAll('.now')) e.classList.remove('now');
    for (const e of b ? root.querySelectorAll(`[data-n="${list.indexOf(b)}"]`) : []) e.classList.add('now');
    editor.light(b?.loop && b.loop.place >= 0 ? p.places[b.loop.place].spans : []);
  };
  const pointed = (b) => ({ 'data-n': list.indexOf(b), onpointerenter: () => show(b), onpointerleave: () => show(null) });
  const label = (name, space) => (name.length * 6.6 < space ? name : space > 40 ? `${name.slice(0, Math.floor(space / 6.6) - 1)}…` : '');
  const bar = (b) => h('g', { 'data-bar': b.kind, ...pointed(b) },
    h('rect', { class: b.kind, x: x(b.start), y: b.row * 24, width: Math.max(1, x(b.took)), height: 22 }, h('title', {}, `${b.name}: ${fine(b.took)} ms`)),
    h('text', { class: 'left', x: x(b.start) + 3, y: b.row * 24 + 11 }, label(b.name, x(b.took))));
  const fine = (v) => (v === undefined ? '' : v === 0 ? '0' : v >= 100 ? v.toFixed(0) : Number(v.toPrecision(3)).toString());
  const row = (b) => {
    if (b.step) return h('tr', pointed(b), h('th', { scope: 'row', class: 'mono' }, b.name), h('td', {}, fine(b.took)), h('td', {}, fine(b.step.estimated)), h('td', {}, b.step.entries), h('td', {}, b.step.expected?.toFixed(0)), h('td', {}), h('td', {}));
    if (b.stage) return h('tr', pointed(b), h('th', { scope: 'row', class: 'in' }, `stage ${b.name}`), h('td', {}, fine(b.took)), [0, 1, 2, 3, 4].map(() => h('td', {})));
    return h('tr', { tabindex: '0', onfocus: () => show(b), onblur: () => show(null), ...pointed(b) }, h('th', { scope: 'row', class: 'in mono', style: `padding-left:${b.row - 1}em` }, b.name),
      h('td', {}, b.unknown ? '' : fine(b.took)), h('td', {}), h('td', {}), h('td', {}), h('td', {}, b.loop.visits), h('td', {}, b.loop.iterations));
  };
  const drawn = list.filter((b) => b.row < 2 || b.took > 0);
  const height = 24 * (1 + Math.max(2, ...drawn.map((b) => b.row)));
  const loops = list.some((b) => b.loop);
  root.append(h('p', {}, `compiled in ${fine(p.compile)} ms, ran in ${fine(p.run)} ms`),
    h('div', { class: 'wide' }, h('svg', { width, height, role: 'img', 'aria-label': 'flame chart: what was estimated, the steps of the run, their stages and loops; the table has the numbers' }, drawn.map(bar))),
    h('p', { class: 'hint' }, 'Above what was estimated, by costs that are built in, for one thread; then what the steps took, their stages',
      loops ? ', and the loops of those: their part of the stage by where looks at further runs, until a tenth of a second is over, found them. Runs of microseconds are mostly outside of loops.' : '. No loop was reached, or the engine cannot be looked at.'),
    h('div', { class: 'wide' }, h('table', { class: 'times' }, h('thead', {}, h('tr', {}, ['step, stage, loop', 'ms', 'estimated ms', 'entries', 'estimated entries', 'visits', 'iterations'].map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', {}, list.filter((b) => b.row > 0).map(row)))),
    ...(p.guessed.length > 0 ? [h('p', { class: 'hint' }, `Guessed are statistics of ${p.guessed.join(', ')}.`)] : []), ...p.warnings.map((w) => h('p', {}, `warning: ${w}`)));
  return root;
}
