/**
 * Compares the hosting plan of a service with the ordered one. Many hosts return only the name of a hosting plan; the list of
 * hosting plans contains its number. Input: an order and its object. Output: the object with the number of its plan. If
 * another plan was delivered, it is saved as a normalized value that never counts as equal.
 */
import type { PlanRecord } from "../api/index.ts";
import type { Kind, Remote } from "../kinds/kind.ts";
import { conditionFor } from "../messages/index.ts";
import {
  type Condition,
  type Forms,
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

interface Order {
  /** Number of the ordered hosting plan. */
  readonly number: Json | undefined;
  /** Plan name that the host returned earlier. */
  readonly name?: Json | undefined;
}

/**
 * Adds the number of the hosting plan to an object.
 * @returns also normalized values of number and name, if the object has another plan than ordered. The number's `is` is null
 * if several plans share the name.
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
  // A name that no plan has may be the host's own spelling.
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

/**
 * Adds the number of the hosting plan to a live object. Reads the list of hosting plans only if the API returns no number and
 * the name differs from the state.
 */
export async function asSold<Live extends Pick<Remote, "attributes">>(
  account: Account,
  kind: Kind,
  { attributes: recorded, private: mark }: Pick<ResourceState, "attributes" | "private">,
  remote: Live,
): Promise<{ readonly remote: Live; readonly forms: Forms }> {
  const { fromCatalogue: of } = kind;
  if (of === undefined) return { remote, forms: {} };
  const { attributes: live } = remote;
  const { [of.attribute]: form, [of.name]: named } = mark.shown ?? {};
  const number = form?.sent ?? recorded[of.attribute];
  const was = recorded[of.name] ?? null;
  const shown = live[of.name] ?? null;
  const isNumbered = live[of.attribute] != null;
  const isKnown = was === null || shown === null || sameFolded(was, shown);
  if (!isNumbered && (shown === null || (isKnown && form !== undefined))) {
    // If the host returns no name, keep the name of the order.
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

/** Returns true if the object has another hosting plan than declared and ordered. */
export const isOtherPlan = (
  { fromCatalogue }: Kind,
  name: string,
  form: OwnForm | undefined,
  declared: Value,
): form is OwnForm =>
  name === fromCatalogue?.attribute && form !== undefined && form.sent === declared && form.is !== form.sent;

/** Returns true for the attributes that the condition `other_plan` reports. */
export const isOfPlan = ({ fromCatalogue: of }: Kind, name: string): boolean =>
  name === of?.attribute || name === of?.name;

/** Returns the condition of an object with another hosting plan than ordered. Undefined if the plans are equal. */
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
