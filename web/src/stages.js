// The stages side by side. Words about one symbol light up in all of them, and so do the lines that have the symbols of
// the line one points at.
import { h, light } from './dom.js';

// codeLines are the lines of a text as elements, with the spans of symbols inside.
export function codeLines(text, spans) {
  const lines = [];
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
    lines.push(h('span', { class: 'l' }, parts));
    from = to + 1;
  }
  return lines;
}

const symbolsOf = (line) => new Set([...line.querySelectorAll('[data-s]')].map((e) => e.dataset.s));

export function stagesView(explanation, shown, toggle) {
  const root = h('div', {});
  const pinned = new Set();
  const legend = h('div', { class: 'legend row', role: 'group', 'aria-label': 'Symbols' }, 'Light up: ', explanation.symbols.map((s, i) => h('button', {
    class: `mono c${i % 8}`, 'aria-pressed': 'false',
    onclick: (e) => {
      if (!pinned.delete(String(i))) pinned.add(String(i));
      e.currentTarget.setAttribute('aria-pressed', pinned.has(String(i)));
      show(pinned);
    },
  }, `${s.name} (${s.kind})`)));
  const boxes = h('div', { class: 'row', role: 'group', 'aria-label': 'Stages' }, 'Show: ', explanation.stages.map((s) => h('label', {},
    h('input', { type: 'checkbox', checked: shown.includes(s.name), onchange: () => toggle(s.name) }), ` ${s.name}`)));
  const columns = h('div', { class: 'stages' }, explanation.stages.filter((s) => shown.includes(s.name)).map((s) => h('article', { class: 'stage', 'data-stage': s.name },
    h('h3', { title: s.about }, s.name, ' ', h('small', {}, s.about)), h('pre', { tabindex: '0', 'aria-label': `stage ${s.name}` }, codeLines(s.text, s.spans)))));
  root.append(legend, boxes, columns);
  if (explanation.conversions.length) root.append(h('h3', {}, 'Converted before the loops run'), h('ul', {}, explanation.conversions.map((c) => h('li', {}, c))));

  // show lights words of symbols, and the lines that have all of them.
  function show(symbols) {
    light(document, '[data-s]', (e) => symbols.has(e.dataset.s));
    light(columns, '.l', (line) => {
      if (!symbols.size) return false;
      const own = symbolsOf(line);
      return [...symbols].every((s) => own.has(s));
    });
  }
  columns.addEventListener('pointerover', (event) => {
    const word = event.target.closest('[data-s]');
    const line = event.target.closest('.l');
    show(word ? new Set([word.dataset.s]) : line ? symbolsOf(line) : pinned);
  });
  columns.addEventListener('pointerleave', () => show(pinned));
  return root;
}
