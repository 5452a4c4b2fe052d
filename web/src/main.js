// The page: a program and its operands on the left, what becomes of them on the right.
import { connect } from './ask.js';
import { $, breath, focused, h, light, put, toast } from './dom.js';
import { Editor } from './editor.js';
import { fromFragment, toFragment } from './link.js';
import { fresh, kindOf, operandCards, take } from './operands.js';
import { resultView, timesView } from './results.js';
import { stagesView } from './stages.js';
import { storageDrawing } from './storage.js';
import { watchView } from './watch.js';

const compiler = connect();
const recorded = compiler.state !== undefined;
let about = { gallery: [], functions: [], stages: [], native: false };
let names = { symbols: [], operands: [], results: [] };
let formats = {}; // by operand, as its storage says
let state = { program: '', operands: [], options: {}, tab: 'result', stages: ['plan', 'lattice', 'loops'] };
let version = 0; // of the state; answers to older questions are dropped

const tabs = { result: 'Result', storage: 'Storage', stages: 'Stages', watch: 'Watch it run', grad: 'Gradient', times: 'Times', copy: 'Copy as' };

const question = (op, more) => ({ op, program: state.program, operands: state.operands, options: state.options, ...more });

const editor = new Editor($('#editor'), {
  text: '', readonly: recorded, words: () => [...about.functions, ...names.symbols.map((s) => ({ word: s.name, kind: s.kind }))],
  changed: (text) => {
    if (text === state.program) return;
    $('#gallery').value = ''; // it is none of those any more
    state.program = text;
    refresh();
  },
  run: () => { state.program = editor.text; state.tab = 'result'; refresh(); },
});

function showFailure(parent, e) {
  parent.replaceChildren(h('p', { class: 'error', role: 'alert' }, e.message));
}

// refresh looks at the program again: what is wrong with it, which operands it has, and the view that is open.
async function refresh() {
  const mine = ++version;
  compiler.forget?.();
  // Asked at once, not after the check: the compiler answers in order, and need not wait for what the page draws in between.
  const content = views[state.tab]();
  content.catch(() => {}); // show says it, unless something newer is shown
  try {
    const check = await compiler.ask(question('check'));
    if (mine !== version) return;
    names = check;
    if (fit()) return refresh();
    editor.show(check);
    await breath();
    if (mine !== version) return;
    showDiagnostics(check.diagnostics);
    await drawOperands();
  } catch (e) {
    if (mine !== version) return;
    editor.show({ diagnostics: e.diagnostics || [], spans: [] });
    showDiagnostics(e.diagnostics?.length ? e.diagnostics : [{ severity: 'error', message: e.message, code: '' }]);
  }
  save();
  await show(mine, content);
}

// fit gives the names that the program reads an operand, and takes away those that it no longer has.
function fit() {
  if (recorded || !names.symbols.length) return false;
  const before = state.operands.length;
  const known = new Set([...names.operands, ...names.results].map((n) => n.name));
  const read = new Set(names.operands.map((n) => n.name));
  state.operands = state.operands.filter((o) => known.has(o.name) && (read.has(o.name) || kindOf(o) === 'result'));
  let added = 0;
  for (const n of names.operands) {
    if (!state.operands.some((o) => o.name === n.name)) state.operands.push(fresh(n, state.operands.length + ++added));
  }
  return added > 0 || state.operands.length !== before;
}

// carets are the line that a diagnostic is about, with what it points at; nothing if that is not known, or the line is no text to read.
function carets({ from, to }) {
  if (!(to > from)) return null;
  const begin = state.program.lastIndexOf('\n', from - 1) + 1;
  const line = state.program.slice(begin).split('\n', 1)[0];
  if (line.length > 200) return null;
  return h('pre', { 'aria-hidden': 'true' }, `${line}\n${' '.repeat(from - begin)}${'^'.repeat(Math.min(to, begin + line.length) - from)}`);
}

const mostDiagnostics = 50;

function showDiagnostics(list) {
  $('#diagnostics').replaceChildren(...list.slice(0, mostDiagnostics).map((d) => h('div', { class: d.severity === 'error' ? 'error' : '' },
    `${d.severity}${d.code ? ` ${d.code}` : ''}: ${d.message}`, carets(d), d.hint ? h('div', {}, `hint: ${d.hint}`) : null,
    (d.fixes || []).map((f) => h('div', {}, h('button', { onclick: () => editor.fix(f) }, f.means), h('code', {}, f.text))))));
}

async function drawOperands() {
  const box = $('#operands');
  const back = focused(box);
  await operandCards(box, state, {
    storage: (name) => formats[name], rank: (name) => names.operands.find((n) => n.name === name)?.rank ?? -1, samples: about.samples || [], files: about.files || [], results: recorded ? [] : names.results,
    changed: () => refresh(), failed: (e) => toast(e.message), readonly: recorded,
  });
  back();
}

const sources = () => state.operands.filter((o) => kindOf(o) !== 'result' && kindOf(o) !== 'number');

// described are the operands that formats are of.
let described = '';
const description = () => JSON.stringify(state.operands.map((o) => ({ ...o, data: o.data?.length })));

async function storages() {
  const now = description();
  const list = await Promise.all(sources().map((o) => compiler.ask(question('storage', { name: o.name }))));
  for (const { name, formats: named, ...s } of list) formats[name] = { ...s, named, rank: s.shape.length };
  described = now;
  return list;
}

// views make what is shown for each tab.
const views = {
  async result() {
    const e = await compiler.ask(question('eval'));
    return [...e.results.map(resultView), ...(e.conversions || []).map((c) => h('p', { class: 'hint' }, `converted first: ${c}`)),
      h('p', { class: 'hint' }, `compiled in ${e.compile.toFixed(1)} ms, ran in ${e.run.toFixed(2)} ms, engine ${about.engine}`)];
  },
  async storage() {
    const list = await storages();
    await drawOperands();
    return [h('p', { class: 'hint' }, 'Point at an entry, or go to it with the arrow keys, to see it in the tree, the arrays and the matrix.'), ...list.map((s) => storageDrawing(s))];
  },
  async stages() {
    const e = await compiler.ask(question('explain'));
    return [await stagesView(e, state.stages, (name) => {
      state.stages = state.stages.includes(name) ? state.stages.filter((n) => n !== name) : [...state.stages, name];
      refresh();
    }, editor)];
  },
  async watch() {
    const [steps, list] = await Promise.all([compiler.ask(question('steps')), storages()]);
    await drawOperands();
    return [await watchView(steps, list, editor), h('h3', {}, 'It ends in'), ...steps.results.map(resultView)];
  },
  async grad() {
    const choices = sources().map((o) => h('button', { onclick: () => { state.wrt = o.name; refresh(); } }, `by ${o.name}`));
    const out = [h('p', {}, 'The gradient of the last result, summed over its elements: ', choices)];
    if (!sources().some((o) => o.name === state.wrt)) return out;
    const g = await compiler.ask(question('grad', { name: state.wrt }));
    return [...out, h('h3', {}, 'is the program'), h('pre', {}, g.source), resultView(g.result)];
  },
  async times() {
    const p = await compiler.ask(question('profile'));
    return [!about.native && h('p', { class: 'hint' }, 'These are times of the interpreter, by the clock of a page, which tells tenths of a millisecond. "lacuna serve" measures machine code.'), timesView(p, editor)];
  },
  async copy() {
    const c = await compiler.ask(question('copy'));
    return Object.entries({ 'Command line': c.shell, Go: c.go, C: c.c }).map(([label, text]) => h('section', {}, h('h3', {}, label, ' ',
      h('button', { onclick: () => navigator.clipboard.writeText(text).then(() => toast('Copied'), () => toast('The browser does not let this page copy')) }, 'Copy')), h('pre', { class: 'wide' }, text)));
  },
};

// show fills the view with its content when that is there.
async function show(mine, content) {
  drawTabs();
  const view = $('#view');
  view.setAttribute('aria-busy', 'true');
  editor.light([]);
  light(document, '[data-s]', () => false);
  try {
    const parts = (await content).filter(Boolean);
    const back = focused(view);
    await put(view, parts, () => mine === version);
    back();
  } catch (e) {
    if (mine === version) showFailure(view, e);
  }
  if (mine === version) {
    view.removeAttribute('aria-busy');
    view.dataset.shown = state.tab; // for tests: the view is that of the state
    view.dataset.version = mine;
    if (described !== description()) storages().then(drawOperands, () => {}); // the view says what is wrong with them
  }
}

function drawTabs() {
  const box = $('#tabs');
  if (!box.children.length) {
    box.append(...Object.entries(tabs).map(([key, label]) => h('button', { role: 'tab', id: `tab-${key}`, 'aria-controls': 'view', onclick: () => open(key) }, label)));
    box.addEventListener('keydown', (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      const keys = Object.keys(tabs);
      open(keys[(keys.indexOf(state.tab) + step + keys.length) % keys.length]);
      $(`#tab-${state.tab}`).focus();
    });
  }
  for (const b of box.children) {
    const on = b.id === `tab-${state.tab}`;
    b.setAttribute('aria-selected', on);
    b.tabIndex = on ? 0 : -1;
  }
  $('#view').setAttribute('aria-labelledby', `tab-${state.tab}`);
}

function open(tab) {
  state.tab = tab;
  save();
  compiler.forget?.();
  return show(++version, views[state.tab]());
}

// Browsers take addresses of up to two million characters; text that is much longer is not worth the try.
const maxFragment = 1 << 20;
const fragmentOf = async () => (state.operands.some((o) => o.data?.length > 16 * maxFragment) ? null : toFragment(state));
const fits = (fragment) => fragment !== null && fragment.length < maxFragment;

let saving;
function save() {
  if (recorded) return;
  clearTimeout(saving);
  saving = setTimeout(async () => {
    const fragment = await fragmentOf();
    if (fits(fragment)) history.replaceState(null, '', `#${fragment}`);
  }, 300);
}

// load begins with a program and its operands.
function load(next) {
  state = { ...state, wrt: null, options: {}, ...structuredClone(next) };
  if (!views[state.tab]) state.tab = 'result';
  formats = {};
  described = '';
  editor.text = state.program;
  drawOptions();
  return refresh();
}

// drawOptions are the choices of how the program runs.
function drawOptions() {
  const set = (key, value) => {
    if (value) state.options[key] = value;
    else delete state.options[key];
    refresh();
  };
  const box = (key, label, title) => h('label', { title }, h('input', { type: 'checkbox', checked: Boolean(state.options[key]), disabled: recorded, onchange: (e) => set(key, e.target.checked) }), ` ${label}`);
  $('#options').replaceChildren(
    box('strict', 'strict IEEE', '0·inf is nan, also where the 0 is not stored'),
    box('asWritten', 'as written', 'not in an order that costs less'),
    h('label', { class: 'grow' }, 'schedule ', h('input', {
      value: (state.options.schedule || []).join('; '), placeholder: 'such as order(j, i)', disabled: recorded, spellcheck: 'false',
      onchange: (e) => { const list = e.target.value.split(';').map((x) => x.trim()).filter(Boolean); set('schedule', list.length ? list : null); },
    })));
}

function fillGallery() {
  const groups = [...new Set(about.gallery.map((e) => e.group))];
  $('#gallery').append(h('option', { value: '' }, 'choose…'), ...groups.map((g) => h('optgroup', { label: g },
    about.gallery.map((e, i) => (e.group === g ? h('option', { value: i, title: e.about }, e.title) : null)))));
  $('#gallery').addEventListener('change', (e) => {
    if (e.target.value === '') return;
    const { program, operands, about: words } = about.gallery[e.target.value];
    toast(words);
    load({ program, operands });
  });
}

// A file that is dropped on the page goes to the first operand that takes one.
addEventListener('dragover', (e) => e.preventDefault());
addEventListener('drop', async (e) => {
  e.preventDefault();
  const f = e.dataTransfer.files[0];
  const o = sources()[0];
  if (!f || !o || recorded) return;
  try {
    await take(o, f);
    await refresh();
  } catch (err) { toast(err.message); }
});

addEventListener('hashchange', start);
$('#run').addEventListener('click', () => { state.program = editor.text; open('result').then(refresh); });
$('#link').addEventListener('click', async () => {
  const fragment = await fragmentOf();
  if (!fits(fragment)) return toast('The operands are too large for a link');
  const url = `${location.href.split('#')[0]}#${fragment}`;
  history.replaceState(null, '', url);
  navigator.clipboard.writeText(url).then(() => toast('The link is copied: it holds the program and its operands'), () => toast('The link stands in the address'));
});
$('#theme').addEventListener('click', () => {
  const dark = (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
});

async function start() {
  if (recorded) {
    for (const e of [$('header label'), $('#left > .hint')]) e.remove(); // there is nothing to choose, and nobody to read a file
    return load(compiler.state);
  }
  if (location.hash.length > 1) {
    try {
      return await load(await fromFragment(location.hash.slice(1)));
    } catch (e) { toast(`The link cannot be read: ${e.message}`); }
  }
  $('#gallery').value = '0';
  return load(about.gallery[0]);
}

drawTabs();
document.documentElement.dataset.painted = String(Math.round(performance.now()));
try {
  about = await compiler.ask({ op: 'about' });
  fillGallery();
  document.body.append(h('datalist', { id: 'types' }, about.functions.filter((w) => w.kind === 'type').map((w) => h('option', { value: w.word }))));
  await start();
} catch (e) {
  showFailure($('#view'), e);
}
document.documentElement.dataset.ready = String(Math.round(performance.now()));
