/** Repeats the apply of a rehearsal with one fault at each request: a lost answer, or a crash before or after the request. */
import { passwordForm } from "../../core/kinds/service/words.ts";
import type { FaultCase, RehearsalReport, ResourceState, Unpaid } from "../../core/model/index.ts";
import { formatEstimate } from "../../report/index.ts";
import type { PlanRequest } from "../saved-plan.ts";
import { converge, laterOf, leftIn, runOn } from "./run.ts";
import { type Sent, type Setting, Stage } from "./stage.ts";

const FAULTS = ["lost_answer", "crash_before", "crash_after"] as const;

/** Number of turns of the event loop in which a sent request arrives. */
const TURNS = 20;

interface Options {
  readonly request: PlanRequest;
  readonly unpaid: Unpaid;
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
  const began = performance.now();
  for (const [at, one] of all.entries()) {
    const seconds = ((performance.now() - began) / 1000) * (all.length / at - 1);
    const rest = at === 0 ? "" : `, ${formatEstimate(seconds)} left`;
    if (at % SHOWN === 0 || at === FIRST) options.onCase(`Fault case ${at + 1} of ${all.length}${rest}`);
    const found = await tryFault(setting, options, one).catch((error) => {
      if (!setting.signal.aborted) throw error;
    });
    if (cases === 0) setting.signal.throwIfAborted();
    if (setting.signal.aborted) return { cases, is_finished: false, problems };
    if (found !== undefined) cases += 1;
    const { result, why = [] } = found ?? {};
    if (result) problems.push({ request: `${one.method} ${one.path}`, fault: one.fault, result, why });
  }
  return { cases, is_finished: true, problems };
}

/** Number of cases between two lines about the progress, and before the first estimate. */
const [SHOWN, FIRST] = [25, 5];

/** Runs one case. @returns its problem, if there is one; undefined if the request was not sent. */
async function tryFault(
  setting: Setting,
  { request, unpaid, placed }: Options,
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
    const { after, converges } = await converge(stage, laterOf(request), unpaid);
    const orders = stage.orders();
    const count = `${orders} of ${placed} orders were placed.`;
    const left = [
      ...(orders < placed ? [count] : []),
      ...(converges ? [] : ["It does not converge.", ...leftIn(after).map(({ text }) => text)]),
    ];
    // hostform asks a person only with an error or a pending create.
    const isAsked = after.errors.length > 0 || (after.plan?.pending ?? []).length > 0;
    const failed = [
      ...stage.broken(),
      ...(orders > placed ? [count] : []),
      ...lostSecrets(stage, setting, after.records),
      ...(isAsked ? [] : left),
    ];
    if (failed.length > 0) return { result: "failed", why: failed };
    return { ...(left.length > 0 && { result: "person" }), why: left };
  } finally {
    await stage.close();
  }
}

/** Returns a sentence for each new secret of the host that is neither in the state nor at its destination. */
function lostSecrets(
  stage: Stage,
  { records: before }: Setting,
  records: ReadonlyMap<string, ResourceState>,
): string[] {
  const signing = [...stage.sandboxes.values()].flatMap(({ control }) =>
    control.list("webhooks").map(({ secret }) => secret),
  );
  return [...records.values()].flatMap(({ address, provider, attributes: now }) => {
    const { id = null, password_version: version = null, product_type: type } = now;
    const earlier = before.get(address)?.attributes;
    const isWebhook = address.startsWith("hosting_webhook.");
    const isGenerated = passwordForm(String(type)) === "generated" && version !== null;
    const isNew = isWebhook
      ? id !== null && id !== earlier?.id
      : isGenerated && version !== (earlier?.password_version ?? null);
    if (!isNew) return [];
    const name = isWebhook ? "secret" : "generated_password";
    const held = (now[`${name}_fingerprint`] ?? null) === null ? now[name] : stage.secrets.get(address);
    const given = isWebhook ? signing : [stage.answers.get(`${provider} /api/v1/services/${id}/password`) ?? ""];
    const isHeld = typeof held === "string" && given.some((text) => text.includes(held));
    return isHeld ? [] : [`The ${isWebhook ? "signing secret" : "generated password"} of ${address} is lost.`];
  });
}
