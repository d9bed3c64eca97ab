import { describeEndpoint } from "../../api/endpoints.ts";
import type { PlanRecord } from "../../api/index.ts";
import { problem } from "../../messages/index.ts";
import { type Diagnostic, type JsonObject, sameFolded, type ValueObject } from "../../model/index.ts";
import type { ChangeStep } from "../kind.ts";
import { listPrice } from "./quote.ts";
import { isHosting, monthsOf, passwordForm } from "./words.ts";

/** Returns the step that sets a password or lets the host generate one (§4 POST /services/{id}/password). */
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
      // Save the version even if the password is missing. Otherwise the next apply would reset the password of a live server
      // again.
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

/** Returns the warning about a generated password that the state does not contain. */
function unknownPassword(live: JsonObject): Diagnostic[] {
  const { product_type: type, generated_password: password, generated_password_fingerprint: print } = live;
  if (typeof type !== "string" || passwordForm(type) !== "generated" || (password ?? print ?? null) !== null) return [];
  return [problem("secret.lost/unknown", { attribute: ["password_version"] })];
}

/**
 * Returns an error if a required password is missing, or if one is declared for a product with generated passwords (§4). The
 * plan checks this before the order, because the password step would fail after the order.
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

/** Returns an error if the domain is missing although the product of the hosting plan requires one (§4). */
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

/** Returns the ids of hosting plans with this name. The API returns only the name (§2). */
export const namesakesOf = (plans: readonly PlanRecord[], name: unknown): number[] => {
  const ids = plans.flatMap((plan) => {
    const same = typeof name === "string" && plan.name !== null && sameFolded(plan.name, name);
    return same && plan.plan_id !== null ? [plan.plan_id] : [];
  });
  return [...new Set(ids)];
};

/**
 * Returns the hosting plan of a live service by number or name. If several plans have the name, or the host returns no name,
 * price and billing cycle decide. If several plans remain, `id` is undefined and `candidates` contains them.
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
 * Returns an error if an adopted service certainly has another hosting plan than declared. The API returns only the name of
 * the plan (§2): the list must contain the declared number with another name, and the service's name with another number.
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

/** Returns the step that queues a suspension or its end (§3). The step ends when the API returns the new phase. */
export function suspension(prior: JsonObject, suspend: boolean): ChangeStep<"suspendService" | "unsuspendService"> {
  return {
    name: suspend ? "suspending" : "unsuspending",
    mutation: { endpoint: suspend ? "suspendService" : "unsuspendService", params: { id: String(prior.id) } },
    accept: () => ({ attributes: {} }),
    toward: suspend ? "suspended" : "live",
  };
}
