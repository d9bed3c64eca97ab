/**
 * Rehearses a plan. In: the project, and a saved plan or the options of a new plan. Out: the forecast. Reads the account
 * once, then applies the plan in sandboxes and lets time run there. Must not: send another request than GET to the account,
 * write the state or an account store, send a notification, or write a secret.
 */
import {
  type Diagnostic,
  isError,
  type RehearsalReport,
  type RemedyText,
  type ResourceState,
} from "../../core/model/index.ts";
import { encodeState } from "../../core/record/index.ts";
import { rehearsalJson, renderRehearsal, renderRehearsalHtml, renderRehearsalMarkdown } from "../../report/index.ts";
import { mayApply, withUnread } from "../apply.ts";
import { interruptible } from "../interrupt.ts";
import type { RehearsalOptions, Rehearsed } from "../library-types.ts";
import { raise } from "../messages.ts";
import { withPlan } from "../plan.ts";
import { differences } from "../plan-origin.ts";
import type { Project } from "../project.ts";
import { leaving } from "../redaction.ts";
import type { PlanRequest, SavedPlan } from "../saved-plan.ts";
import { refuseUntrusted } from "../trust.ts";
import { readAccount } from "./account.ts";
import { tryFaults } from "./faults.ts";
import { cashOf, endsOf, type Fact, ordersOf } from "./forecast.ts";
import { conditionsIn, converge, type Left, laterOf, leftIn, runOn } from "./run.ts";
import { type Imported, type Setting, Stage } from "./stage.ts";
import { passTime } from "./time.ts";

type Options = Pick<RehearsalOptions, "months" | "faults" | "unpaid"> & {
  /** Plan to rehearse. Default: a new plan of the whole project. */
  readonly saved?: SavedPlan | undefined;
};

const MOST_MONTHS = 36;
const WHOLE: PlanRequest = { mode: "apply", targets: [], reorder: [] };

/** Rehearses a plan. @throws HostformError if the account or the plan cannot be read. */
export async function rehearse(project: Project, options: Options, remedies: RemedyText): Promise<Rehearsed> {
  const report = await reportOf(project, options);
  const leave = (text: string, as?: "markdown" | "html") => leaving(text, project.redaction, as);
  return {
    report: project.redaction.redactValue(rehearsalJson(report, remedies)) as Rehearsed["report"],
    text: (style = { color: false }) => leave(renderRehearsal(report, { ...style, remedies })),
    markdown: () => leave(renderRehearsalMarkdown(report, remedies), "markdown"),
    html: () => leave(renderRehearsalHtml(report, remedies), "html"),
  };
}

async function reportOf(
  project: Project,
  { months = 12, unpaid = "none", faults: hasFaults = false, saved }: Options,
): Promise<RehearsalReport> {
  await refuseUntrusted(project.source, "rehearse", false);
  if (!Number.isInteger(months) || months < 1 || months > MOST_MONTHS) raise("usage/months", { most: MOST_MONTHS });
  const request = saved?.request ?? WHOLE;
  const { plan, setting, errors, moneyScale, ...read } = await readAccounts(project, request, saved);
  const report: RehearsalReport = {
    ...{ format_version: "1.0", project: plan.project, mode: plan.mode, timestamp: plan.timestamp, months, unpaid },
    ...{ passed: false, converges: false, applies: 0, left: [], differences: [], stops: errors, orders: [], cash: [] },
    ...{ outages: [], ends: [], later: [], events: [], requests: 0, seconds: 0, faults: null, ...read },
  };
  if (errors.length > 0) return report;
  return interruptible(project.host, async (signal) => {
    const isPaid = unpaid !== "all";
    const here: Setting = { ...setting, signal };
    const stage = await Stage.open(here);
    try {
      const { applies, after, converges, seconds, sent } = await converge(stage, request, isPaid);
      const [first = after] = applies;
      const orders = ordersOf(first, moneyScale);
      const placed = stage.orders();
      const left = [...leftIn(after), ...conditionsIn(after)];
      const { facts, later, events } = await letTimeRun(stage, here, {
        request: laterOf(request),
        months,
        unpaid,
        left,
      });
      const onCase = (text: string) => project.log.say(text);
      const faults = hasFaults && converges ? await tryFaults(here, { request, isPaid, sent, placed, onCase }) : null;
      signal.throwIfAborted();
      const stops = applies.at(-1)?.errors ?? [];
      const changed = first.plan ? differences(plan, first.plan, project.redaction, moneyScale) : [];
      const failed = faults?.problems.filter(({ result }) => result === "failed") ?? [];
      return {
        ...report,
        ...{ passed: converges && [...stops, ...changed, ...failed].length === 0, converges, applies: applies.length },
        ...{ left, differences: changed, stops, orders, later, faults, seconds },
        ...endsOf({ ...first, records: after.records }, facts),
        cash: cashOf(orders, facts, { at: plan.timestamp, isPaid, moneyScale }),
        events: [...events].map(([event, count]) => ({ event, count })),
        requests: applies.reduce((sum, round) => sum + round.requests, 0),
      };
    } finally {
      await stage.close();
    }
  });
}

/** Options of {@link letTimeRun}. `left`: texts that are known. */
interface Passing extends Pick<RehearsalReport, "months" | "unpaid"> {
  readonly request: PlanRequest;
  readonly left: readonly Left[];
}

/** Lets time run, and plans after each month. */
async function letTimeRun(stage: Stage, { accounts, signal }: Setting, { request, months, unpaid, left }: Passing) {
  const facts: Fact[] = [];
  const events = new Map<string, number>();
  const later = new Map(left.map((one) => [one.text, { ...one, from: "" }]));
  for (let month = 1; month <= months; month++) {
    for (const [provider, { control }] of stage.sandboxes) {
      const { unit } = accounts.get(provider) ?? {};
      const passing = { months: 1, unpaid, open: stage.openBefore(provider), unit, signal };
      const passage = await passTime(control, passing);
      facts.push(...passage.facts.map((fact) => ({ ...fact, provider })));
      for (const [event, count] of Object.entries(passage.events)) events.set(event, (events.get(event) ?? 0) + count);
    }
    const round = await runOn(stage, request, false);
    signal.throwIfAborted();
    const from = new Date(stage.now()).toISOString().slice(0, 7);
    for (const one of [...leftIn(round), ...conditionsIn(round)])
      if (!later.has(one.text)) later.set(one.text, { ...one, from });
  }
  return { facts, events, later: [...later.values()].filter((one) => one.from !== "") };
}

const textsAt = (values: readonly unknown[]) => values.filter((value) => typeof value === "string");

/** Plans as `plan` does, and reads the accounts. Sends only GET requests. */
function readAccounts(project: Project, request: PlanRequest, saved: SavedPlan | undefined) {
  const reading = project.on({ ...project.source, readsOnly: true });
  return withPlan(reading, { ...request, command: "plan", ...(saved && { saved }) }, async (run) => {
    const { plan, store, providers, identities } = run;
    const errors: readonly Diagnostic[] = mayApply(plan, false) ? [] : withUnread(plan).diagnostics.filter(isError);
    const accounts = new Map<string, Imported>();
    const assumptions = new Set<string>();
    const records = store.state.resources;
    if (errors.length === 0)
      for (const alias of identities.keys()) {
        const provider = providers.get(alias);
        const { assumptions: stated, ...read } = await readAccount(provider, {
          resources: [...records.values()].filter((one) => one.provider === alias),
          grantsOf: textsAt(plan.changes.map(({ after }) => after?.service_id)),
          coupons: textsAt(plan.changes.map(({ after }) => after?.coupon_code)),
          signal: run.interrupts.now,
        });
        accounts.set(alias, { ...read, rateLimit: provider.client.requestsPerMinute });
        for (const one of stated) assumptions.add(one);
      }
    const history = await run.store.history?.read();
    const setting: Omit<Setting, "signal"> = {
      project,
      accounts,
      state: store.state.lineage === "" ? undefined : copyOf(store.document),
      records,
      history: history?.entries,
      at: project.host.clock.now(),
    };
    return { plan, setting, errors, moneyScale: providers.moneyScale, assumptions: [...assumptions] };
  });
}

/** Returns the text of the state without the marks of its accounts, because the sandboxes have other URLs. */
function copyOf(document: Parameters<typeof encodeState>[0]): string {
  const unmarked = ({ private: { account: _, ...mark }, ...record }: ResourceState) => ({ ...record, private: mark });
  const resources = new Map([...document.state.resources].map(([address, record]) => [address, unmarked(record)]));
  return encodeState({ ...document, state: { ...document.state, resources } });
}
