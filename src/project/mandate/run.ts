/** The mandate of a run: read before the run, compared with the plan, used once before the first request, ended with a receipt. */
import { hash } from "node:crypto";
import path from "node:path";
import { type Limits, type Order, type Ordered, ordersOf } from "../../core/engine/index.ts";
import { read, replace } from "../../core/files/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import { problem, raise } from "../../core/messages/index.ts";
import {
  type ApplyResult,
  type Diagnostic,
  fileFailure,
  formatMoney,
  isFulfilled,
  type Mandate,
  type Plan,
  parseAddress,
  type Receipt,
  type ReceiptOrder,
  utf8,
} from "../../core/model/index.ts";
import type { OpenState } from "../../core/record/index.ts";
import { invoiceName } from "../../report/index.ts";
import { orderKey } from "../history.ts";
import { type Identities, proveAccounts } from "../identity.ts";
import { placeForOutput } from "../output-place.ts";
import type { Project } from "../project.ts";
import type { Providers } from "../providers.ts";
import type { SavedPlan } from "../saved-plan.ts";
import type { ProjectSource } from "../source.ts";
import { MOST_BYTES, readMandate, requireInForce, signReceipt } from "./document.ts";
import { ifForeign } from "./gate.ts";
import { privateKeyOf, RUNNER } from "./keys.ts";
import {
  excessesIn,
  leftOf,
  type MandateLedger,
  type MandateOrder,
  needsSharedStore,
  openLedger,
  orderIn,
} from "./ledger.ts";
import { objectName, outOfScope, removalsIn, type Scoped } from "./scope.ts";

/** A mandate as the user passes it. */
export interface GivenMandate {
  readonly text: string;
  /** Path for messages. */
  readonly file: string;
  /** File for the receipt. */
  readonly receipt?: string | undefined;
}

/** Reads the file of a mandate. Its signature is checked by the run. @throws HostformError `mandate.file`. */
export async function mandateIn({ cwd }: ProjectSource, file: string, receipt?: string): Promise<GivenMandate> {
  const text = await read(path.resolve(cwd, file), { limit: MOST_BYTES + 1 })
    .then(utf8)
    .catch((error: unknown) => raise("mandate.file/read", { file, why: fileFailure(error) }));
  return { text, file, receipt };
}

/** The parts of a run that a mandate limits. */
interface Planned {
  readonly plan: Plan;
  readonly identities: Identities;
  readonly providers: Providers;
  readonly saved: SavedPlan | undefined;
}

interface Beginning extends Pick<Planned, "plan" | "providers"> {
  readonly store: Pick<OpenState, "state" | "advance" | "proveLock">;
}

interface Ending {
  readonly plan: Plan;
  readonly store: Pick<OpenState, "state">;
  /** Sentences about completed and unfinished changes. */
  readonly effects: readonly string[];
}

/** Returns the open reservations of a plan among the orders. The plan sends these orders again. */
const isOwn = (keys: ReadonlySet<string>, [name, { id }]: readonly [string, MandateOrder]) =>
  id === null && keys.has(name.split(" ")[0] ?? "");

export class RunMandate {
  readonly mandate: Mandate;
  readonly #parts: Project;
  #ledger: MandateLedger | undefined;
  #digest: string | null = null;
  #lineage = "";
  #use: { readonly number: number; readonly began: string; readonly removals: readonly string[] } | undefined;
  #receiptFile: string | undefined;

  private constructor(mandate: Mandate, parts: Project) {
    this.mandate = mandate;
    this.#parts = parts;
  }

  /** Reads the mandate of a run. @throws HostformError `mandate.*`, `usage` for the file of the receipt. */
  static async open(parts: Project, given: GivenMandate): Promise<RunMandate> {
    const { source, host } = parts;
    const mandate = readMandate(given.text, given.file, source.env, host.clock.now());
    const opened = new RunMandate(mandate, parts);
    if (given.receipt !== undefined) opened.#receiptFile = await placeForOutput(source, given.receipt, "receipt");
    // A wrong key is an error before the first request.
    await opened.#key();
    return opened;
  }

  /** Compares a plan with the mandate. @throws HostformError `mandate.store`, `account.foreign`; errors of the store. */
  async check({ plan, identities, providers, saved }: Planned): Promise<readonly Diagnostic[]> {
    const { mandate } = this;
    const { id, accounts } = mandate;
    await proveAccounts(
      [...identities.keys()].filter((alias) => Object.hasOwn(accounts, alias)),
      providers,
      accounts,
    ).catch(ifForeign(id));
    // Several accounts count in the store of the first.
    const [first = ""] = Object.keys(accounts).sort();
    const all = await Promise.all([...identities.keys()].map((alias) => providers.use(alias)));
    const { clock } = this.#parts.host;
    // A slow clock of the runner does not extend the mandate.
    const now = () => Math.max(clock.now(), ...all.map(({ account }) => account.hostNow()));
    requireInForce(mandate, `Mandate ${id}`, now());
    const { store } = (await providers.use(first)).account;
    const isShared = store?.sharing === "machines";
    if (store?.sharing === undefined || (!isShared && needsSharedStore(mandate)))
      return raise("mandate.store", { id, isMemory: store?.sharing === undefined });
    this.#ledger = openLedger(store, { now });
    this.#digest = saved?.digest ?? null;
    const environment = this.#parts.source.environment?.name ?? null;
    const { moneyScale } = providers;
    return outOfScope({ mandate, plan, environment, saved, moneyScale, ...(await this.#leftBeside(plan)) });
  }

  /** Returns the limits of a run. Each order also counts toward the mandate. */
  limits(limits: Limits): Limits {
    return { ...limits, mandate: { reserve: (order) => this.#reserve(order) } };
  }

  /**
   * Takes a use before the first request. The state gets a new serial, so that no machine can apply the same saved plan again.
   * @throws HostformError `mandate.time`, `mandate.revoked`, `mandate.used`, `mandate.limit`; nothing was sent.
   */
  async begin({ plan, store, providers }: Beginning): Promise<void> {
    const ledger = this.#opened();
    const began = new Date(this.#parts.host.clock.now()).toISOString();
    const names = removalsIn(plan).map(({ address, before }) => removalKey(store.state.lineage, address, before?.id));
    const removals = await ledger.remove(this.mandate, names);
    const number = await ledger.begin(this.mandate, this.#digest).catch(async (error: unknown) => {
      await ledger.release(this.mandate, removals);
      throw error;
    });
    this.#use = { number, began, removals };
    await store.advance();
    await store.proveLock();
    this.#lineage = store.state.lineage;
    providers.isMandated = true;
  }

  /**
   * Writes the receipt of the use. Undefined if no use was taken.
   * @param result Undefined if the apply failed before its end.
   * @returns the receipt, errors about invoices above the mandate, and warnings about a receipt that could not be written.
   */
  async end({ plan, effects, store }: Ending, result: ApplyResult | undefined): Promise<Ended> {
    const use = this.#use;
    if (use === undefined) return { receipt: undefined, diagnostics: [] };
    const { mandate } = this;
    const ledger = this.#opened();
    const { host, redaction } = this.#parts;
    try {
      const outcomes = new Map(result?.outcomes.map((one) => [one.address, one]));
      const isUndone = ({ address }: { readonly address: string }) =>
        ["not-started", "skipped"].includes(outcomes.get(address)?.result ?? "");
      const names = removalsIn(plan)
        .filter(isUndone)
        .map((one) => removalKey(plan.lineage, one.address, one.before?.id));
      await ledger.release(
        mandate,
        names.filter((name) => use.removals.includes(name)),
      );
      const record = await ledger.read(mandate.id);
      const scale = await this.#parts.declaration.moneyScale();
      const diagnostics = excessesIn(mandate, record.orders.values()).flatMap(({ order, currency, limit }) => {
        const { address, provider, spend } = order;
        const invoice = outcomes.get(address)?.invoice ?? { id: null, number: null };
        const money = (amount: number) => formatMoney(amount, currency, scale(currency, provider));
        const amounts = { amount: money(spend[currency] ?? 0), limit: money(limit) };
        if (order.use !== use.number) return [];
        return problem("mandate.limit/exceeded", {
          id: mandate.id,
          address,
          invoice: invoiceName(invoice),
          ...amounts,
        });
      });
      const orders = new Map(ordersOf(plan.changes, kinds).map((order) => [order.address, order]));
      const receipt: Receipt = {
        mandate: mandate.id,
        use: use.number,
        project: mandate.project,
        environment: mandate.environment,
        plan: this.#digest,
        began: use.began,
        ended: new Date(host.clock.now()).toISOString(),
        complete: result !== undefined && isFulfilled(result) && diagnostics.length === 0,
        orders: [...record.orders.values()].flatMap((one): ReceiptOrder[] => {
          const { address } = one;
          if (one.use !== use.number) return [];
          const { invoice } = outcomes.get(address) ?? {};
          const known = store.state.resources.get(address)?.attributes.id;
          return [
            {
              ...orderIn(one, orders.get(address)?.currency),
              id: one.id ?? (typeof known === "string" ? known : null),
              invoice: invoice ? { id: invoice.id, number: invoice.number, total: invoice.total } : null,
            },
          ];
        }),
        effects,
        left: leftOf(mandate, record),
      };
      const shown = redaction.redactValue(receipt) as unknown as Receipt;
      const key = await this.#key();
      const text = signReceipt(shown, key);
      await ledger.finish(mandate, shown, key === undefined ? null : text);
      if (this.#receiptFile !== undefined) await replace(this.#receiptFile, text);
      return { receipt: shown, diagnostics };
    } catch (error) {
      const reason = fileFailure(error);
      return { receipt: undefined, diagnostics: [problem("mandate.receipt", { id: mandate.id, reason })] };
    }
  }

  async #reserve(order: Order) {
    const { mandate } = this;
    const use = this.#use;
    if (use === undefined) throw new Error("an order before the use of its mandate");
    const settle = await this.#opened().reserve(mandate, use.number, orderKey(this.#lineage, order), order);
    // If the write fails, the reserved amount stays.
    return (end: Ordered | undefined) => settle(end).catch(() => {});
  }

  /** Returns the remaining part of the mandate without the open reservations of this plan, and the objects of its orders. */
  async #leftBeside(plan: Plan): Promise<Pick<Scoped, "left" | "ordered">> {
    const record = await this.#opened().read(this.mandate.id);
    const keys = new Set(ordersOf(plan.changes, kinds).map((order) => orderKey(plan.lineage, order)));
    const removed = removalsIn(plan).map(({ address, before }) => removalKey(plan.lineage, address, before?.id));
    const left = leftOf(this.mandate, {
      ...record,
      orders: new Map([...record.orders].filter((entry) => !isOwn(keys, entry))),
      removals: new Set([...record.removals].filter((name) => !removed.includes(name))),
    });
    const ordered = [...record.orders.values()].flatMap(({ address, provider, id }) =>
      id === null ? [] : [objectName(provider, parseAddress(address)?.type ?? "", id)],
    );
    return { left, ordered: new Set(ordered) };
  }

  #opened(): MandateLedger {
    if (this.#ledger === undefined) throw new Error("a mandate that was not checked");
    return this.#ledger;
  }

  /** Returns the key of the runner, if it has one. @throws HostformError `mandate.key`. */
  #key() {
    return privateKeyOf(this.#parts, RUNNER);
  }
}

/** End of a use. */
interface Ended {
  readonly receipt: Receipt | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Returns the name of a removal, the same for all attempts. */
const removalKey = (lineage: string, address: string, id: unknown): string =>
  hash("sha256", JSON.stringify([lineage, address, id ?? null])).slice(0, 16);
