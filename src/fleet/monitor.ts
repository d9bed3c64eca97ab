// Pages about a fleet from its records: report, health and metrics.
import { type Clock, isLike } from "../core/model/index.ts";
import { metric } from "../project/watch/health.ts";
import { type FleetProject, type FleetReport, renderFleetHtml } from "../report/index.ts";
import type { Fleet } from "./declaration.ts";
import { patternOf } from "./members.ts";
import { reportOf } from "./once.ts";
import type { Records } from "./records.ts";

/** Returns the last result of each project as one report, in the order of the file. */
export async function recordedFleet(fleet: Fleet, records: Records, clock: Clock): Promise<FleetReport> {
  const projects = (await records.read()).map(({ report }) => report);
  const patterns = fleet.projects.map(patternOf);
  const places = new Map(projects.map(({ name }) => [name, patterns.findIndex((one) => isLike(one, name))]));
  const at = ({ name }: FleetProject) => places.get(name) ?? 0;
  const sorted = projects.toSorted((a, b) => at(a) - at(b) || a.name.localeCompare(b.name, "en"));
  return reportOf(fleet, "status", { clock }, sorted);
}

const FAILED: readonly string[] = ["failed", "not_started"];
const TEXT = "text/plain; version=0.0.4; charset=utf-8";

/** Returns the response of `/`, `/healthz` or `/metrics`. Healthy: a check succeeded within two intervals and a minute. */
export async function fleetPage(url: string, fleet: Fleet, records: Records, clock: Clock) {
  if (url === "/") {
    const report = await recordedFleet(fleet, records, clock);
    return { status: 200, type: "text/html; charset=utf-8", body: renderFleetHtml(report) };
  }
  if (!["/healthz", "/metrics"].includes(url)) return { status: 404, type: TEXT, body: "not found\n" };
  const all = await records.read();
  const good = all.filter(({ report }) => !FAILED.includes(report.result));
  const age = Math.min(...good.map((one) => one.age));
  if (url === "/healthz") {
    const status = age * 1000 <= 2 * fleet.interval + 60_000 ? 200 : 503;
    const last = good.length === 0 ? "none" : `${Math.round(age)} s ago`;
    return { status, type: TEXT, body: `last successful check: ${last}\n` };
  }
  const counts = Map.groupBy(all, ({ report }) => report.result);
  const oldest = Math.max(0, ...all.map((one) => one.age));
  const gauge = (name: string, help: string, value: Parameters<typeof metric>[2], label?: string) =>
    metric(`fleet_${name}`, "gauge", value, label, help);
  const body = [
    gauge(
      "last_success_timestamp_seconds",
      "End of the last successful check.",
      good.length ? clock.now() / 1000 - age : 0,
    ),
    gauge(
      "projects",
      "Projects by last result.",
      [...counts].map(([name, { length }]) => [name, length]),
      "result",
    ),
    gauge("oldest_check_age_seconds", "Time since the oldest last check.", oldest),
    gauge("orders", "Orders of all workers within the last interval.", await records.orders(fleet)),
  ].join("");
  return { status: 200, type: TEXT, body };
}
