// A small grid to type a vector or a matrix in. What is typed is a text of rows, as the compiler reads it; a dot is not stored.
import { h } from './dom.js';

// Larger ones are typed as a text.
const most = 16;

// cells are the words of a text, row by row; nothing if it is no small grid.
export function cells(text) {
  if (text.includes('[')) return null;
  const rows = text.trim().split(/[;\n]/).map((line) => line.split(/[\s,]+/).filter(Boolean));
  const columns = rows[0].length;
  return columns > 0 && columns <= most && rows.length <= most && rows.every((r) => r.length === columns) ? rows : null;
}

export const written = (rows) => rows.map((r) => r.join(' ')).join('\n');

// gridOf has an input for each element of a tensor, as many rows as it has. changed is called with the text, asText if one would rather type that.
export function gridOf(name, rows, changed, asText) {
  const rank = rows.length > 1 ? 2 : 1;
  const [n, m] = [rows.length, rows[0].length];
  const label = (i, j) => `${name}(${rank > 1 ? `${i},${j}` : j})`;
  const inputs = rows.map((row, i) => row.map((word, j) => h('input', {
    value: word === '.' ? '' : word, placeholder: '·', 'aria-label': label(i, j), autocomplete: 'off', spellcheck: 'false',
    onchange: (e) => { rows[i][j] = e.target.value.trim().replace(/[\s,;]+/g, '') || '.'; changed(written(rows)); },
    onkeydown: (e) => move(e, i, j), onpaste: (e) => paste(e, i, j),
  })));

  // move goes from element to element.
  function move(e, i, j) {
    const { selectionStart: from, selectionEnd: to, value } = e.target;
    const [di, dj] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [1, 0], ArrowLeft: from === 0 ? [0, -1] : [0, 0], ArrowRight: to === value.length ? [0, 1] : [0, 0] }[e.key] || [0, 0];
    const next = inputs[i + di]?.[j + dj];
    if (!di && !dj || !next) return;
    e.preventDefault();
    next.focus(); // the element that one comes from changes, if it does, with this
    next.select?.();
  }

  // paste puts rows that are pasted from here on, as spreadsheets copy them.
  function paste(e, i, j) {
    const words = e.clipboardData.getData('text').trim().split(/\n/).map((line) => line.trim().split(/[\s,]+/));
    if (words.length * words[0].length < 2) return;
    e.preventDefault();
    words.forEach((line, di) => line.forEach((w, dj) => { if (rows[i + di]?.[j + dj] !== undefined) rows[i + di][j + dj] = w || '.'; }));
    changed(written(rows));
  }

  const button = (text, title, allowed, next) => h('button', { 'aria-label': `${title} of ${name}`, title, disabled: !allowed, onclick: () => changed(written(next())) }, text);
  return h('div', { class: 'grid' },
    h('div', { class: 'wide' }, h('table', { 'aria-label': `elements of ${name}` },
      h('tr', {}, rank > 1 && h('th', {}), rows[0].map((_, j) => h('th', { scope: 'col' }, j))),
      inputs.map((row, i) => h('tr', {}, rank > 1 && h('th', { scope: 'row' }, i), row.map((e) => h('td', {}, e)))))),
    h('div', { class: 'row' },
      rank > 1 && [button('− row', 'remove the last row', n > 2, () => rows.slice(0, -1)), button('+ row', 'add a row', n < most, () => [...rows, rows[0].map(() => '.')])],
      button('− column', 'remove the last column', m > 1, () => rows.map((r) => r.slice(0, -1))), button('+ column', 'add a column', m < most, () => rows.map((r) => [...r, '.'])),
      h('button', { 'aria-label': `type ${name} as text`, onclick: asText }, 'as text')));
}
