// The pages of the documentation: light or dark, and search in all of them. A page that is opened as a file may load scripts and
// nothing else, so the sections are a script, which comes when somebody searches.
(() => {
  const root = document.documentElement;
  const store = { get: () => { try { return localStorage.getItem('theme'); } catch { return null; } }, set: (v) => { try { localStorage.setItem('theme', v); } catch { /* a page without memory */ } } };
  if (store.get()) root.dataset.theme = store.get();
  document.getElementById('theme').addEventListener('click', () => {
    const dark = (root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
    root.dataset.theme = dark ? 'light' : 'dark';
    store.set(root.dataset.theme);
  });

  const wide = matchMedia('(min-width: 900px)');
  const menu = document.querySelector('nav details');
  const fit = () => { menu.open = wide.matches; };
  wide.addEventListener('change', fit);
  fit();

  const input = document.querySelector('#search input');
  const list = document.querySelector('#search ol');
  const most = 12;

  let loading;
  const sections = () => loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `${root.dataset.root}/search.js`;
    script.onload = () => resolve(globalThis.lacunaSections.map((s) => ({ ...s, low: s.text.toLowerCase(), head: `${s.page} ${s.heading}`.toLowerCase() })));
    script.onerror = () => { loading = undefined; reject(new Error('the index cannot be loaded')); };
    document.head.append(script);
  });

  // A section must have all words. Those in headings count most, then how often they stand in the text, however long it is.
  function score(s, words) {
    let sum = 0;
    for (const w of words) {
      const inText = s.low.split(w).length - 1;
      const inHead = s.head.includes(w);
      if (!inText && !inHead) return 0;
      sum += (inHead ? 10 : 0) + (new RegExp(`(^|\\W)${w.replace(/[^\p{L}\p{N}_]/gu, '\\$&')}(\\W|$)`, 'u').test(s.head) ? 10 : 0) + Math.log2(1 + inText);
    }
    return sum;
  }

  const element = (name, ...children) => {
    const e = document.createElement(name);
    e.append(...children);
    return e;
  };

  // marked is a text with words in it marked.
  function marked(text, words) {
    const out = [];
    const low = text.toLowerCase();
    for (let at = 0; at < text.length;) {
      const next = words.map((w) => [low.indexOf(w, at), w]).filter(([i]) => i >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next) {
        out.push(text.slice(at));
        break;
      }
      out.push(text.slice(at, next[0]), element('mark', text.slice(next[0], next[0] + next[1].length)));
      at = next[0] + next[1].length;
    }
    return out;
  }

  async function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      list.hidden = true;
      return;
    }
    let all;
    try { all = await sections(); } catch (e) {
      list.replaceChildren(element('p', e.message));
      list.hidden = false;
      return;
    }
    const found = all.map((s) => ({ s, score: score(s, words) })).filter((f) => f.score > 0).sort((a, b) => b.score - a.score).slice(0, most);
    list.replaceChildren(...found.map(({ s }) => {
      const at = Math.max(0, s.low.indexOf(words.find((w) => s.low.includes(w)) ?? '') - 40);
      const a = element('a', ...marked(s.heading, words), element('small', s.heading === s.page ? '' : `${s.page} · `, at > 0 ? '…' : '', ...marked(s.text.slice(at, at + 140), words)));
      a.href = `${root.dataset.root}/${s.link}`;
      return element('li', a);
    }));
    if (!found.length) list.replaceChildren(element('p', 'Nothing has all of these words.'));
    list.hidden = false;
  }

  const step = (by) => {
    const links = [...list.querySelectorAll('a')];
    const next = links[links.indexOf(document.activeElement) + by];
    (next || input).focus();
  };
  input.addEventListener('input', search);
  input.addEventListener('focus', () => { if (input.value) search(); });
  list.addEventListener('click', () => { list.hidden = true; });
  document.addEventListener('keydown', (e) => {
    const inSearch = document.getElementById('search').contains(document.activeElement);
    if (e.key === '/' && !inSearch) {
      e.preventDefault();
      input.focus();
    } else if (inSearch && e.key === 'Escape') {
      list.hidden = true;
      input.focus();
    } else if (inSearch && (e.key === 'ArrowDown' || e.key === 'ArrowUp')) {
      e.preventDefault();
      step(e.key === 'ArrowDown' ? 1 : -1);
    } else if (e.key === 'Enter' && document.activeElement === input) {
      list.querySelector('a')?.click();
    }
  });
  document.addEventListener('click', (e) => { if (!document.getElementById('search').contains(e.target)) list.hidden = true; });
  root.dataset.ready = '1';
})();
