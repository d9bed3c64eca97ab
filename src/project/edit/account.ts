/** Edits that read the account: services by their invoices, and the grants of a person. Sends only GET requests. */
import type { InvoiceRecord } from "../../core/api/index.ts";
import type { Remote } from "../../core/kinds/kind.ts";
import { service } from "../../core/kinds/service/index.ts";
import { type Account, invoiceText } from "../../core/lifecycle/index.ts";
import {
  counted,
  type DesiredResource,
  didYouMean,
  invoiceOf,
  isOpen,
  isPaid,
  type JsonObject,
  readMoment,
  type State,
  sameEmail,
} from "../../core/model/index.ts";
import { nestedKind, readGrants } from "../adopt/read.ts";
import { requireAccounts } from "../identity.ts";
import { interruptible } from "../interrupt.ts";
import { raise } from "../messages.ts";
import type { Project } from "../project.ts";
import { type Provider, withProviders } from "../providers.ts";
import { DeclarationEdit, type Edited } from "./declaration-edit.ts";

const DAY = 86_400_000;

const timeOf = (text: string | null): number => {
  const moment = readMoment(text);
  return "at" in moment ? moment.at : Number.NaN;
};
/** First part of a comment: the invoice for which the service is suspended. */
const MARK = /^unpaid (\S+)$/;
const isMark = (part: string) => MARK.test(part);
const nameOf = (bill: InvoiceRecord) => String(invoiceOf(bill).number ?? bill.id);
const earliestDue = (invoices: readonly InvoiceRecord[]) =>
  invoices.toSorted((a, b) => timeOf(a.due_date) - timeOf(b.due_date))[0];

/** Returns true for a service that is provisioned: live, or suspended by the host. */
const isOn = (live: Remote | undefined) => live?.phase === "live" || live?.phase === "suspended";

/** Options of {@link setSuspended}. */
interface Suspending {
  /** Addresses or domains. If empty, all services. */
  readonly services: readonly string[];
  readonly suspended: boolean;
  /** Suspends only provisioned services with an invoice that is overdue for longer, in milliseconds. */
  readonly unpaidOver?: number | undefined;
  /** Restores only services without an overdue invoice, whose comment names a paid invoice. */
  readonly paid?: boolean | undefined;
}

/**
 * Declares services as suspended or not suspended. A comment names the unpaid invoice: `suspended: true # unpaid INV-7`. A suspension
 * without such a comment has another reason, so its service is not restored after a payment.
 */
export async function setSuspended(project: Project, options: Suspending): Promise<Edited> {
  const { services: words, suspended, unpaidOver, paid } = options;
  const edit = await DeclarationEdit.open(project, true);
  const named = words.length === 0 ? edit.desired.resources : words.map((word) => edit.resource(word));
  const other = named.find(({ type }) => type !== service.type);
  if (words.length > 0 && other !== undefined) raise("usage/not_service", { address: other.address });
  const all = named.filter(({ type }) => type === service.type);
  const open = all.filter(({ config }) => (config.suspended === true) !== suspended);
  const reasons = new Map(open.map(({ address }) => [address, "as requested"]));
  const marks = new Map<string, string>();
  if (unpaidOver !== undefined || paid) {
    reasons.clear();
    await eachAccount(edit, open, async ({ account, config }, own) => {
      const [live, invoices] = await Promise.all([account.list(service), account.invoices.all()]);
      for (const [order, bills] of Map.groupBy(invoices, ({ order_id }) => order_id ?? "")) {
        const one = own.get(order);
        if (one === undefined || !isOn(live.get(order))) continue;
        const isOverdue = (bill: InvoiceRecord) =>
          isOpen(bill) && account.hostNow() - timeOf(bill.due_date) > (unpaidOver ?? 0);
        const overdue = earliestDue(bills.filter(isOverdue));
        const named = new Set(edit.comments(one).flatMap((part) => MARK.exec(part)?.[1] ?? []));
        const marked = bills.filter((bill) => named.has(nameOf(bill)));
        const isLifted = overdue === undefined && marked.every((bill) => isPaid(bill) === true);
        const bill = suspended ? overdue : isLifted ? earliestDue(marked) : undefined;
        if (bill === undefined) continue;
        const over = unpaidOver === undefined ? "" : `, overdue for more than ${counted(unpaidOver / DAY, "day")}`;
        const text = invoiceText(invoiceOf(bill), config.moneyScale);
        reasons.set(one.address, `${suspended ? "unpaid" : "paid"} ${text}${over}`);
        if (suspended) marks.set(one.address, `unpaid ${nameOf(bill)}`);
      }
    });
  }
  for (const one of open.filter(({ address }) => reasons.has(address))) {
    const rest = edit.comments(one).filter((part) => !isMark(part));
    edit.set(one, "suspended", suspended, [marks.get(one.address) ?? [], rest].flat().join("; "));
  }
  const changes = await edit.result(new Map([...reasons.keys()].map((address) => [address, { suspended }])));
  const notes = [...reasons].map(
    ([address, reason]) => `${address} is declared with suspended: ${suspended} (${reason}).`,
  );
  if (notes.length > 0) return { changes, notes };
  const why = suspended ? "has an invoice that is overdue for so long" : "has a comment with an invoice that is paid";
  const none = counted(open.length, "service");
  return {
    changes,
    notes: [
      open.length === 0
        ? `Already declared with suspended: ${suspended}: ${counted(all.length, "service")}.`
        : `Of ${none}, none ${why}.`,
    ],
  };
}

/** Opens the account of each provider with its declared services in the state, by id. @returns the state. */
function eachAccount(
  { project, desired }: DeclarationEdit,
  services: readonly DesiredResource[],
  work: (provider: Provider, own: ReadonlyMap<string, DesiredResource>, state: State) => Promise<void>,
): Promise<State> {
  return interruptible(project.host, async (signal) => {
    const state = await project.state.read();
    const byAlias = Map.groupBy(services, ({ provider }) => provider);
    await withProviders(desired.providers, project, signal, async (providers) => {
      await providers.prepare(byAlias.keys());
      requireAccounts(byAlias.keys(), providers, state);
      for (const [alias, all] of byAlias) {
        const own = all.map((one) => [String(state.resources.get(one.address)?.attributes.id), one] as const);
        await work(providers.get(alias), new Map(own), state);
      }
    });
    return state;
  });
}

/**
 * Removes every grant of an e-mail address, in all blocks, templates and anchors. Declares undeclared grants with their id: the next
 * apply adopts them, and a second run removes them. Reads the grants of all declared services.
 * @throws HostformError `plan.address` if no grant is found, because the e-mail address may be mistyped.
 */
export async function revokePerson(project: Project, email: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project, true);
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) raise("usage/email", { email });
  const isTheirs = (value: unknown) => typeof value === "string" && sameEmail(value, email);
  const services = edit.desired.resources.filter(({ type }) => type === service.type);
  const isGrant = ({ address }: { readonly address: string }) => address.startsWith(`${nestedKind.type}.`);
  const declared = edit.desired.resources.filter(isGrant);
  const grants = declared.filter(({ config }) => isTheirs(config.email));
  const places = grants.flatMap((grant) => edit.placeOf(grant) ?? []);
  for (const { edit: file, path } of places)
    if (!isTheirs(path.at(-1)?.key)) throw file.byHand(path, "expression", `Remove ${email} from its values.`);
  const unused = edit.files.flatMap(({ edit: file }) =>
    file.paths.filter((path) => path.at(-2)?.key === "grants").map((path) => ({ edit: file, path })),
  );
  for (const { edit: file, path } of [...places, ...unused]) if (isTheirs(path.at(-1)?.key)) file.remove(path);
  const effects = new Map<string, "gone" | "any">(grants.map(({ address }) => [address, "gone"]));
  const notes = grants.map(({ address }) => `The next apply revokes ${address}.`);
  const emails = new Set(declared.map(({ config }) => String(config.email)));
  const state = await eachAccount(edit, services, async ({ account }, own, { resources }) => {
    const known = new Set([...resources.values()].map(({ attributes: { id, service_id } }) => `${service_id}/${id}`));
    for (const { id, attributes } of await grantsOf(account, own, project)) {
      const { email: key, permission = null, expires_at, service_id } = attributes;
      emails.add(String(key));
      const of = own.get(String(service_id));
      if (of === undefined || !isTheirs(key) || known.has(`${service_id}/${id}`)) continue;
      const address = `${of.address.replace(service.type, nestedKind.type)}["${key}"]`;
      if (effects.has(address)) continue;
      const body = { permission, ...(typeof expires_at === "string" && { expires_at }), import: id } as JsonObject;
      const { edit: file, path } = edit.block(of, "Add the grant there.");
      const inside = file.find(...path.map((step) => step.key), "grants");
      file.add(inside ?? path, inside ? { [String(key)]: body } : { grants: { [String(key)]: body } });
      effects.set(address, "any");
      notes.push(`${address} was not declared. The next apply adopts it. Then run this command again.`);
    }
  });
  for (const { address, attributes } of [...state.resources.values()].filter(isGrant)) {
    emails.add(String(attributes.email));
    if (isTheirs(attributes.email) && !effects.has(address)) notes.push(`${address} is no longer declared.`);
  }
  if (notes.length === 0 && unused.every(({ path }) => !isTheirs(path.at(-1)?.key))) {
    const searched = counted(services.length, "declared service");
    raise("plan.address/person", { email, searched, near: didYouMean(email, emails) });
  }
  return { changes: await edit.result(effects), notes };
}

async function grantsOf(account: Account, own: ReadonlyMap<string, DesiredResource>, { log }: Project) {
  const live = [...(await account.list(service)).values()].filter(({ id, phase }) => own.has(id) && phase !== "gone");
  const { objects, unread } = await readGrants(account, live, (open) => log.reading(open));
  for (const sentence of unread) log.say(sentence);
  return objects.get(nestedKind.type) ?? [];
}
