// What examples/shell/edges.sh does, with DuckDB (npm install @duckdb/node-api): node edges.mjs EDGES.csv OUT.csv
import { DuckDBInstance } from "@duckdb/node-api";
const [edges, out] = process.argv.slice(2);
const db = await (await DuckDBInstance.create()).connect();
await db.run(`set threads = ${process.env.THREADS ?? 2}`);
await db.run(`create table e as select * from read_csv('${edges}')`);
await db.run(`copy (select a."from", b."to", sum(a.weight * b.weight) as weight from e a join e b on a."to" = b."from" group by all order by all) to '${out}'`);
