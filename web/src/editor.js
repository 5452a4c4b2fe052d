// The editor: CodeMirror, with the diagnostics, words and symbols that the compiler gives.
import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';

const setSpans = StateEffect.define();
const spans = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    marks = marks.map(change.changes);
    for (const e of change.effects) {
      if (!e.is(setSpans)) continue;
      const length = change.state.doc.length;
      marks = Decoration.set(e.value.filter((s) => s.to <= length).map((s) =>
        Decoration.mark({ class: `c${s.symbol % 8}`, attributes: { 'data-s': String(s.symbol) } }).range(s.from, s.to)));
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

// lit are the parts that a line of a stage comes from.
const setLit = StateEffect.define();
const lit = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    marks = marks.map(change.changes);
    for (const e of change.effects) {
      if (!e.is(setLit)) continue;
      const length = change.state.doc.length;
      marks = Decoration.set(e.value.filter(([from, to]) => from < to && to <= length).map(([from, to]) => Decoration.mark({ class: 'place' }).range(from, to)), true);
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class Editor {
  // pointed is called with the place in the text that one points at or goes to; views set it.
  pointed = () => {};

  // changed is called with the text, a while after the last key.
  constructor(parent, { text, readonly, words, changed, run }) {
    let timer;
    const complete = (context) => {
      const word = context.matchBefore(/[\p{L}_][\p{L}\d_]*/u);
      return word && { from: word.from, options: words().map((w) => ({ label: w.word, type: w.kind, detail: w.kind })) };
    };
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(), history(), drawSelection(), closeBrackets(), lintGutter(), spans, lit,
          autocompletion({ override: [complete] }),
          keymap.of([{ key: 'Mod-Enter', run: () => { run(); return true; } }, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
          EditorView.lineWrapping,
          EditorState.readOnly.of(readonly),
          EditorView.contentAttributes.of({ 'aria-label': 'Program' }),
          EditorView.domEventHandlers({
            mousemove: (e, view) => { this.pointed(view.posAtCoords({ x: e.clientX, y: e.clientY }) ?? -1); },
            mouseleave: () => { this.pointed(-1); },
          }),
          EditorView.updateListener.of((u) => {
            if (u.selectionSet && !u.docChanged) this.pointed(u.state.selection.main.head);
            if (!u.docChanged) return;
            clearTimeout(timer);
            timer = setTimeout(() => changed(this.text), 150);
          }),
        ],
      }),
    });
  }

  get text() { return this.view.state.doc.toString(); }

  set text(text) {
    if (text !== this.text) this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  // show marks what a check found.
  show({ diagnostics, spans: list }) {
    const length = this.view.state.doc.length;
    this.view.dispatch({ effects: setSpans.of(list) }, setDiagnostics(this.view.state, diagnostics.map((d) => ({
      from: Math.min(d.from, length), to: Math.min(Math.max(d.to, d.from), length), severity: d.severity,
      message: `${d.message}${d.code ? ` [${d.code}]` : ''}${d.hint ? `\nhint: ${d.hint}` : ''}`,
      actions: (d.fixes || []).map((f) => ({ name: f.means, apply: () => this.fix(f) })),
    }))));
  }

  litNow = '[]';

  // light marks parts of the text, each [from, to], and only those.
  light(list) {
    const key = JSON.stringify(list);
    if (key === this.litNow) return;
    this.litNow = key;
    this.view.dispatch({ effects: setLit.of(list) });
  }

  fix(f) { this.view.dispatch({ changes: { from: f.from, to: f.to, insert: f.text } }); }
}
