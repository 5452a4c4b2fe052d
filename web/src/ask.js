// The compiler, wherever it is: in a worker of this page, behind a server, or recorded in the page itself.
// Each has one method, ask(request), which gives an answer or fails with an Error that may have diagnostics.
import about from 'about'; // as web/build asked it

// A run in the browser that takes longer is ended: the worker is started again.
const patience = 30000;

export function connect() {
  const recorded = document.getElementById('recorded');
  if (recorded) return new Recorded(JSON.parse(recorded.textContent));
  return document.querySelector('meta[name=lacuna-server]') ? new Server() : new Local();
}

function unpack(answer) {
  if (answer && answer.error) throw Object.assign(new Error(answer.error), { diagnostics: answer.diagnostics || [] });
  return answer;
}

class Server {
  async ask(request) {
    const reply = await fetch('api', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(request) });
    if (!reply.ok) throw new Error(`the server says: ${await reply.text()}`);
    return unpack(await reply.json());
  }
}

class Recorded {
  constructor({ state, answers }) {
    this.state = state;
    this.answers = answers;
  }

  async ask(request) {
    const answer = this.answers[request.op === 'storage' || request.op === 'grad' ? `${request.op} ${request.name}` : request.op];
    if (!answer) throw new Error('this page shows one program and its data; it has no compiler to ask');
    return unpack(answer);
  }
}

class Local {
  constructor() {
    this.waiting = new Map();
    this.number = 0;
    this.start();
  }

  start() {
    this.worker = globalThis.compiler ??= new Worker('worker.js'); // which start.js may have started
    this.worker.onmessage = ({ data: { id, answer } }) => {
      const w = this.waiting.get(id);
      this.waiting.delete(id);
      if (!w) return;
      clearTimeout(w.timer);
      w.resolve(answer);
    };
    this.worker.onerror = (e) => this.restart(`the compiler stopped: ${e.message}`);
  }

  // restart gives up what is asked and begins anew.
  restart(why) {
    this.worker.terminate();
    globalThis.compiler = null;
    for (const w of this.waiting.values()) {
      clearTimeout(w.timer);
      w.reject(new Error(why));
    }
    this.waiting.clear();
    this.start();
  }

  async ask(request) {
    if (request.op === 'about') return about;
    const id = ++this.number;
    const answer = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.restart(`this takes longer than ${patience / 1000} s: take smaller operands, or "lacuna serve"`), patience);
      this.waiting.set(id, { resolve, reject, timer });
      this.worker.postMessage({ id, question: JSON.stringify(request) });
    });
    return unpack(JSON.parse(answer));
  }
}
