// Watching a run: step by step, forwards and backwards. What memory holds after a step follows from the steps up to it.
import { h, light, patch, reveal, short } from './dom.js';
import { codeLines, listing, placesOf } from './stages.js';
import { cellsOf, widest } from './table.js';
import { lightEntries, storageDrawing } from './storage.js';

const speeds = { slow: 800, walking: 300, quick: 80, fast: 20 };
const roles = { output: 'result', inout: 'updated', temp: 'temporary', scratch: 'workspace', input: 'operand' };
const shownCells = 64; // of an array, around what is read or written

// stateAt is what variables and buffers hold after n steps, and what the last step touched.
export function stateAt(s, n) {
  const variables = new Map();
  const buffers = s.programs.map(() => new Map());
  const reads = s.programs.map(() => new Map());
  let program = 0;
  for (const step of s.steps.slice(0, n)) {
    if (step.program !== program) variables.clear();
    program = step.program;
    if (step.var) variables.set(step.var, step.value);
    for (const [buffer, index] of step.reads || []) reads[program].set(buffer, index);
    if (step.op !== 'store') continue;
    if (!buffers[program].has(step.buffer)) buffers[program].set(step.buffer, new Map());
    buffers[program].get(step.buffer).set(step.index, step.value);
  }
  return { program, variables, buffers, reads, last: s.steps[n - 1] };
}

function sentence(s, step) {
  if (!step) return 'Before the first step.';
  const buffer = step.buffer >= 0 ? s.programs[step.program].buffers[step.buffer] : null;
  switch (step.op) {
    case 'for': return `The loop of ${step.var} is at ${step.value}.`;
    case 'while': return 'The loop goes on.';
    case 'if': return `The condition is ${step.value}.`;
    case 'set': return `${step.var} becomes ${short(step.value)}.`;
    default: return `${roles[buffer.role]} ${buffer.name}[${step.index}] becomes ${short(step.value)}.`;
  }
}

export async function watchView(s, storages, editor) {
  let at = 0;
  let timer = null;
  const ran = s.programs.map((_, p) => new Set(s.steps.filter((t) => t.program === p).map((t) => t.line)));
  const counts = s.programs.map((_, p) => new Map(s.loops.filter((l) => l.program === p).map((l) => [l.line, l])));
  const listings = [];
  for (const [k, p] of s.programs.entries()) {
    listings.push(h('div', {}));
    await listing(listings[k], thatRan(p, ran[k], counts[k]));
  }
  const drawings = storages.filter((t) => t.levels.length && t.entries.length).map((t) => ({ storage: t, element: storageDrawing(t, ['tree', 'matrix']) }));
  const code = h('pre', { tabindex: '0', 'aria-label': 'the loop program; only lines that ran are shown' });
  const words = h('p', { role: 'status', 'aria-live': 'polite', id: 'step-words' });
  const memory = h('div', {});
  const arrays = new Map(); // as they are drawn: by name, with what they were made of
  const slider = h('input', { type: 'range', min: 0, max: s.steps.length, value: 0, 'aria-label': 'step', oninput: () => go(Number(slider.value)) });
  const speed = h('select', { 'aria-label': 'speed' }, Object.keys(speeds).map((k) => h('option', { selected: k === 'walking' }, k)));
  const play = h('button', { onclick: () => (timer ? stop() : start()) }, 'Play');
  const button = (label, name, to) => h('button', { 'aria-label': name, title: name, onclick: () => { stop(); go(to()); } }, label);
  const root = h('div', {
    id: 'watch',
    onkeydown: (e) => {
      if (e.target.matches('input, select, textarea')) return;
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: s.steps.length }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      stop();
      go(to);
    },
  },
  h('div', { class: 'player', role: 'group', 'aria-label': 'Steps' }, button('|◀', 'first step', () => 0), button('◀', 'step back', () => at - 1), play,
    button('▶', 'step on', () => at + 1), button('▶|', 'last step', () => s.steps.length), slider, speed),
  words, s.more && h('p', { class: 'hint' }, `Only the first ${s.steps.length} steps are told.`),
  h('div', { class: 'watch' }, h('div', {}, code, visits(s)), h('div', {}, memory, drawings.map((d) => d.element))));

  function go(to) {
    at = Math.max(0, Math.min(s.steps.length, to));
    const state = stateAt(s, at);
    slider.value = at;
    words.textContent = `Step ${at} of ${s.steps.length}. ${sentence(s, state.last)}`;
    if (code.dataset.program !== String(state.program)) {
      code.dataset.program = state.program;
      code.replaceChildren(...listings[state.program] ? [listings[state.program]] : []);
    }
    for (const line of code.querySelectorAll('.now')) line.classList.remove('now');
    const now = state.last && code.querySelector(`[data-line="${state.last.line}"]`);
    editor.light(now ? placesOf(now).flatMap((p) => s.places[p].spans) : []);
    if (now) {
      now.classList.add('now');
      const top = now.getBoundingClientRect().top - code.getBoundingClientRect().top;
      if (top < 0 || top > code.clientHeight - 40) code.scrollTop += top - code.clientHeight / 2;
    }
    patch(memory, [variablesOf(state), ...buffersOf(s, state, storages, arrays)]);
    for (const { storage, element } of drawings) lightReads(s, state, storage, element);
    reveal(root);
    if (at === s.steps.length) stop();
  }

  function start() {
    if (at === s.steps.length) at = 0;
    play.textContent = 'Pause';
    const tick = () => {
      if (!root.isConnected) return stop();
      timer = setTimeout(tick, speeds[speed.value]);
      go(at + 1);
    };
    timer = setTimeout(tick, 0);
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    play.textContent = 'Play';
  }

  go(0);
  return root;
}

// thatRan are the lines of a program that ran, with how often loops did; what did not run is one line.
function* thatRan(p, ran, counts) {
  let skipped = 0;
  let k = 0;
  const rest = () => (skipped ? [h('span', { class: 'l skip' }, `  … ${skipped} lines`)] : []);
  for (const line of codeLines(p.text, p.spans, p.origins)) {
    const text = line.textContent;
    if (!ran.has(++k) && !/^\s*(stage|func) /.test(text)) {
      if (text.trim() !== '}') skipped++;
      continue;
    }
    yield* rest();
    skipped = 0;
    line.dataset.line = k;
    const c = counts.get(k);
    if (c) line.prepend(h('span', { class: 'count' }, c.dense ? `${c.visits}× of ${c.dense}` : `${c.visits}×`));
    yield line;
  }
  yield* rest();
}

// visits is the table of how often loops ran, beside what a dense nest would do.
function visits(s) {
  const rows = s.loops.filter((l) => l.dense);
  if (!rows.length) return null;
  const several = s.programs.length > 1;
  const names = s.programs.map((p) => /^program (\S+)/.exec(p.text)?.[1]);
  return h('section', {}, h('h3', {}, 'Visits'), h('table', {},
    h('thead', {}, h('tr', {}, [...several ? ['for'] : [], 'loop of', 'line', 'visits', 'dense', 'of it'].map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', {}, rows.map((l) => h('tr', {}, several && h('td', { class: 'mono' }, names[l.program]), h('td', { class: 'mono' }, l.index), h('td', {}, l.line), h('td', {}, l.visits), h('td', {}, l.dense), h('td', {}, `${Math.round((100 * l.visits) / l.dense)} %`))))));
}

function variablesOf(state) {
  const own = state.last?.var;
  return h('div', { class: 'array wrap' }, h('b', {}, 'variables'), [...state.variables].slice(-14).map(([name, value]) =>
    h('span', { class: `cell mono${name === own ? ' write' : ''}` }, `${name} = ${short(value)}`)));
}

// contents are the elements of an operand's array, which its storage tells.
function contents(name, storages) {
  for (const t of storages) {
    if (name === `${t.name}_vals`) return t.values;
    const m = name.startsWith(t.name) && /^(\d+)_(pos|crd)$/.exec(name.slice(t.name.length));
    if (m && t.levels[m[1]]?.[m[2]]) return t.levels[m[1]][m[2]].map(String);
  }
  return null;
}

// written are the elements of an array that a statement before this one made.
function written(s, state, name) {
  for (let p = state.program - 1; p >= 0; p--) {
    const id = s.programs[p].buffers.findIndex((b) => b.name === name && b.role !== 'input');
    if (id >= 0) return state.buffers[p].get(id) || [];
  }
  return [];
}

function buffersOf(s, state, storages, drawn) {
  const program = s.programs[state.program];
  if (!program) return [];
  const order = ['output', 'inout', 'scratch', 'temp', 'input'];
  return order.flatMap((role) => program.buffers.map((b, id) => ({ ...b, id })).filter((b) => b.role === role)).map((b) => {
    const stored = state.buffers[state.program].get(b.id);
    const before = b.role === 'input' || b.role === 'inout' ? contents(b.name, storages)?.entries() || written(s, state, b.name) : [];
    const cells = new Map(before);
    for (const [i, v] of stored || []) cells.set(i, v);
    const read = state.reads[state.program].get(b.id);
    if (!cells.size) return null;
    const write = state.last?.op === 'store' && state.last.buffer === b.id ? state.last.index : -1;
    const list = [...cells].sort((x, y) => x[0] - y[0]);
    const focus = Math.max(0, list.findIndex(([i]) => i === (write >= 0 ? write : read)) - shownCells / 2);
    const texts = list.slice(focus, focus + shownCells).map(([i, v]) => [i, short(v)]);
    const key = JSON.stringify([b.role, texts, write, read, list.length]);
    if (drawn.get(b.name)?.key === key) return drawn.get(b.name).element;
    const name = [b.name, h('br'), h('small', {}, roles[b.role], list.length > shownCells && `, ${list.length} cells`)];
    const element = cellsOf(name, texts.map(([i, v]) => h('span', {
      class: `cell mono${i === write ? ' write' : ''}${i === read ? ' lit' : ''}`, title: `${b.name}[${i}]`,
    }, v)), widest(texts.map(([, v]) => v)), { 'data-buffer': b.name, title: `${roles[b.role]}, ${b.elem}` });
    drawn.set(b.name, { key, element });
    return element;
  }).filter(Boolean);
}

// lightReads shows in the drawing of an operand where iterators are.
function lightReads(s, state, storage, element) {
  const nodes = new Set();
  let value = -1;
  for (const [id, index] of state.reads[state.program] || []) {
    const name = s.programs[state.program].buffers[id].name;
    if (name === `${storage.name}_vals`) value = index;
    const m = name.startsWith(storage.name) && /^(\d+)_crd$/.exec(name.slice(storage.name.length));
    if (m) nodes.add(`${m[1]}:${index}`);
  }
  if (nodes.size) light(element, '[data-e],[data-n]', (e) => nodes.has(e.dataset.n) || e.dataset.e === String(value));
  else lightEntries(element, storage, value >= 0 ? [value] : []);
}
