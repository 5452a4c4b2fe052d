// The worker that holds the compiler. Questions come one at a time, answers go back as JSON in text.
import 'wasm_exec'; // Go's, put here by web/build

const go = new Go();
let ready;

async function load() {
  const packed = await fetch('lacuna.wasm.packed');
  if (!packed.ok) throw new Error(`lacuna.wasm.packed: ${packed.status}`);
  const stream = packed.body.pipeThrough(new DecompressionStream('gzip'));
  const { instance } = await WebAssembly.instantiateStreaming(new Response(stream, { headers: { 'Content-Type': 'application/wasm' } }), go.importObject);
  go.run(instance).then(() => setTimeout(() => { throw new Error('out of memory'); }));
}

const files = []; // large ones, which operands name by number

onmessage = async ({ data: question }) => {
  if (question.file !== undefined) return files.push(question.file);
  for (const o of question.operands) if (typeof o.data === 'number') o.data = files[o.data];
  ready ??= load();
  try {
    await ready;
    postMessage(await lacunaAnswer(JSON.stringify(question)));
  } catch (e) {
    postMessage(JSON.stringify({ error: String(e) }));
  }
};
ready = load();
