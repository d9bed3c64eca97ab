/** Runs `fleet plan`, `fleet status` and `fleet apply`: one report and one exit code for many projects. */
import path from "node:path";
import type { Clock, Diagnostic, FailOn } from "../core/model/index.ts";
import {
  applyFleet,
  type Fleet,
  openQueue,
  planFleet,
  Records,
  readFleet,
  recordedFleet,
  statusFleet,
} from "../fleet/index.ts";
import type { Project } from "../project/project.ts";
import { leaving } from "../project/redaction.ts";
import { type FleetReport, renderFleet, renderFleetHtml, renderFleetMarkdown } from "../report/index.ts";
import { approve } from "./apply.ts";
import { raise } from "./messages.ts";
import type { FailOnFlags } from "./options.ts";
import { type Action, failedOn, printJson, say, type Terminal } from "./terminal.ts";

interface FleetFlags extends FailOnFlags {
  readonly project?: readonly string[];
  readonly target?: readonly string[];
  readonly format?: "text" | "json" | "markdown" | "html";
  readonly autoApprove?: boolean;
  readonly detailedExitcode?: boolean;
  readonly recorded?: boolean;
}

/** Reads the file of the fleet. */
export async function fleetOf({ source }: Project): Promise<Fleet> {
  const [file = path.join(source.dir, "fleet.yaml"), other] = source.files;
  if (other !== undefined) raise("usage/combined", { options: "two files of a fleet" });
  return readFleet(file, path.relative(source.cwd, file));
}

/** Minimum time between two reports of one trouble, in milliseconds. */
const REPEAT_MS = 60_000;

/** Returns the function that reports warnings and errors. Reports the same trouble at most once a minute. */
export function troubleReporter(warn: Project["log"]["warn"], clock: Clock) {
  const known = new Map<string, number>();
  return (trouble: readonly Diagnostic[]): void => {
    const now = clock.monotonic();
    const key = trouble.map(({ summary }) => summary).join("\n");
    if (now - (known.get(key) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    known.set(key, now);
    warn(...trouble);
  };
}

interface Stops {
  readonly signals: Readonly<Record<"signal" | "now", AbortSignal>>;
  end(): void;
}

/** Returns the signals of the first and the second Ctrl-C. */
export function stopsOf(terminal: Terminal): Stops {
  const [stop, now] = [new AbortController(), new AbortController()];
  const end = terminal.onInterrupt(() => (stop.signal.aborted ? now : stop).abort());
  return { end, signals: { signal: stop.signal, now: now.signal } };
}

/** Returns the last results of the workers. */
async function recorded(fleet: Fleet, { source, host }: Project): Promise<FleetReport> {
  const queue = await openQueue(fleet.fleet, source.env, false, () => undefined);
  try {
    return await recordedFleet(fleet, await Records.open(queue), host.clock);
  } finally {
    await queue.close();
  }
}

/** Returns the action of one command. Exit code 1 if a project failed or did not start. */
const running =
  (command: "plan" | "status" | "apply"): Action<FleetFlags> =>
  async (terminal, project, flags) => {
    const { source, host, log } = project;
    const fleet = await fleetOf(project);
    const { end, signals } = stopsOf(terminal);
    const options = {
      env: source.env,
      clock: host.clock,
      ...signals,
      projects: flags.project,
      targets: flags.target,
      onProject: ({ name, result }: FleetReport["projects"][number]) => say(terminal, `${name}: ${result}`),
      onWarning: troubleReporter(log.warn, host.clock),
    };
    try {
      const ask = async (report: FleetReport) => {
        if (flags.autoApprove) return true;
        terminal.out(renderFleet(report));
        await approve(terminal, "Apply the plans of these projects?", signals.signal, undefined);
        return true;
      };
      const run = { plan: planFleet, status: statusFleet, apply: applyFleet }[command];
      const report = flags.recorded ? await recorded(fleet, project) : await run(fleet, { ...options, approve: ask });
      const { format = terminal.json ? "json" : "text" } = flags;
      if (format === "json") printJson(terminal, `fleet ${command}`, report);
      else if (format === "text") terminal.out(renderFleet(report));
      else {
        const render = { markdown: renderFleetMarkdown, html: renderFleetHtml }[format];
        terminal.out(leaving(render(report), project.redaction, format));
      }
      const isFailed = report.errors.length > 0 || report.projects.some(({ result }) => FAILED.has(result));
      const differs = flags.detailedExitcode && report.projects.some(({ result }) => result === "differs");
      const holds = new Set(report.projects.flatMap((one) => one.holds) as FailOn[]);
      return failedOn(terminal, flags, holds, isFailed ? 1 : differs ? 2 : 0);
    } finally {
      end();
    }
  };

const FAILED: ReadonlySet<string> = new Set(["failed", "not_started"]);

export const runFleetPlan = running("plan");
export const runFleetStatus = running("status");
export const runFleetApply = running("apply");
