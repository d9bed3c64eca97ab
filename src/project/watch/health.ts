/** Counts the checks of a watch, for monitors. */
import { type Clock, CONDITION_NAMES, type Plan } from "../../core/model/index.ts";

/** Requests that a token has left in this minute. */
interface RequestBudget {
  readonly left: number;
  readonly of: number;
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

export class Health {
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** Number of checks by result. */
  readonly #looks = new Map<string, number>();
  #requests = 0;
  /** Conditions of the last complete check. */
  #conditions: Plan["conditions"];
  /** End of the last successful check. */
  #success: { readonly at: number; readonly monotonic: number } | undefined;
  readonly #started: number;

  /** @param intervalMs between two checks. */
  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock;
    // One missed check, with a minute for its requests.
    this.#limitMs = 2 * intervalMs + 60_000;
    this.#started = clock.monotonic();
  }

  /** @param plan of a complete check. @param result such as `as_declared` or `failed`. */
  ended(result: string, isGood: boolean, requests = 0, plan?: Plan): void {
    this.#looks.set(result, (this.#looks.get(result) ?? 0) + 1);
    this.#requests += requests;
    if (plan !== undefined) this.#conditions = plan.conditions ?? [];
    if (isGood) this.#success = { at: this.#clock.now(), monotonic: this.#clock.monotonic() };
  }

  /** Seconds since the last successful check, or since the start. */
  get #age(): number {
    return Math.round((this.#clock.monotonic() - (this.#success?.monotonic ?? this.#started)) / 1000);
  }

  /** Returns the response of `/healthz`. Healthy: a check has succeeded within two intervals and a minute. */
  report(): { readonly status: 200 | 503; readonly body: string } {
    const isHealthy = this.#age * 1000 <= this.#limitMs;
    const last = this.#success === undefined ? "no successful check" : `last successful check ${this.#age} s ago`;
    return { status: isHealthy ? 200 : 503, body: `${isHealthy ? "ok" : "late"}: ${last}\n` };
  }

  /** Returns the metrics in Prometheus's text format 0.0.4. */
  metrics(budget: RequestBudget | undefined): string {
    const looks = [...this.#looks].map(([result, count]): Sample => [{ result }, count]);
    const count = (name: string) => this.#conditions?.filter(({ condition }) => condition === name).length ?? 0;
    const conditions = CONDITION_NAMES.map((condition): Sample => [{ condition }, count(condition)]);
    return [
      metric("watch_last_success_timestamp_seconds", "gauge", "End of the last successful check.", [
        [{}, (this.#success?.at ?? 0) / 1000],
      ]),
      metric("watch_checks_total", "counter", "Checks by result.", looks),
      metric("watch_requests_total", "counter", "API requests of all checks.", [[{}, this.#requests]]),
      metric("conditions", "gauge", "Conditions of the last complete check.", this.#conditions ? conditions : []),
      metric("request_budget", "gauge", "API requests allowed in a minute.", budget ? [[{}, budget.of]] : []),
      metric("request_budget_left", "gauge", "API requests left after the last one.", budget ? [[{}, budget.left]] : []),
    ].join("");
  }
}

/** Label values are names of hostform, so they need no escapes. */
function metric(name: string, type: "gauge" | "counter", help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
    return `hostform_${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
  });
  return `# HELP hostform_${name} ${help}\n# TYPE hostform_${name} ${type}\n${lines.join("")}`;
}
