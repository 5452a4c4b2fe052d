// A link that holds everything: the state, compressed, in the fragment. Nothing is sent anywhere.

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function toFragment(state) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream('deflate-raw'));
  let s = '';
  for (const b of bytes) s += String.fromCharCode(b);
  return btoa(s).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

export async function fromFragment(fragment) {
  const s = atob(fragment.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = await through(Uint8Array.from(s, (c) => c.charCodeAt(0)), new DecompressionStream('deflate-raw'));
  const state = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof state.program !== 'string' || !Array.isArray(state.operands)) throw new Error('the link holds no program');
  return state;
}
