import { simulate } from "../test/simulation/history.ts";
const [a="1", n="1"] = process.argv.slice(2);
const t=Date.now(); let fails=0, runs=0;
const start=Number(a), count=Number(n);
for (let seed=start; seed<start+count; seed++) {
  let v; try { v = await simulate(seed); } catch (e) { console.log(seed, "CRASH", String(e)); fails++; continue; }
  runs+=v.runs;
  if (v.violations.length) { fails++; console.log(seed, v.history.length, v.violations); if (count===1) console.log(v.history.join("\n")); }
  else if (count===1) console.log(v.history.join("\n"));
}
console.log({fails, runs, ms: (Date.now()-t)/count});
