import type { CliCommand } from "../command.ts";
import { listenAddress } from "../listen-address.ts";
import { collect, FAIL_ON_STATUS_OPTION, type Registration } from "../options.ts";
import { HEARTBEAT } from "./main.ts";

const FORMATS = ["text", "json", "markdown", "html"];

/** Registers `fleet …`: many projects in one run. `--file` names the file of the fleet. */
export function registerFleet({ command, action }: Registration): void {
  const fleet = command("fleet", "plan and apply many projects, listed in fleet.yaml", "Many projects:").helpCommand(
    false,
  );
  const added = (name: string, summary: string): CliCommand =>
    command(name, summary, "Commands:", fleet)
      .option("--project <name>", "only projects of this name, such as `customers/*` (repeatable)", collect)
      .option("--target <address>", "only this resource of each project, such as client:acme (repeatable)", collect)
      .choice("--format <format>", "format of the report (default: text)", FORMATS)
      .option(...FAIL_ON_STATUS_OPTION);
  const load = () => import("../fleet.ts");
  added("plan", "show what would change in each project")
    .option("--detailed-exitcode", "exit with 2 if a project differs")
    .action(action(load, "runFleetPlan", "none"))
    .examples(["hostform fleet plan --project 'customers/*'", "the projects of one folder"]);
  added("status", "show the sites of each project")
    .option("--recorded", "show the last results of the workers, without a request to the API")
    .action(action(load, "runFleetStatus", "none"))
    .examples(["hostform fleet status --fail-on offline", "for a scheduled job"]);
  added("apply", "apply the plans of all projects, in waves")
    .option("--auto-approve", "apply without asking")
    .action(action(load, "runFleetApply", "none"))
    .examples(["hostform fleet apply --auto-approve", "for CI"]);
  const runs = () => import("../fleet-run.ts");
  command(
    "run",
    "check all projects until Ctrl-C, with any number of workers and one queue in PostgreSQL",
    "Commands:",
    fleet,
  )
    .option("--auto-approve", "apply each difference, within the guards, instead of only recording it")
    .option(
      "--listen <[host:]port>",
      "receive webhooks of a project at /NAME; without a host, from this machine only",
      listenAddress,
    )
    .option("--metrics <[host:]port>", "serve the page of the fleet, /metrics and /healthz here", listenAddress)
    .option(...HEARTBEAT)
    .action(action(runs, "runFleetRun", "none"))
    .examples(["hostform fleet run --auto-approve", "start one on each machine"]);
  command("check", "have the next free worker check these projects first", "Commands:", fleet)
    .argument("<names...>", "names of projects, such as `customers/*`")
    .action(action(runs, "runFleetCheck", "none"))
    .examples(["hostform fleet check customers/acme", "after a push"]);
}
