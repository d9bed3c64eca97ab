import { describeEndpoint } from "../../api/endpoints.ts";
import type { PlanRecord } from "../../api/index.ts";
import { problem } from "../../messages/index.ts";
import { type Diagnostic, type JsonObject, sameFolded, type ValueObject } from "../../model/index.ts";
import type { ChangeStep } from "../kind.ts";
import { listPrice } from "./quote.ts";
import { isHosting, monthsOf, passwordForm } from "./words.ts";

/** Returns the request that sets or generates the password (§4 POST /services/{id}/password). */
export function passwordStep(prior: JsonObject, planned: JsonObject, config: JsonObject): ChangeStep<"resetPassword"> {
  const form = passwordForm(typeof prior.product_type === "string" ? prior.product_type : null);
  const given = form === "given" || (form === "unknown" && typeof config.password === "string");
  return {
    name: "setting the password",
    mutation: {
      endpoint: "resetPassword",
      params: { id: String(prior.id) },
      ...(given && { body: { password: config.password ?? null } }),
    },
    accept(answer) {
      const done = { password_version: planned.password_version ?? null };
      const earlier = { generated_password: null, generated_password_fingerprint: null };
      if (given) return { attributes: { ...done, ...earlier } };
      // Save the version in both cases. The host would return the same response again, and a live server would be reset for
      // nothing.
      if (answer.password === null) {
        const about = { endpoint: describeEndpoint("resetPassword"), names: answer.names ?? "none" };
        const lost = (isLast: boolean) =>
          problem("secret.lost/password", { ...about, mayBeGiven: form === "unknown", isLast });
        const never = { attributes: { ...done, ...earlier }, warning: lost(true) };
        return { ...never, ...(answer.names === undefined && { once: { attributes: earlier, warning: lost(false) } }) };
      }
      return { attributes: { ...done, ...earlier, generated_password: answer.password } };
    },
  };
}

/** Returns a warning, in each plan, about an unknown generated password. */
function unknownPassword(live: JsonObject): Diagnostic[] {
  const { product_type: type, generated_password: password, generated_password_fingerprint: print } = live;
  if (typeof type !== "string" || passwordForm(type) !== "generated" || (password ?? print ?? null) !== null) return [];
  return [problem("secret.lost/unknown", { attribute: ["password_version"] })];
}

/**
 * Checks that a password is declared if the product needs one, and not declared if the host generates it (§4). The check runs
 * before a password is set, so that no order is placed and then fails.
 */
export function passwordSuits(
  config: ValueObject,
  live: JsonObject | undefined,
  plans: readonly PlanRecord[],
): Diagnostic[] {
  const version = config.password_version;
  if (version === undefined || version === null) return [];
  if (version === live?.password_version) return unknownPassword(live);
  const ordered = plans.find(({ plan_id: id }) => id === config.plan_id)?.product_type ?? null;
  const type = live === undefined ? ordered : live.product_type;
  const form = passwordForm(typeof type === "string" ? type : null);
  const given = config.password !== undefined && config.password !== null;
  const about = { type: JSON.stringify(type) };
  if (form === "given" && !given)
    return [problem("config.missing_attribute/password", { ...about, attribute: ["password_version"] })];
  return form === "generated" && given
    ? [problem("config.invalid_value/password", { ...about, attribute: ["password"] })]
    : [];
}

/**
 * Checks that a domain is declared if the list of hosting plans shows a hosting product. A domain is "required for hosting
 * plans" (§4).
 */
export function domainSuits(
  { plan_id: id, domain }: ValueObject,
  live: JsonObject | undefined,
  plans: readonly PlanRecord[],
): Diagnostic[] {
  if (live !== undefined || (domain !== undefined && domain !== null)) return [];
  const type = plans.find((plan) => plan.plan_id === id)?.product_type ?? null;
  if (!isHosting(type)) return [];
  const about = { id: String(id), type: JSON.stringify(type), attribute: ["domain"] };
  return [problem("config.missing_attribute/domain", about)];
}

/** Returns the numbers of the hosting plans with a service's plan name, because the API returns no plan id (§2). */
export const namesakesOf = (plans: readonly PlanRecord[], name: unknown): number[] => {
  const ids = plans.flatMap((plan) => {
    const same = typeof name === "string" && plan.name !== null && sameFolded(plan.name, name);
    return same && plan.plan_id !== null ? [plan.plan_id] : [];
  });
  return [...new Set(ids)];
};

/**
 * Returns the hosting plan of a live service, by number or name. If the name is ambiguous or missing, returns the only plan
 * with matching price and cycle. If this is uncertain, `id` is undefined and `candidates` lists the possible plans.
 */
export function planOf(
  live: JsonObject,
  plans: readonly PlanRecord[],
): { readonly id: number | undefined; readonly candidates: readonly PlanRecord[] } {
  if (typeof live.plan_id === "number") return { id: live.plan_id, candidates: [] };
  const numbered = plans.filter(({ plan_id: id }) => id !== null);
  const all = [...new Map(numbered.map((plan) => [plan.plan_id, plan])).values()];
  const isNamed = typeof live.plan === "string";
  const ids = namesakesOf(plans, live.plan);
  const same = isNamed ? all.filter(({ plan_id: id }) => ids.includes(id ?? 0)) : all;
  const candidates = same.toSorted((a, b) => (a.plan_id ?? 0) - (b.plan_id ?? 0));
  if (isNamed && ids.length === 1) return { id: ids[0], candidates };
  const currency = typeof live.currency === "string" ? live.currency.toUpperCase() : "";
  const months = monthsOf(typeof live.billing_cycle === "string" ? live.billing_cycle : null);
  const fits = (plan: PlanRecord) =>
    typeof live.price === "number" &&
    listPrice(plan, currency) === live.price &&
    months !== undefined &&
    monthsOf(plan.billing_cycle) === months;
  const fitting = new Set(
    numbered
      .filter((plan) => candidates.some(({ plan_id: id }) => id === plan.plan_id) && fits(plan))
      .map(({ plan_id: id }) => id),
  );
  const [only] = fitting;
  return { id: fitting.size === 1 && only != null ? only : undefined, candidates };
}

/**
 * Checks the declared number of an adopted service's hosting plan. The API returns only the plan's name (§2). The declaration
 * is wrong if the list gives the number another name, and the service's name another number.
 */
export function planSuits(
  { plan_id: id }: ValueObject,
  live: JsonObject | undefined,
  plans: readonly PlanRecord[],
): Diagnostic[] {
  if (live === undefined || live.plan_id != null || typeof id !== "number" || typeof live.plan !== "string") return [];
  const { plan: name } = live;
  const declared = plans.find((plan) => plan.plan_id === id)?.name;
  const namesakes = namesakesOf(plans, name);
  if (declared == null || namesakes.length === 0 || namesakes.includes(id)) return [];
  const names = { declared: JSON.stringify(declared), name: JSON.stringify(name), namesakes: namesakes.join(" or ") };
  return [problem("plan.mismatch/plan", { id, ...names, attribute: ["plan_id"] })];
}

/** Returns the request that queues a suspension or its end (§3). The job ends when the service shows the new status. */
export function suspension(prior: JsonObject, suspend: boolean): ChangeStep<"suspendService" | "unsuspendService"> {
  return {
    name: suspend ? "suspending" : "unsuspending",
    mutation: { endpoint: suspend ? "suspendService" : "unsuspendService", params: { id: String(prior.id) } },
    accept: () => ({ attributes: {} }),
    toward: suspend ? "suspended" : "live",
  };
}
