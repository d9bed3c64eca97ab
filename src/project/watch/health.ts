/** Counts the checks of a watch for monitoring. */
import { type Clock, CONDITION_NAMES, type Plan } from "../../core/model/index.ts";

const RESULTS = ["as_declared", "differs", "refused", "applied", "incomplete", "widened", "failed"];

const HELP: Readonly<Record<string, string>> = {
  watch_last_success_timestamp_seconds: "End of the last successful check.",
  watch_checks_total: "Checks by result.",
  watch_requests_total: "Requests.",
  conditions: "Conditions of the last complete check.",
  request_budget_left: "Requests left.",
  spend_month: "Cost of the orders of this month (UTC), by currency, in the unit of the API.",
};

export class Health {
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** Number of checks by result. */
  readonly #looks = new Map<string, number>(RESULTS.map((result) => [result, 0]));
  #requests = 0;
  /** Conditions in the last complete check. */
  #conditions: Plan["conditions"];
  /** Cost of this month's orders, by currency. */
  spend: ReadonlyMap<string, number> | undefined;
  /** End of the last successful check, in milliseconds since the epoch. 0: none yet. */
  #successAt = 0;
  /** Monotonic time of the last successful check. Before it: start of the watch. */
  #aliveAt: number;

  /** @param intervalMs Time between two checks, in milliseconds. */
  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock;
    // Time for one missed check, plus a minute for its requests.
    this.#limitMs = 2 * intervalMs + 60_000;
    this.#aliveAt = clock.monotonic();
  }

  /** Adds a check. @param plan Plan of a complete check. @param result For example `as_declared` or `failed`. */
  ended(result: string, isGood: boolean, requests = 0, plan?: Plan): void {
    this.#looks.set(result, (this.#looks.get(result) ?? 0) + 1);
    this.#requests += requests;
    if (plan !== undefined) this.#conditions = plan.conditions ?? [];
    if (!isGood) return;
    this.#successAt = this.#clock.now();
    this.#aliveAt = this.#clock.monotonic();
  }

  /**
   * Returns the response of `/healthz` or `/metrics`. Healthy: a check succeeded within two intervals and a minute.
   * @param budget Number of requests left in this minute.
   */
  page(url: string, budget?: { readonly left: number }): { readonly status: number; readonly body: string } {
    if (url === "/metrics") return { status: 200, body: this.#metrics(budget?.left) };
    if (url !== "/healthz") return { status: 404, body: "not found\n" };
    const ms = this.#clock.monotonic() - this.#aliveAt;
    const last = this.#successAt === 0 ? "none" : `${Math.round(ms / 1000)} s ago`;
    return { status: ms <= this.#limitMs ? 200 : 503, body: `last successful check: ${last}\n` };
  }

  /** Returns the metrics in Prometheus's text format 0.0.4. */
  #metrics(budget: number | undefined): string {
    const conditions = this.#conditions && Object.groupBy(this.#conditions, ({ condition }) => condition);
    const counts = conditions ? CONDITION_NAMES.map((name) => [name, conditions[name]?.length ?? 0] as const) : [];
    return [
      metric("watch_last_success_timestamp_seconds", "gauge", this.#successAt / 1000),
      metric("watch_checks_total", "counter", this.#looks, "result"),
      metric("watch_requests_total", "counter", this.#requests),
      metric("conditions", "gauge", counts, "condition"),
      metric("spend_month", "gauge", this.spend, "currency"),
      metric("request_budget_left", "gauge", budget),
    ].join("");
  }
}

/**
 * Returns a metric in Prometheus's text format.
 * @param label Name of the label. JSON escapes its values as Prometheus requires.
 */
export function metric(
  name: string,
  type: "gauge" | "counter",
  value: number | Iterable<readonly [string, number]> = [],
  label = "",
  help = HELP[name] ?? name,
): string {
  const lines =
    typeof value === "number"
      ? [` ${value}`]
      : Array.from(value, ([of, count]) => `{${label}=${JSON.stringify(of)}} ${count}`);
  return `# HELP hostform_${name} ${help}\n# TYPE hostform_${name} ${type}\n${lines.map((line) => `hostform_${name}${line}\n`).join("")}`;
}
