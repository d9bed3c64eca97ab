/** The ledgers of a project: mandates and receipts in the stores of its accounts. */
import type { Mandate, Receipt } from "../../core/model/index.ts";
import { interruptible } from "../interrupt.ts";
import type { Project } from "../project.ts";
import { type Providers, withProviders } from "../providers.ts";
import { type MandateLedger, type MandateRecord, openLedger } from "./ledger.ts";

/** Opens the ledgers of all declared accounts for a task. Sends no request. */
export function withLedgers<T>(project: Project, work: (ledgers: readonly MandateLedger[]) => Promise<T>): Promise<T> {
  return interruptible(project.host, async (signal) => {
    const configs = await project.declaration.providers();
    return withProviders(configs, project, signal, async (providers) => {
      await providers.prepare(configs.keys());
      return work(ledgersOf(providers, project));
    });
  });
}

/** Returns the ledgers of prepared providers. */
export const ledgersOf = (providers: Providers, { host }: Pick<Project, "host">): readonly MandateLedger[] =>
  providers.servers().map(({ store }) => openLedger(store, host.clock));

/** Returns all mandates, oldest first. A mandate may be revoked in a ledger that does not know it. */
export async function recordsIn(ledgers: readonly MandateLedger[]): Promise<readonly MandateRecord[]> {
  const all = (await Promise.all(ledgers.map((ledger) => ledger.list()))).flat();
  const known = (one: MandateRecord) => (one.mandate === null ? 0 : 1);
  const byId = Map.groupBy(all, ({ id }) => id);
  const records = [...byId.values()].flatMap((same) => same.toSorted((a, b) => known(b) - known(a)).slice(0, 1));
  const since = ({ mandate, revoked }: MandateRecord) => mandate?.issued ?? revoked ?? "";
  return records.toSorted((a, b) => (since(a) < since(b) ? -1 : 1));
}

/** Revokes a mandate in all ledgers, because only its file names its account. @returns false if it was revoked before. */
export async function revokeIn(ledgers: readonly MandateLedger[], id: string, mandate?: Mandate): Promise<boolean> {
  const revoked = await Promise.all(ledgers.map((ledger) => ledger.revoke(id, mandate)));
  return revoked.some(Boolean);
}

/** A receipt with its signed text. Null without a signature. */
export interface StoredReceipt {
  readonly receipt: Receipt;
  readonly text: string | null;
}

/** Returns the receipts in the ledgers. */
export async function receiptsIn(ledgers: readonly MandateLedger[]): Promise<readonly StoredReceipt[]> {
  const uses = (await Promise.all(ledgers.map((ledger) => ledger.receipts()))).flat();
  return uses.flatMap(({ receipt, text }) => (receipt === null ? [] : [{ receipt, text }]));
}
