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
import {
  monthsAfter,
  rehearsalJson,
  renderRehearsal,
  renderRehearsalHtml,
  renderRehearsalMarkdown,
} from "../../report/index.ts";
import { mayApply, withUnread } from "../apply.ts";
import { interruptible } from "../interrupt.ts";
import type { RehearsalOptions, Rehearsed } from "../library-types.ts";
import { raise } from "../messages.ts";
import { withPlan } from "../plan.ts";
import { differences } from "../plan-origin.ts";
import type { Project } from "../project.ts";
import { tokenSource } from "../providers.ts";
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
  const { plan, setting, errors, moneyScale, now, ...read } = await readAccounts(project, request, saved);
  const report: RehearsalReport = {
    ...{ format_version: "1.0", project: plan.project, mode: plan.mode, timestamp: plan.timestamp, months, unpaid },
    ...{ passed: false, converges: false, applies: 0, left: [], differences: [], stops: errors, orders: [], cash: [] },
    ...{ open_invoices: 0, unpriced: [], outages: [], offline: [], ends: [], later: [], events: [], requests: 0 },
    ...{ waiting: [], seconds: 0, faults: null, ...periodOf(now, months), ...read },
  };
  if (errors.length > 0) return report;
  return interruptible(project.host, async (signal) => {
    const isPaid = unpaid !== "all";
    const here: Setting = { ...setting, signal };
    const stage = await Stage.open(here);
    const { start } = report;
    try {
      const { applies, after, converges, seconds, sent } = await converge(stage, request, unpaid);
      const [first = after] = applies;
      const orders = applies.flatMap((round) => ordersOf(round, moneyScale));
      const placed = stage.orders();
      const left = leftIn(after);
      const waiting = conditionsIn(after);
      const passing = { request: laterOf(request), months, unpaid, known: [...left, ...waiting], start };
      const { facts, later, events } = await letTimeRun(stage, here, passing);
      const paidToday = unpaid === "none" ? openIn(here, start) : [];
      const { records } = after;
      const onCase = (text: string) => project.log.say(text);
      const faults = hasFaults && converges ? await tryFaults(here, { request, unpaid, sent, placed, onCase }) : null;
      if (faults === null) signal.throwIfAborted();
      const stops = applies.at(-1)?.errors ?? [];
      const changed = first.plan ? differences(plan, first.plan, project.redaction, moneyScale) : [];
      const { problems = [], is_finished = true } = faults ?? {};
      const isSound = is_finished && problems.every(({ result }) => result !== "failed");
      const passed = converges && isSound && stops.length + changed.length === 0;
      return {
        ...{ ...report, passed, converges, applies: applies.length },
        ...stage.renamed({ left, waiting, stops, later, faults }),
        ...{ differences: changed, orders, seconds },
        ...endsOf({ ...first, records }, facts, stage.suspended()),
        ...cashOf(orders, [...paidToday, ...facts], {
          ...{ start, isPaid, records, moneyScale },
          isUnpriced: ({ provider, order }) => here.accounts.get(provider)?.unpriced.has(order) === true,
        }),
        open_invoices: paidToday.length,
        events: [...events].map(([event, count]) => ({ event, count })),
        requests: applies.reduce((sum, round) => sum + round.requests, 0),
      };
    } finally {
      await stage.close();
    }
  });
}

/** Returns the first day of the rehearsal, and the day after the last one. */
function periodOf(now: number, months: number): Pick<RehearsalReport, "start" | "end"> {
  const start = new Date(now).toISOString().slice(0, 10);
  return { start, end: monthsAfter(start, months) };
}

/** Returns the invoices that are open at the start, as paid invoices. */
function openIn({ accounts }: Setting, start: string): Fact[] {
  return [...accounts].flatMap(([provider, { account, unit }]) => {
    const domains = new Map([...account.services, ...account.domains].map(({ id, domain }) => [id, domain]));
    return account.invoices.flatMap(({ status, order_id, currency, total }): Fact[] => {
      if (status !== "unpaid") return [];
      const of = { provider, order: String(order_id), domain: domains.get(order_id) ?? null };
      return [{ fact: "invoice", at: start, ...of, currency, total: total / unit, paid: true }];
    });
  });
}

/** Options of {@link letTimeRun}. `known`: texts that are known. */
interface Passing extends Pick<RehearsalReport, "months" | "unpaid" | "start"> {
  readonly request: PlanRequest;
  readonly known: readonly Left[];
}

/** Lets time run, and plans after each month. */
async function letTimeRun(
  stage: Stage,
  { accounts, signal }: Setting,
  { request, months, unpaid, known, start: since }: Passing,
) {
  const facts: Fact[] = [];
  const events = new Map<string, number>();
  const later = new Map(known.map((one) => [one.text, { ...one, from: "" }]));
  for (let month = 1; month <= months; month++) {
    for (const [provider, { control }] of stage.sandboxes) {
      const { unit } = accounts.get(provider) ?? {};
      const passing = { since, months: month, unpaid, open: stage.openBefore(provider), unit, signal };
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

/** Abilities of the token that applies, if the token of the rehearsal only reads. */
const APPLIER = ["view", "technical", "billing"] as const;
const UNLIKE = "This token cannot apply. The token of the apply has all abilities.";

const textsAt = (values: readonly unknown[]) => values.filter((value) => typeof value === "string");

/** Plans as `plan` does, and reads the accounts. Sends only GET requests. */
function readAccounts(project: Project, request: PlanRequest, saved: SavedPlan | undefined) {
  const reading = project.on({ ...project.source, readsOnly: true });
  return withPlan(reading, { ...request, command: "plan", ...(saved && { saved }) }, async (run) => {
    const { plan, store, providers, identities } = run;
    const errors: readonly Diagnostic[] = mayApply(plan, false) ? [] : withUnread(plan).diagnostics.filter(isError);
    const accounts = new Map<string, Imported>();
    const assumptions = new Set<string>();
    let now: number | undefined;
    const records = store.state.resources;
    if (errors.length === 0)
      for (const alias of identities.keys()) {
        const provider = providers.get(alias);
        const {
          assumptions: stated,
          account,
          ...read
        } = await readAccount(provider, {
          resources: [...records.values()].filter((one) => one.provider === alias),
          grantsOf: textsAt(plan.changes.map(({ after }) => after?.service_id)),
          coupons: textsAt(plan.changes.map(({ after }) => after?.coupon_code)),
          signal: run.interrupts.now,
        });
        const { config } = provider;
        now ??= Date.parse(account.at);
        const isApplier = account.abilities.includes("technical");
        const abilities = isApplier ? account.abilities : APPLIER;
        const rateLimit = provider.client.requestsPerMinute;
        const { baseUrl = project.source.env.HOSTING_BASE_URL ?? "" } = config;
        const names = { host: new URL(baseUrl).host, token: tokenSource(config) };
        accounts.set(alias, { ...read, ...names, account: { ...account, abilities }, rateLimit });
        for (const one of isApplier ? stated : [...stated, UNLIKE]) assumptions.add(one);
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
    const warnings = plan.diagnostics.filter((one) => one.code.startsWith("policy.") && !isError(one));
    const { moneyScale } = providers;
    now ??= project.host.clock.now();
    return { plan, setting, errors, moneyScale, now, warnings, assumptions: [...assumptions] };
  });
}

/** Returns the text of the state without the marks of its accounts, because the sandboxes have other URLs. */
function copyOf(document: Parameters<typeof encodeState>[0]): string {
  const unmarked = ({ private: { account: _, ...mark }, ...record }: ResourceState) => ({ ...record, private: mark });
  const resources = new Map([...document.state.resources].map(([address, record]) => [address, unmarked(record)]));
  return encodeState({ ...document, state: { ...document.state, resources } });
}
