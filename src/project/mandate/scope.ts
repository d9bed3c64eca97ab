// Compares a plan with a mandate. Pure.
import { type Order, ordersOf } from "../../core/engine/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import { problem } from "../../core/messages/index.ts";
import {
  type Change,
  type ChangeFacts,
  changeFacts,
  clientOf,
  type Diagnostic,
  formatMoney,
  isNoOp,
  type JsonObject,
  type Mandate,
  type Plan,
  type Receipt,
  recordsOnly,
  some,
} from "../../core/model/index.ts";
import { type MoneyScale, sharedScale } from "../../report/index.ts";
import type { SavedPlan } from "../saved-plan.ts";
import { isSelected } from "../selection.ts";
import { limitsOf } from "./ledger.ts";

/** A plan with everything that a mandate limits. */
export interface Scoped {
  readonly mandate: Mandate;
  /** Remaining part of the mandate without the reservations of this plan's orders and removals. */
  readonly left: Receipt["left"];
  readonly plan: Plan;
  readonly environment: string | null;
  /** Objects that the mandate ordered, as in `objects`. */
  readonly ordered?: ReadonlySet<string>;
  readonly saved: Saved | undefined;
  /** Format of amounts in errors. */
  readonly moneyScale: MoneyScale;
}

type Saved = Pick<SavedPlan, "origin" | "digest" | "isProved">;

/** Returns the intended removals of a plan. */
export const removalsIn = (plan: Plan): readonly Change[] => {
  const removed = new Set(changeFacts(plan).flatMap(({ address, isRemoval }) => (isRemoval ? [address] : [])));
  return plan.changes.filter(({ address }) => removed.has(address));
};

/**
 * Returns errors about everything in a plan that the mandate does not allow. A mandate allows a plan as a whole or not at all.
 * Moves and imports need the same permission as other changes. Only new readings of unchanged resources need none.
 */
export function outOfScope({
  mandate,
  left,
  plan,
  environment,
  ordered = new Set(),
  saved,
  moneyScale,
}: Scoped): Diagnostic[] {
  const { id, accounts } = mandate;
  const found: Diagnostic[] = [];
  const refuse = (what: string, found_: readonly string[], allowed = "", digest?: string) =>
    found.push(problem("mandate.scope", { id, what, found: found_, allowed, digest }));
  if (plan.project !== mandate.project) refuse("it is for another project", [plan.project], mandate.project);
  if (environment !== mandate.environment)
    refuse("it is for another environment", [environment ?? "no environment"], mandate.environment ?? "no environment");
  const why = savedProblem(mandate, saved);
  if (why !== undefined) refuse(why, saved?.digest ? [saved.digest] : [], "", mandate.plan?.digest);
  const changes = plan.changes.filter(isChanged);
  const named = (list: readonly { readonly address: string }[]) => list.map(({ address }) => address);
  const except = (isAllowed: (change: Change) => boolean) => named(changes.filter((change) => !isAllowed(change)));
  const check = (what: string, addresses: readonly string[], allowed = "") =>
    addresses.length > 0 && refuse(what, addresses, allowed);
  check(
    "it changes another account",
    except(({ provider }) => Object.hasOwn(accounts, provider)),
    Object.keys(accounts).join(", "),
  );
  const { kinds: allowedKinds } = limitsOf(mandate);
  if (allowedKinds !== null) {
    const types = allowedKinds.map((kind) => `hosting_${kind}`);
    check(
      "it changes other kinds",
      except(({ type }) => types.includes(type)),
      allowedKinds.join(", ") || "no kind",
    );
  }
  if (mandate.targets.length > 0)
    check(
      "it changes other resources",
      except((change) => isTarget(mandate.targets, change)),
      mandate.targets.join(", "),
    );
  if (mandate.objects !== null) {
    const objects = new Set([...mandate.objects, ...ordered]);
    const created = changes.flatMap(({ address, before }) => (before === null ? [`\${${address}.id}`] : []));
    check(
      "it changes objects that the targets did not select when the mandate was signed",
      except((change) => isOfObjects(change, objects, created)),
      some([...objects]) || "only new objects",
    );
  }
  const facts = changeFacts(plan);
  const those = (which: (fact: ChangeFacts) => boolean) => named(facts.filter(which));
  if (mandate.no_offline)
    check(
      "it takes sites offline",
      those(({ takesOffline }) => takesOffline),
      "no site goes offline",
    );
  const removals = removalsIn(plan);
  if (left.removals !== null && removals.length > left.removals)
    refuse(
      "it removes too many resources",
      named(removals),
      `${left.removals} more of ${limitsOf(mandate).max_removals}`,
    );
  const orders = ordersOf(plan.changes, kinds);
  if (left.orders !== null && orders.length > left.orders)
    refuse(
      "it orders too much",
      named(orders),
      `${left.orders} more of ${limitsOf(mandate).max_orders ?? orders.length}`,
    );
  const { spend } = left;
  const amountsIn = (of: Readonly<Record<string, number>>) =>
    Object.entries(of).map(([name, sum]) =>
      formatMoney(sum, name, sharedScale(moneyScale, name, Object.keys(accounts))),
    );
  const sums = sumsOf(orders);
  if (spend !== null && sums === undefined) refuse("the price of an order is unknown", named(orders));
  else if (spend !== null && Object.entries(sums ?? {}).some(([name, sum]) => sum > (spend[name] ?? sum)))
    refuse("it spends too much", amountsIn(sums ?? {}), amountsIn(spend).join(", ") || "no amount");
  const unlimited = Object.keys(sums ?? {}).filter((name) => spend !== null && spend[name] === undefined);
  if (unlimited.length > 0) refuse(`it has no limit for ${some(unlimited)}`, named(orders));
  if (left.uses === 0) found.push(problem("mandate.used", { id, uses: mandate.uses }));
  return found;
}

/** Returns true if a change needs permission. */
const isChanged = (change: Change): boolean =>
  (!isNoOp(change) && !recordsOnly(change)) ||
  change.previousAddress !== undefined ||
  change.formerClient !== undefined ||
  change.importing !== undefined;

/** Returns true if the targets select a resource before and after its change, so that no change moves a resource into the targets. */
function isTarget(targets: readonly string[], change: Change): boolean {
  const { address, previousAddress = address } = change;
  const client = clientOf(change);
  const { formerClient = client } = change;
  const sides = [
    { address, client: client ?? undefined },
    { address: previousAddress, client: formerClient ?? undefined },
  ];
  return sides.every((side) => targets.some((target) => isSelected(target, side)));
}

/** Returns the name of an object, which no edit of the state or of the declaration gives to another object. */
export const objectName = (provider: string, type: string, id: unknown): string => `${provider} ${type} ${String(id)}`;

/**
 * Returns true if a change creates an object, or changes one of the objects or a child of one. The parent of a new child is one of the
 * objects too, or a reference to an object that the plan creates.
 */
function isOfObjects(change: Change, objects: ReadonlySet<string>, created: readonly string[]): boolean {
  const { type, provider, actions, words, before, after, config, importing } = change;
  const { parent } = words;
  const isChildOf = (attributes: JsonObject | null) =>
    parent !== undefined && objects.has(objectName(provider, parent.type, attributes?.[parent.attribute]));
  const id = importing?.id ?? before?.id;
  if (id !== undefined && !objects.has(objectName(provider, type, id)) && !isChildOf(before)) return false;
  if (parent === undefined || !actions.includes("create")) return true;
  return (
    isChildOf(after) || (after?.[parent.attribute] === null && created.includes(String(config?.[parent.attribute])))
  );
}

/** Returns the reason why a mandate does not allow this saved plan. */
function savedProblem({ plan }: Mandate, saved: Saved | undefined): string | undefined {
  if (plan === null) {
    if (saved === undefined || saved.isProved === true) return undefined;
    return "the saved plan is not signed with the key of the state, and the mandate names no plan";
  }
  if (saved === undefined) return "it is not the saved plan of the mandate";
  const { lineage, serial } = saved.origin;
  if (saved.digest !== plan.digest) return "it is another saved plan, or the saved plan was edited";
  return lineage === plan.lineage && serial === plan.serial ? undefined : "the saved plan is for another state";
}

/** Returns the sums of orders by currency. Undefined if a price is unknown. */
function sumsOf(orders: readonly Order[]): Readonly<Record<string, number>> | undefined {
  const sums: Record<string, number> = {};
  for (const { currency, most } of orders) {
    if (most === null) return undefined;
    sums[currency] = (sums[currency] ?? 0) + most;
  }
  return sums;
}
