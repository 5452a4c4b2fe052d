// The stages side by side. Point at a line, or go to it with the arrow keys: the places of the program that it comes from light up in
// the editor, and so do the lines of other stages that come from them too. Point at a word: whatever is about that symbol does.
import { breath, h, light } from './dom.js';

// codeLines are the lines of a text as elements, with the spans of symbols inside, and the places of the program that they come from.
export function* codeLines(text, spans, origins = []) {
  const places = new Map();
  for (const o of origins) places.set(o.line, [...places.get(o.line) || [], o.place]);
  let number = 0;
  let from = 0;
  let next = 0;
  for (const line of text.split('\n')) {
    const to = from + line.length;
    const parts = [];
    let at = from;
    while (next < spans.length && spans[next].from < to) {
      const s = spans[next++];
      parts.push(text.slice(at, s.from), h('span', { 'data-s': s.symbol, class: `c${s.symbol % 8}` }, text.slice(s.from, s.to)));
      at = s.to;
    }
    parts.push(text.slice(at, to));
    yield h('span', { class: 'l', 'data-p': places.get(++number)?.join(' ') }, parts);
    from = to + 1;
  }
}

// A part of a listing has so many lines. The browser lays out those parts that are in view.
const partLines = 40;

// listing puts lines into an element.
export async function listing(parent, lines) {
  let part;
  for (const line of lines) {
    if (!part || part.children.length === partLines) {
      await breath();
      parent.append(part = h('span', { class: 'part' }));
    }
    part.append(line);
    part.style.containIntrinsicHeight = `auto ${1.45 * part.children.length}em`;
  }
}

const symbolsOf = (line) => new Set([...line.querySelectorAll('[data-s]')].map((e) => e.dataset.s));

export const placesOf = (line) => (line.dataset.p ? line.dataset.p.split(' ').map(Number) : []);

const none = { symbols: new Set(), places: [] };

export async function stagesView(explanation, shown, toggle, editor) {
  const root = h('div', {});
  const pinned = new Set();
  const legend = h('div', { class: 'legend row', role: 'group', 'aria-label': 'Symbols' }, 'Light up: ', explanation.symbols.map((s, i) => h('button', {
    class: `mono c${i % 8}`, 'aria-pressed': 'false',
    onclick: (e) => {
      if (!pinned.delete(String(i))) pinned.add(String(i));
      e.currentTarget.setAttribute('aria-pressed', pinned.has(String(i)));
      show({ symbols: pinned, places: [] });
    },
  }, `${s.name} (${s.kind})`)));
  const boxes = h('div', { class: 'row', role: 'group', 'aria-label': 'Stages' }, 'Show: ', explanation.stages.map((s) => h('label', {},
    h('input', { type: 'checkbox', checked: shown.includes(s.name), onchange: () => toggle(s.name) }), ` ${s.name}`)));
  const columns = h('div', { class: 'stages' });
  for (const s of explanation.stages.filter((x) => shown.includes(x.name))) {
    const code = h('pre', { tabindex: '0', 'aria-label': `stage ${s.name}; arrow keys go through its lines`, onkeydown: (e) => move(e) });
    await listing(code, codeLines(s.text, s.spans, s.origins));
    columns.append(h('article', { class: 'stage', 'data-stage': s.name }, h('h3', { title: s.about }, s.name, ' ', h('small', {}, s.about)), code));
  }
  root.append(legend, boxes, columns);
  if (explanation.conversions.length) root.append(h('h3', {}, 'Converted before the loops run'), h('ul', {}, explanation.conversions.map((c) => h('li', {}, c))));

  // show lights words of symbols, and the lines that come from one of the places or, where there are none, have all the symbols.
  function show({ symbols, places }) {
    light(document, '[data-s]', (e) => symbols.has(e.dataset.s));
    light(columns, '.l', (line) => {
      if (places.length) return placesOf(line).some((p) => places.includes(p));
      if (!symbols.size) return false;
      const own = symbolsOf(line);
      return [...symbols].every((s) => own.has(s));
    });
    editor.light(places.flatMap((p) => explanation.places[p].spans));
  }

  // about is what a line, or a word in it, is about.
  function about(line, word) {
    const places = placesOf(line);
    if (word) return { symbols: new Set([word.dataset.s]), places: places.filter((p) => explanation.places[p].symbol === Number(word.dataset.s)) };
    return { symbols: new Set([...symbolsOf(line), ...places.map((p) => String(explanation.places[p].symbol))]), places };
  }

  // move goes from line to line.
  function move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const lines = [...event.currentTarget.querySelectorAll('.l')];
    if (!step || !lines.length) return;
    event.preventDefault();
    const at = lines.findIndex((l) => l.classList.contains('now'));
    lines[at]?.classList.remove('now');
    const line = lines[Math.max(0, Math.min(lines.length - 1, at + step))];
    line.classList.add('now');
    line.scrollIntoView({ block: 'nearest' });
    show(about(line));
  }

  columns.addEventListener('pointerover', (event) => {
    const line = event.target.closest('.l');
    show(line ? about(line, event.target.closest('[data-s]')) : { symbols: pinned, places: [] });
  });
  columns.addEventListener('pointerleave', () => show({ symbols: pinned, places: [] }));
  // What one points at in the program lights up here.
  editor.pointed = (offset) => {
    if (!root.isConnected) return;
    const size = ([from, to]) => to - from;
    const hits = explanation.places.flatMap((p, i) => p.spans.filter(([from, to]) => offset >= from && offset < to).map((s) => ({ i, size: size(s) }))).sort((a, b) => a.size - b.size);
    show(hits.length ? { symbols: new Set([String(explanation.places[hits[0].i].symbol)]), places: hits.filter((x) => x.size === hits[0].size).map((x) => x.i) } : { ...none, symbols: pinned });
  };
  return root;
}
