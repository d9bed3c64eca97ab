import type { CliCommand } from "../command.ts";
import { collect, FAIL_ON_STATUS_OPTION, type Registration } from "../options.ts";

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
    .action(action(load, "runFleetStatus", "none"))
    .examples(["hostform fleet status --fail-on offline", "for a scheduled job"]);
  added("apply", "apply the plans of all projects, in waves")
    .option("--auto-approve", "apply without asking")
    .action(action(load, "runFleetApply", "none"))
    .examples(["hostform fleet apply --auto-approve", "for CI"]);
}
