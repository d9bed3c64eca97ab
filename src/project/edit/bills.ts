/** Edits `suspended` of services by their invoices. Sends only GET requests. */
import type { InvoiceRecord } from "../../core/api/index.ts";
import { service } from "../../core/kinds/service/index.ts";
import { invoiceText } from "../../core/lifecycle/index.ts";
import { type DesiredResource, invoiceOf, isOpen, isPaid, type Phase, readMoment } from "../../core/model/index.ts";
import { requireAccounts } from "../identity.ts";
import { interruptible } from "../interrupt.ts";
import type { Project } from "../project.ts";
import { withProviders } from "../providers.ts";
import { refuseSharedBlocks } from "./changes.ts";
import { DeclarationEdit, type Edited, only } from "./declaration-edit.ts";

/** A declared service with its invoices. */
interface Billed {
  readonly phase: Phase | undefined;
  readonly invoices: readonly InvoiceRecord[];
  readonly moneyScale: number | undefined;
  /** Time of the host in milliseconds. */
  readonly now: number;
}

interface Choice {
  /** Addresses or domains. Empty: all services. */
  readonly services: readonly string[];
}

/** Suspends services. @param unpaidOverMs only live services with an invoice that is overdue for longer. */
export async function suspendServices(
  project: Project,
  { services, unpaidOverMs }: Choice & { readonly unpaidOverMs?: number },
): Promise<Edited> {
  return setSuspended(
    project,
    services,
    true,
    unpaidOverMs === undefined
      ? undefined
      : (billed) => {
          const overdue = billed.invoices.filter((one) => isOpen(one) && overdueMs(one, billed.now) > unpaidOverMs);
          const [oldest] = overdue.toSorted((a, b) => overdueMs(b, billed.now) - overdueMs(a, billed.now));
          return billed.phase === "live" ? oldest && `unpaid ${textOf(oldest, billed)}` : undefined;
        },
  );
}

/**
 * Restores suspended services.
 * @param isPaidOnly only services without an overdue invoice, whose last late invoice was paid after its due date. A service that
 * never had a late invoice was suspended for another reason.
 */
export async function restoreServices(
  project: Project,
  { services, isPaidOnly }: Choice & { readonly isPaidOnly: boolean },
): Promise<Edited> {
  return setSuspended(
    project,
    services,
    false,
    !isPaidOnly
      ? undefined
      : (billed) => {
          const late = billed.invoices.filter((one) => isPaid(one) === true && paidLate(one));
          const [last] = late.toSorted((a, b) => (timeOf(b.due_date) ?? 0) - (timeOf(a.due_date) ?? 0));
          const owes = billed.invoices.some((one) => isOpen(one) && overdueMs(one, billed.now) > 0);
          return owes ? undefined : last && `paid ${textOf(last, billed)}`;
        },
  );
}

async function setSuspended(
  project: Project,
  words: readonly string[],
  suspended: boolean,
  reasonOf: ((billed: Billed) => string | undefined) | undefined,
): Promise<Edited> {
  await refuseSharedBlocks(project);
  const edit = await DeclarationEdit.open(project);
  const all = edit.desired.resources.filter(({ type }) => type === service.type);
  const named = words.length === 0 ? all : words.map((word) => edit.resource(word));
  const isSuspended = ({ config }: DesiredResource) => config.suspended === true;
  const candidates = named.filter((one) => one.type === service.type && isSuspended(one) !== suspended);
  const billed = reasonOf === undefined ? undefined : await billsOf(project, edit, candidates);
  const chosen = new Map<string, string>();
  for (const one of candidates) {
    const bills = billed?.get(one.address);
    const reason = reasonOf === undefined ? "as requested" : bills && reasonOf(bills);
    if (reason === undefined) continue;
    chosen.set(one.address, reason);
    edit.set(one, "suspended", suspended);
  }
  const changes = await edit.result(
    only((address, before) => {
      if (!chosen.has(address) || before === undefined) return "same";
      return { ...before, config: { ...(before.config as object), suspended } };
    }),
  );
  const verb = suspended ? "is now declared as suspended" : "is now declared as not suspended";
  return { changes, notes: [...chosen].map(([address, reason]) => `${address} ${verb}: ${reason}.`) };
}

/** Reads the services and invoices of the accounts. @throws HostformError if the token lacks the ability "billing". */
function billsOf(
  project: Project,
  { desired }: DeclarationEdit,
  services: readonly DesiredResource[],
): Promise<ReadonlyMap<string, Billed>> {
  return interruptible(project.host, async (signal) => {
    const found = new Map<string, Billed>();
    if (services.length === 0) return found;
    const state = await project.state.read();
    const aliases = new Set(services.map(({ provider }) => provider));
    await withProviders(desired.providers, project, signal, async (providers) => {
      await providers.prepare(aliases);
      requireAccounts(aliases, providers, state);
      for (const alias of aliases) {
        const { account, config } = providers.get(alias);
        const [live, invoices] = await Promise.all([account.list(service), account.invoices.all()]);
        const byOrder = Map.groupBy(invoices, ({ order_id }) => order_id);
        for (const { address, provider } of services) {
          const id = state.resources.get(address)?.attributes.id;
          if (provider !== alias || typeof id !== "string") continue;
          const bills = { phase: live.get(id)?.phase, invoices: byOrder.get(id) ?? [] };
          found.set(address, { ...bills, moneyScale: config.moneyScale, now: account.hostNow() });
        }
      }
    });
    return found;
  });
}

const textOf = (invoice: InvoiceRecord, { moneyScale }: Billed) => invoiceText(invoiceOf(invoice), moneyScale);

const timeOf = (text: string | null): number | undefined => {
  const moment = readMoment(text);
  return "at" in moment ? moment.at : undefined;
};

/** Returns the time since the due date. 0 without a due date. */
const overdueMs = ({ due_date }: InvoiceRecord, now: number) => now - (timeOf(due_date) ?? now);

const paidLate = ({ due_date, paid_at }: InvoiceRecord) =>
  (timeOf(paid_at) ?? 0) > (timeOf(due_date) ?? Number.POSITIVE_INFINITY);
