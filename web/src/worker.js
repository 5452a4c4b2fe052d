// The worker that holds the compiler. Questions come as {id, question} and go back as {id, answer}, both JSON in text.
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

onmessage = async ({ data: { id, question } }) => {
  ready ??= load();
  try {
    await ready;
    postMessage({ id, answer: await lacunaAnswer(question) });
  } catch (e) {
    postMessage({ id, answer: JSON.stringify({ error: String(e) }) });
  }
};
ready = load();
