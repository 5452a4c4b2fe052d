// Starts the compiler while the page's own script is on its way, unless a server has it.
if (!document.querySelector('meta[name=lacuna-server]')) globalThis.compiler ??= new Worker('worker.js');
