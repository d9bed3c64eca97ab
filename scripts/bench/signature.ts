// `npm run bench:signature [COMPARISONS]`: whether the time of a refusal shows where a forged signature differs. Not
// a test: a busy machine is noise. It prints the times, and those of a comparison that ends at the first difference.
import process from "node:process";
import { signatureOf, verifySignature } from "../../src/webhooks/index.ts";

const SECRET = "whsec-bench";
const BODY = '{"event":"invoice.paid","data":{"id":5003},"timestamp":"2026-11-22T10:00:00+00:00"}';
const GOOD = signatureOf(BODY, SECRET);
/** Calls that are timed as one: a single one is below what the clock resolves. */
const BATCH = 50;
const batches = Math.ceil(Number(process.argv[2] ?? 1_000_000) / BATCH);
if (!(batches >= 20)) throw new Error("Usage: npm run bench:signature [COMPARISONS], at least 1000.");

const wrong = (at: number) => GOOD.slice(0, at) + (GOOD[at] === "0" ? "1" : "0") + GOOD.slice(at + 1);
/** The noise floor is measured as well: twice the same forged signature, as if it were two. */
const CASES = { early: wrong(0), late: wrong(63), "early again": wrong(0) };
type Case = keyof typeof CASES;

/** Nanoseconds a call for each batch; the cases take turns in random order, so that no drift is taken for a difference. */
function measure(call: (given: string) => boolean): Record<Case, number[]> {
  const times: Record<Case, number[]> = { early: [], late: [], "early again": [] };
  const names = Object.keys(CASES) as Case[];
  let refused = 0;
  for (let batch = -100; batch < batches; batch++) {
    for (const name of names.toSorted(() => Math.random() - 0.5)) {
      const started = process.hrtime.bigint();
      for (let i = 0; i < BATCH; i++) if (!call(CASES[name])) refused++;
      const took = Number(process.hrtime.bigint() - started) / BATCH;
      if (batch >= 0) times[name].push(took);
    }
  }
  if (refused !== (batches + 100) * BATCH * names.length) throw new Error("A forged signature was accepted.");
  return times;
}

/** Without the slowest tenth: interrupts and garbage collections. */
function trimmed(times: readonly number[]): { mean: number; error: number } {
  const kept = times.toSorted((a, b) => a - b).slice(0, Math.ceil(times.length * 0.9));
  const mean = kept.reduce((sum, time) => sum + time, 0) / kept.length;
  const variance = kept.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (kept.length - 1);
  return { mean, error: Math.sqrt(variance / kept.length) };
}

function row(what: string, call: (given: string) => boolean): void {
  const times = measure(call);
  const [early, late, again] = [trimmed(times.early), trimmed(times.late), trimmed(times["early again"])];
  const difference = (a: typeof early, b: typeof early) => {
    const t = (a.mean - b.mean) / Math.hypot(a.error, b.error);
    return `${(a.mean - b.mean).toFixed(2).padStart(8)} ns (t = ${t.toFixed(1).padStart(5)})`;
  };
  console.log(
    `${what.padEnd(24)}${early.mean.toFixed(1).padStart(9)} ns   late - early ${difference(late, early)}   the same twice ${difference(again, early)}`,
  );
}

console.log(`Node ${process.version}; ${batches * BATCH} comparisons of each kind, in batches of ${BATCH}\n`);
row("verifySignature", (given) => verifySignature(BODY, given, SECRET));
row("verifySignature, 3 keys", (given) => verifySignature(BODY, given, ["a", SECRET, "b"]));
const expected = Buffer.from(GOOD);
/** The wrong way: it ends at the first character that differs. */
const naive = (given: string) => {
  for (let at = 0; at < expected.length; at++) if (given.charCodeAt(at) !== expected[at]) return false;
  return true;
};
row("compared until it differs", naive);
console.log("\nA |t| that is no larger than that of the same signature measured twice, give or take 3, is noise.");
