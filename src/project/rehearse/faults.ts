/** Repeats the apply of a rehearsal with one fault at each request: a lost answer, or a crash before or after the request. */
import type { FaultCase, RehearsalReport, ResourceState } from "../../core/model/index.ts";
import type { PlanRequest } from "../saved-plan.ts";
import { converge, laterOf, leftIn, runOn } from "./run.ts";
import { type Sent, type Setting, Stage } from "./stage.ts";

const FAULTS = ["lost_answer", "crash_before", "crash_after"] as const;

/** Number of turns of the event loop in which a sent request arrives. */
const TURNS = 20;

interface Options {
  readonly request: PlanRequest;
  /** True if new invoices are paid. */
  readonly isPaid: boolean;
  /** Requests of the apply without a fault, and the number of orders. */
  readonly sent: readonly Sent[];
  readonly placed: number;
  onCase(text: string): void;
}

type Case = Sent & Pick<FaultCase, "fault">;

export async function tryFaults(setting: Setting, options: Options): Promise<NonNullable<RehearsalReport["faults"]>> {
  // A read changes nothing, so a crash after it equals a crash before it.
  const all = options.sent.flatMap((one) =>
    FAULTS.filter((fault) => one.method !== "GET" || fault !== "crash_after").map((fault) => ({ ...one, fault })),
  );
  const problems: FaultCase[] = [];
  let cases = 0;
  for (const [at, one] of all.entries()) {
    if (at % SHOWN === 0) options.onCase(`Fault case ${at + 1} of ${all.length}`);
    const found = await tryFault(setting, options, one);
    setting.signal.throwIfAborted();
    if (found !== undefined) cases += 1;
    const { result, why = [] } = found ?? {};
    if (result) problems.push({ request: `${one.method} ${one.path}`, fault: one.fault, result, why });
  }
  return { cases, problems };
}

/** Number of cases between two lines about the progress. */
const SHOWN = 25;

/** Runs one case. @returns its problem, if there is one; undefined if the request was not sent. */
async function tryFault(
  setting: Setting,
  { request, isPaid, placed }: Options,
  { alias, nth, fault }: Case,
): Promise<{ readonly result?: FaultCase["result"]; readonly why: readonly string[] } | undefined> {
  const death = new AbortController();
  const stage = await Stage.open(setting, ({ faulty }) => {
    if (faulty && fault !== "lost_answer") death.abort(new Error("the process ended"));
  });
  try {
    const control = stage.sandboxes.get(alias)?.control;
    control?.addFault({ path: "/*", nth, phase: fault === "crash_before" ? "before" : "after", drop: true });
    await runOn(stage, request, true, death.signal);
    if (control?.faults()[0]?.fired !== 1) return undefined;
    // The host still receives what the process has sent.
    for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
    stage.advance({ hours: 1 });
    const { after, converges } = await converge(stage, laterOf(request), isPaid);
    const orders = stage.orders();
    const count = `${orders} of ${placed} orders were placed.`;
    const failed = [
      ...stage.broken(),
      ...(orders > placed ? [count] : []),
      ...lostSecrets(stage, setting, after.records),
    ];
    if (failed.length > 0) return { result: "failed", why: failed };
    const left = [...(orders < placed ? [count] : []), ...(converges ? [] : leftIn(after).map(({ text }) => text))];
    return { ...(left.length > 0 && { result: "person" }), why: left };
  } finally {
    await stage.close();
  }
}

/** Returns a sentence for each new webhook whose signing secret is neither in the state nor at its destination. */
function lostSecrets(
  stage: Stage,
  { records: before }: Setting,
  records: ReadonlyMap<string, ResourceState>,
): string[] {
  const created = new Set(
    [...stage.sandboxes.values()].flatMap(({ control }) => control.list("webhooks").map(({ secret }) => secret)),
  );
  return [...records.values()].flatMap(({ address, attributes }) => {
    const { id, secret, secret_fingerprint: print } = attributes;
    const isEarlier = id === null || before.get(address)?.attributes.id === id;
    if (isEarlier || !address.startsWith("hosting_webhook.")) return [];
    const held = print === null || print === undefined ? secret : stage.secrets.get(address);
    return typeof held === "string" && created.has(held) ? [] : [`The signing secret of ${address} is lost.`];
  });
}
