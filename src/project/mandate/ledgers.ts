/** The ledgers of a project: mandates and receipts in the stores of its accounts. */
import { raise } from "../../core/messages/index.ts";
import { attempt, type Mandate, type Receipt, type ReceiptOrder } from "../../core/model/index.ts";
import { requireAccounts } from "../identity.ts";
import { interruptible } from "../interrupt.ts";
import type { Project } from "../project.ts";
import { type Providers, withProviders } from "../providers.ts";
import { ifForeign } from "./gate.ts";
import { type MandateLedger, type MandateRecord, needsSharedStore, openLedger, orderIn } from "./ledger.ts";

/** Opens the ledgers of all declared accounts for a task. Sends no request. */
export function withLedgers<T>(
  project: Project,
  work: (ledgers: readonly MandateLedger[], providers: Providers) => Promise<T>,
): Promise<T> {
  return interruptible(project.host, async (signal) => {
    const configs = await project.declaration.providers();
    return withProviders(configs, project, signal, async (providers) => {
      await providers.prepare(configs.keys());
      return work(ledgersOf(providers, project), providers);
    });
  });
}

/** Returns the ledgers of prepared providers. */
export const ledgersOf = (providers: Providers, { host }: Pick<Project, "host">): readonly MandateLedger[] =>
  providers.servers().map(({ store }) => openLedger(store, host.clock));

/** Returns all mandates, oldest first. A revoked mandate is in all ledgers, but only one ledger has its uses. */
export async function recordsIn(ledgers: readonly MandateLedger[]): Promise<readonly MandateRecord[]> {
  const all = (await Promise.all(ledgers.map((ledger) => ledger.list()))).flat();
  const size = ({ mandate, uses }: MandateRecord) => uses.length + (mandate === null ? 0 : 1);
  const records = new Map(all.toSorted((a, b) => size(a) - size(b)).map((one) => [one.id, one]));
  const since = ({ id, mandate, revoked }: MandateRecord) => `${mandate?.issued ?? revoked} ${id}`;
  return [...records.values()].toSorted((a, b) => (since(a) < since(b) ? -1 : 1));
}

/** Form of the ids that hostform creates. A mandate may be revoked before its first use. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * Revokes a mandate in all ledgers, because only its file names its account.
 * @param mandate content of the file, if known.
 * @returns `isNew`: false if the mandate was revoked before. `isKnown`: true if a run used the mandate, or if it was revoked before.
 *   `isShared`: true if the revocation stops the runs on all machines.
 * @throws HostformError `account.foreign` for a mandate of other accounts, `mandate.file` for an unknown word, `mandate.store` if the
 *   revocation would stop nothing.
 */
export const revokeMandate = (project: Project, id: string, mandate?: Mandate) =>
  withLedgers(project, async (ledgers, providers) => {
    const { accounts = {} } = mandate ?? {};
    const aliases = Object.keys(accounts);
    attempt(() => requireAccounts(aliases, providers, { resources: new Map() }, accounts), ifForeign(id));
    const record = (await recordsIn(ledgers)).find((one) => one.id === id);
    const isKnown = record !== undefined;
    if (mandate === undefined && !isKnown && !UUID.test(id))
      raise("mandate.file", { file: id, what: "mandate", why: "there is no such file, and no mandate has this id" });
    const isShared = providers.servers().every(({ store }) => store.sharing === "machines");
    const known = mandate ?? record?.mandate;
    if (!isShared && known && needsSharedStore(known)) raise("mandate.store/revoke", { id });
    const revoked = await Promise.all(ledgers.map((ledger) => ledger.revoke(id, mandate)));
    return { isNew: revoked.some(Boolean), isKnown, isShared };
  });

/** A use of a mandate with its receipt. */
export interface StoredReceipt {
  readonly mandate: string;
  readonly use: number;
  readonly began: string;
  /** Null while the apply runs, or after it crashed. */
  readonly receipt: Receipt | null;
  /** Signed text. Null without a signature. */
  readonly text: string | null;
  /** File of the receipt. Null: the ledger. */
  readonly file: string | null;
  /** Orders of the receipt. Without a receipt: orders that the ledger counts. */
  readonly orders: readonly ReceiptOrder[];
}

/** Returns the uses in the ledgers. The ledger determines mandate and use, so that no receipt counts twice. */
export const receiptsIn = (records: readonly MandateRecord[]): readonly StoredReceipt[] =>
  records.flatMap(({ id: mandate, uses, orders }) =>
    uses.map(({ use, began, receipt, text }) => {
      const counted = [...orders.values()].flatMap((one) => (one.use === use ? orderIn(one) : []));
      const shown = receipt && { ...receipt, mandate, use };
      return { mandate, use, began, receipt: shown, text, file: null, orders: receipt?.orders ?? counted };
    }),
  );
