/**
 * Reads the status of a project: its plan, and the lists of its accounts. Sends only GET requests, reads each list once, and
 * changes nothing.
 */
import { HostformError, type Receipt, STATUS_NAMES } from "../core/model/index.ts";
import { type AccountReport, entriesOf } from "../report/index.ts";
import { flatKinds, isRefusal, nestedKind, readGrants } from "./adopt/read.ts";
import { withFirstSeen } from "./first-seen.ts";
import { entriesIn } from "./history.ts";
import type { StatusFlags } from "./library-types.ts";
import { ledgersOf, receiptsIn, recordsIn } from "./mandate/ledgers.ts";
import { overcharged, unreconciled } from "./mandate/reconcile.ts";
import { type Run, withPlan } from "./plan.ts";
import type { Project } from "./project.ts";
import { type AccountLists, type Lists, reportOf, SERVICE } from "./status-report.ts";

/** List that only accounts on the Manage track have (§4). */
const OPTIONAL = "client accounts";

/** @throws HostformError if the project cannot be planned. */
export function projectStatus(project: Project, flags: StatusFlags): Promise<AccountReport> {
  const { targets = [], provider, full = false } = flags;
  const request = { mode: "apply", targets, reorder: [], replace: [], orderAnyway: [], guards: {}, provider } as const;
  // With a budget of 0, the plan reads no grants.
  const reads = full ? {} : { refreshBudget: 0 };
  return withPlan(project, { ...request, ...reads, command: "status" }, async (run) => {
    const targeted = new Set(run.plan.changes.map(({ before }) => before?.id));
    const isRead = (id: string) => full && (targets.length === 0 || targeted.has(id));
    const open = new Map<string, number>();
    const read = aliasesOf(run, flags).map(async (alias) => {
      const onOpen = (count: number) => {
        open.set(alias, count);
        project.log.reading([...open.values()].reduce((sum, one) => sum + one, 0));
      };
      return [alias, await readLists(run, alias, isRead, onOpen)] as const;
    });
    const lists = new Map(await Promise.all(read));
    const past = await entriesIn(project, run.store.history);
    const isWhole = targets.length === 0 && provider === undefined;
    const all = isWhole ? await withReceipts(run, lists) : run;
    const report = await withFirstSeen(all, reportOf(all, lists, flags, past), isWhole);
    const listed = STATUS_NAMES.filter((name) => entriesOf(report, name).length > 0);
    const unread = report.unread.some(({ what }) => what !== OPTIONAL) ? ["unread"] : [];
    const holds = [...new Set([...report.holds, ...listed, ...unread])];
    return project.redaction.redactValue({ ...report, holds }) as AccountReport;
  });
}

/** Adds a condition for each order that differs from its receipt or exceeds its mandate. */
async function withReceipts(run: Run, lists: Lists): Promise<Run> {
  const { plan, project, providers, state } = run;
  const environment = project.source.environment?.name ?? null;
  const isOwn = (one: Pick<Receipt, "project" | "environment">) =>
    one.project === plan.project && one.environment === environment;
  const records = await recordsIn(ledgersOf(providers, project));
  const own = receiptsIn(records).flatMap(({ receipt }) => (receipt && isOwn(receipt) ? receipt : []));
  const conditions = [
    ...(plan.conditions ?? []),
    ...unreconciled(own, lists, state, providers.moneyScale),
    ...records.flatMap((one) => (one.mandate && isOwn(one.mandate) ? overcharged(one, providers.moneyScale) : [])),
  ];
  return { ...run, plan: { ...plan, conditions } };
}

/** Returns the providers to read: those of the plan. Without targets, also all declared providers. */
function aliasesOf({ plan, desired, state }: Run, { targets = [], provider }: StatusFlags): readonly string[] {
  if (provider !== undefined) return [provider];
  const used = new Set([...plan.changes, ...state.resources.values()].map((one) => one.provider));
  const declared = [...desired.providers].flatMap(([alias, { range }]) => (range ? alias : []));
  const all = targets.length > 0 ? used : new Set([...used, ...declared]);
  return all.size > 0 ? [...all].sort() : [...desired.providers.keys()];
}

/** Reads the lists of one account. @param isRead Decides whether to read the grants of a service. */
async function readLists(
  { providers }: Run,
  alias: string,
  isRead: (id: string) => boolean,
  onOpen: (open: number) => void,
): Promise<AccountLists> {
  const { account, client } = await providers.use(alias);
  const unread: { what: string; why: string }[] = [];
  const orSkip = (what: string) => (error: unknown) => {
    if (!isRefusal(error) || !(error instanceof HostformError)) throw error;
    unread.push({ what, why: error.diagnostics[0]?.summary ?? error.message });
  };
  const lists = await Promise.all(
    flatKinds.map(async (kind) => {
      const found = await account.list(kind).catch(orSkip(kind.section.replaceAll("_", " ")));
      return [...(found?.values() ?? [])].map((remote) => ({ kind, remote }));
    }),
  );
  const objects = lists.flat().filter(({ remote }) => remote.phase !== "gone");
  const services = objects.flatMap(({ kind, remote }) => (kind.type === SERVICE && isRead(remote.id) ? remote : []));
  const shared =
    services.length > 0 ? await readGrants(account, services, onOpen).catch(orSkip(nestedKind.section)) : undefined;
  const { invoices, why } = await account.invoices.listed();
  return {
    now: account.hostNow(),
    objects: [
      ...objects,
      ...(shared?.objects.get(nestedKind.type) ?? []).map((remote) => ({ kind: nestedKind, remote })),
    ],
    invoices: [...invoices.values()].flat(),
    why,
    unread,
    sent: client.requests,
    budget: await client.budget(),
  };
}
