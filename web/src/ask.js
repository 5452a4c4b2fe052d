// The compiler, wherever it is: in a worker of this page, behind a server, or recorded in the page itself.
// Each has one method, ask(request), which gives an answer or fails with an Error that may have diagnostics.
import about from 'about'; // as web/build asked it
import { breath } from './dom.js';

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

// Files of so many characters are told the worker once, not with each question.
const largeFile = 1 << 16;

class Local {
  constructor() {
    this.queue = []; // the first is being answered
    this.number = 0;
    this.start();
  }

  start() {
    this.told = new Map(); // files that the worker has: their numbers
    this.worker = globalThis.compiler ??= new Worker('worker.js'); // which start.js may have started
    this.worker.onmessage = ({ data }) => {
      clearTimeout(this.timer);
      this.queue.shift().resolve(data);
      this.next();
    };
    this.worker.onerror = (e) => this.restart(`the compiler stopped: ${e.message}`);
  }

  // restart gives up what is asked and begins anew.
  restart(why) {
    clearTimeout(this.timer);
    this.worker.terminate();
    globalThis.compiler = null;
    for (const w of this.queue.splice(0)) w.reject(new Error(why));
    this.start();
  }

  // forget gives up what nobody has begun to answer.
  forget() {
    for (const w of this.queue.splice(1)) w.reject(new Error('given up for something newer'));
  }

  next() {
    if (!this.queue.length) return;
    this.timer = setTimeout(() => this.restart(`this takes longer than ${patience / 1000} s: take smaller operands, or "lacuna serve"`), patience);
    this.worker.postMessage(this.queue[0].question);
  }

  file(data) {
    if (!this.told.has(data)) {
      this.told.set(data, this.told.size);
      this.worker.postMessage({ file: data });
    }
    return this.told.get(data);
  }

  async ask(request) {
    if (request.op === 'about') return about;
    const operands = request.operands.map((o) => (o.data?.length > largeFile ? { ...o, data: this.file(o.data) } : o));
    const answer = await new Promise((resolve, reject) => {
      this.queue.push({ question: { ...request, operands }, resolve, reject });
      if (this.queue.length === 1) this.next();
    });
    await breath();
    const said = unpack(JSON.parse(answer));
    await breath();
    return said;
  }
}
