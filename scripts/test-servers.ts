// `npm run test:long servers`: lives with HOSTFORM_SERVERS random servers, from the seed on, on all cores. Each failure is reduced to its cause.
// HOSTFORM_SERVERS=1 prints one life with its whole log.
import process from "node:process";
import { isMainThread, parentPort } from "node:worker_threads";
import { drawServer } from "../test/servers/drawn.ts";
import { live, type Verdict, verdictText } from "../test/servers/life.ts";
import { shrink, signatureOf } from "../test/servers/shrink.ts";
import { onAllCores } from "./workers.ts";

/** Refused lives of a hundred that are allowed. */
const MOST_REFUSED_PERCENT = 5;

interface Report {
  readonly seed: string;
  readonly outcome: Verdict["outcome"];
  readonly asked: boolean;
  /** A failure, with its cause. */
  readonly text?: string;
  readonly signature?: string;
}

async function reportOf(seed: string): Promise<Report> {
  const deviations = drawServer(seed);
  const verdict = await live(deviations, seed);
  const { outcome, asked } = verdict;
  if (outcome === "fine") return { seed, outcome, asked: asked.length > 0 };
  const causes = process.env.HOSTFORM_SHRINK === "0" ? deviations : await shrink(deviations, verdict, seed);
  const last = await live(causes, seed);
  const text = `${verdictText(last, causes, seed)}\n  Replay it: HOSTFORM_SEED=${seed} HOSTFORM_SERVERS=1 npm run test:long servers`;
  return { seed, outcome, asked: asked.length > 0, text, signature: signatureOf(last) };
}

async function playAll(from: number, count: number): Promise<void> {
  const seeds = Array.from({ length: count }, (_, at) => String(from + at));
  const reports: Report[] = [];
  let next = 0;
  await onAllCores(
    import.meta.url,
    () => seeds[next++],
    (report: Report) => {
      reports.push(report);
      if (report.text !== undefined) console.log(`${report.text}\n`);
      if (reports.length % 50 === 0) console.log(`${reports.length} of ${count}: ${countsOf(reports)}`);
      return false;
    },
  );
  console.log(`\n${count} servers from seed ${from}: ${countsOf(reports)}`);
  const ends = Map.groupBy(reports, ({ signature }) => signature);
  for (const [signature, some] of [...ends].toSorted(([, a], [, b]) => b.length - a.length)) {
    if (signature === undefined) continue;
    const seeds = some.slice(0, 6).map(({ seed }) => seed);
    console.log(`${String(some.length).padStart(5)} × ${signature} (${seeds.join(", ")})`);
  }
  if (countOf(reports, "violation") > 0 || countOf(reports, "refused") * 100 > count * MOST_REFUSED_PERCENT)
    process.exitCode = 1;
}

const countOf = (reports: readonly Report[], outcome: Verdict["outcome"]) =>
  reports.filter((one) => one.outcome === outcome).length;

function countsOf(reports: readonly Report[]): string {
  const asked = reports.filter((one) => one.outcome === "fine" && one.asked).length;
  return `${countOf(reports, "fine")} fine (${asked} after an answer of the user), ${countOf(reports, "refused")} refused, ${countOf(reports, "violation")} violations`;
}

if (!isMainThread) {
  parentPort?.on("message", async (seed: string) => parentPort?.postMessage(await reportOf(seed)));
} else {
  const [seed = "1"] = process.argv.slice(2);
  const count = Number(process.env.HOSTFORM_SERVERS ?? 1000);
  if (count === 1) {
    const deviations = drawServer(seed);
    const verdict = await live(deviations, seed);
    console.log(verdict.log.join("\n"));
    const causes = verdict.outcome === "fine" ? deviations : await shrink(deviations, verdict, seed);
    console.log(`\n${verdictText(await live(causes, seed), causes, seed)}`);
    if (verdict.outcome === "violation") process.exitCode = 1;
  } else await playAll(Number(seed), count);
}
