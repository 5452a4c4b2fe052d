// Tables and rows of many cells. They are made band by band, a frame for each, and the browser lays out those in view; so cells of one table
// are of one width.
import { frame, h } from './dom.js';

const bandElements = 200; // of a table
const bandCells = 24;

// widest is how many characters the widest of some texts has.
export const widest = (texts) => texts.reduce((most, text) => Math.max(most, String(text).length), 1);

// tableOf has n rows, each the elements row(i), whose texts have so many characters at most, those of the labels before them others; head is the
// first row, if there is one. It begins with one band: fill makes the others.
export function tableOf(n, row, { cell, label = 0 }, head, caption) {
  const table = h('table', { class: label ? 'bands labelled' : 'bands', style: `--w:${cell}ch;--l:${label}ch` }, caption && h('caption', {}, caption), head && h('thead', {}, h('tr', {}, head)));
  const box = h('div', { style: `min-height:${1.6 * n}rem` }, table);
  let bandRows = 1;
  const band = (from) => {
    const count = Math.min(bandRows, n - from);
    table.append(h('tbody', { style: `contain-intrinsic-height:auto ${1.6 * count}rem` }, Array.from({ length: count }, (_, i) => h('tr', {}, row(from + i)))));
  };
  if (n > 0) band(0);
  bandRows = Math.max(1, Math.floor(bandElements / (table.querySelector('tbody td')?.parentNode.children.length || 1)));
  box.fill = async (going) => {
    for (let from = 1; from < n && going(); from += bandRows) {
      await frame();
      band(from);
    }
  };
  return box;
}

// cellsOf are the cells of an array, which scrolls, with a name.
export function cellsOf(name, cells, characters, attributes = {}) {
  const box = h('div', { class: 'array wide', style: `--w:${characters}ch`, ...attributes }, h('b', {}, name));
  for (let from = 0; from < cells.length; from += bandCells) {
    const band = cells.slice(from, from + bandCells);
    box.append(h('span', { class: 'band', style: `width:calc(${band.length} * (var(--w) + .9rem + 2px))` }, band));
  }
  return box;
}
