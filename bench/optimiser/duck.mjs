// Computes with DuckDB, on one thread, what it is asked on standard input, one JSON object a line. Its tables are those of the operands: of a matrix A the
// table A(i, j, v), of a vector x(i, v); dense ones have a row for each element.
import { DuckDBInstance } from "@duckdb/node-api";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const where = process.argv[2];
const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
const db = await instance.connect();

async function take(operands) {
  for (const [name, o] of Object.entries(operands)) {
    const raw = new Uint8Array(readFileSync(`${where}/${name}`)).buffer; // small files lie in a buffer with others
    const ints = new BigInt64Array(raw);
    const floats = new Float64Array(raw);
    const rank = o.shape.length;
    const dense = /^D*$/.test(o.format);
    const n = dense ? floats.length : floats.length / (rank + 1);
    const axes = ["i", "j", "k"].slice(0, rank);
    await db.run(`create or replace table ${name} (${[...axes.map((x) => x + " bigint"), "v double"].join(", ")})`);
    const to = await db.createAppender(name);
    for (let p = 0; p < n; p++) {
      for (let axis = 0, left = p; axis < rank; axis++) {
        const inner = o.shape.slice(axis + 1).reduce((a, b) => a * b, 1);
        to.appendBigInt(dense ? BigInt(Math.floor(left / inner)) : ints[axis * n + p]);
        left %= inner;
      }
      to.appendDouble(floats[dense ? p : rank * n + p]);
      to.endRow();
    }
    to.closeSync();
  }
  return 0;
}

async function value(query) {
  const rows = (await db.runAndReadAll(query)).getRows();
  return Number(rows[0][0]);
}

// compare is how far a sum is from ours, relative to it.
async function compare(query) {
  const ours = readFileSync(`${where}/ours`).readDoubleLE(0);
  const theirs = await value(query);
  return Math.abs(ours - theirs) / Math.max(Math.abs(theirs), 1e-300);
}

async function measure(query, budget, cpu) {
  const took = [];
  const prepared = await db.prepare(query);
  const now = cpu ? () => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; } : () => performance.now();
  const begin = performance.now();
  while (took.length < 3 || (performance.now() - begin < 1000 * budget && took.length < 10000)) {
    const t = now();
    await prepared.runAndReadAll();
    took.push(now() - t);
    if (took.length === 1 && took[0] > 5000) break;
  }
  took.sort((a, b) => a - b);
  return took[took.length >> 1];
}

for await (const line of createInterface({ input: process.stdin })) {
  const r = JSON.parse(line);
  let answer;
  try {
    if (r.take) answer = { Value: await take(r.take) };
    else if (r.compare) answer = { Value: await compare(r.compare) };
    else answer = { Value: await measure(r.time, r.budget, r.cpu) };
  } catch (e) {
    answer = { Error: String(e) };
  }
  console.log(JSON.stringify(answer));
}
process.exit(0);
