/**
 * The plan that a service has, beside the plan that was ordered. Many hosts show only the name of a plan; the list of plans has its
 * number. In: an order and a look at its object. Out: the look with the number of the plan. A plan that was not ordered is an own form that never
 * counts as the ordered one.
 */
import type { PlanRecord } from "../api/index.ts";
import type { Kind, Remote } from "../kinds/kind.ts";
import { conditionFor } from "../messages/index.ts";
import {
  type Condition,
  ifExplained,
  isPart,
  type Json,
  type JsonObject,
  type OwnForm,
  type ResourceState,
  sameFolded,
  type Value,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import { type Forms, formsOf } from "./attributes.ts";

interface Order {
  /** Number of the ordered plan. */
  readonly number: Json | undefined;
  /** The name under which the host has shown the object so far. */
  readonly name?: Json | undefined;
}

/**
 * Adds the number of the plan to a look at an object.
 * @returns also the own forms of number and name if the object has another plan. `is` of the number is null if several plans have the name.
 */
export function soldAs(
  { fromCatalogue: of }: Kind,
  { number: ordered, name: earlier }: Order,
  live: JsonObject,
  plans: readonly PlanRecord[],
): { readonly live: JsonObject; readonly forms: Forms } {
  if (of === undefined || typeof ordered !== "number") return { live, forms: {} };
  const offered = plans.find(({ plan_id: id, name }) => id === ordered && name !== null)?.name;
  const shown = live[of.name] ?? null;
  if (shown === null && live[of.attribute] == null)
    return { live: offered == null ? live : { ...live, [of.name]: offered }, forms: {} };
  const numbers = of.numbersOf(plans, shown);
  const [only = null, ...others] = numbers;
  // A name of no plan may be the host's own notation.
  const isOther =
    numbers.length > 0 ? (earlier ?? offered) != null : earlier != null && shown !== null && !isPart(earlier, shown);
  const byName = numbers.includes(ordered) ? ordered : isOther ? (others.length === 0 ? only : null) : undefined;
  const number = live[of.attribute] ?? byName;
  if (number === undefined) return { live, forms: {} };
  const numbered = number === null ? live : { ...live, [of.attribute]: number };
  if (number === ordered) return { live: numbered, forms: {} };
  const formOf = (sent: Json, is: Json): OwnForm => ({ sent, is, times: 1 });
  return {
    live: numbered,
    forms: { [of.attribute]: formOf(ordered, number), [of.name]: formOf(earlier ?? offered ?? null, shown) },
  };
}

/** A recorded object as a look shows it, with the number of its plan. Reads the list of plans only if the name has changed. */
export async function asSold<Live extends Pick<Remote, "attributes">>(
  account: Account,
  kind: Kind,
  { attributes: recorded, private: mark }: Pick<ResourceState, "attributes" | "private">,
  remote: Live,
): Promise<{ readonly remote: Live; readonly forms: Forms }> {
  const { fromCatalogue: of } = kind;
  if (of === undefined) return { remote, forms: {} };
  const { attributes: live } = remote;
  const { [of.attribute]: form, [of.name]: named } = formsOf(mark, recorded);
  const number = form?.sent ?? recorded[of.attribute];
  const was = recorded[of.name] ?? null;
  const shown = live[of.name] ?? null;
  const isNumbered = live[of.attribute] != null;
  const isKnown = was === null || shown === null || sameFolded(was, shown);
  if (!isNumbered && (shown === null || (isKnown && form !== undefined))) {
    // A host that shows no name leaves the one that the order recorded.
    const attributes = {
      ...live,
      [of.name]: shown ?? was,
      ...(form !== undefined && form.is !== null && { [of.attribute]: form.is }),
    };
    return { remote: { ...remote, attributes }, forms: {} };
  }
  const plans = await account.knownPlans(isNumbered || isKnown).catch(ifExplained(() => []));
  const order = isKnown && !isNumbered ? { number } : { number, name: named?.sent ?? was };
  const sold = soldAs(kind, order, live, plans);
  return { remote: { ...remote, attributes: sold.live }, forms: sold.forms };
}

/** Returns true if the object has another plan than the declared one, which was ordered. */
export const isOtherPlan = (
  { fromCatalogue }: Kind,
  name: string,
  form: OwnForm | undefined,
  declared: Value,
): form is OwnForm =>
  name === fromCatalogue?.attribute && form !== undefined && form.sent === declared && form.is !== form.sent;

/** Returns true for an own form that the condition of another plan reports. */
export const isOfPlan = ({ fromCatalogue: of }: Kind, name: string): boolean =>
  name === of?.attribute || name === of?.name;

/** The condition of an object with another plan than the ordered one; undefined if it has the ordered one. */
export function otherPlan(
  { kind, address }: { readonly kind: Kind; readonly address: string },
  { id }: JsonObject,
  forms: Forms,
): Condition | undefined {
  const { attribute = "", name = "" } = kind.fromCatalogue ?? {};
  const number = forms[attribute];
  const named = forms[name];
  if (number === undefined || number.is === number.sent) return undefined;
  return conditionFor("other_plan", {
    address,
    noun: kind.noun,
    id: String(id),
    attribute: [attribute],
    is: { name: named?.is ?? null, number: number.is },
    ordered: { name: named?.sent ?? null, number: number.sent },
  });
}
