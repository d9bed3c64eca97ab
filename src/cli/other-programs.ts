/** Remedies for commands and options of Terraform, Pulumi and octoDNS that hostform does not have. */

const PLAN = "`hostform plan` reads the account in each run.";
const APPROVE = "Pass `--auto-approve` to apply without approval.";
const REPLACE = "Use `hostform apply --replace ADDRESS`.";
const BACKEND = "Declare the backend in hosting.yaml, or in environments/NAME.yaml.";
const ENVIRONMENTS = "Declare environments in environments/NAME.yaml, and choose one with `-e NAME`.";
const ADOPT = "Use `hostform adopt`.";
const APPLY = "Use `hostform apply`.";

/** Remedies by full name of the command. */
export const OTHER_COMMANDS: Readonly<Record<string, string>> = {
  refresh: `${PLAN} \`hostform apply\` updates the state.`,
  taint: REPLACE,
  untaint: "`--replace` applies to one run only, so no mark must be removed.",
  graph: "`hostform plan` lists the changes in their order.",
  console: "Use `hostform validate --expanded`, or `hostform output`.",
  get: "Use `hostform services`, or `hostform state show ADDRESS`.",
  providers: "Declare accounts under `providers` in hosting.yaml.",
  workspace: ENVIRONMENTS,
  stack: ENVIRONMENTS,
  config: ENVIRONMENTS,
  "state replace-provider": "Change `provider` in the declaration, and run `hostform plan`.",
  "state delete": "Use `hostform state rm ADDRESS`.",
  "state unlock": "Use `hostform force-unlock`.",
  preview: "Use `hostform plan`.",
  diff: "Use `hostform plan`.",
  up: APPLY,
  sync: APPLY,
  deploy: APPLY,
  down: "Use `hostform destroy`.",
  new: "Use `hostform init`.",
  dump: ADOPT,
  check: "Use `hostform validate`.",
  lint: "Use `hostform validate`.",
};

/** Remedies by name of the option, or by command and option. */
export const OTHER_OPTIONS: Readonly<Record<string, string>> = {
  input: "hostform asks only at a terminal. `--auto-approve` skips the question.",
  lock: "Only `plan --lock` and commands that change something lock the state. To wait for the lock, use `--lock-timeout 5m`.",
  "refresh-only": `${PLAN} \`hostform apply\` updates the state.`,
  "state-out": "Use `--state FILE`.",
  backup: "hostform keeps a backup beside the state.",
  backend: BACKEND,
  "backend-config": BACKEND,
  reconfigure: BACKEND,
  "migrate-state": "Use `hostform state pull` and `hostform state push`.",
  "generate-config-out": ADOPT,
  recursive: "`hostform fmt` formats each file of the declaration.",
  write: "Use `--check`, which writes nothing.",
  "force-unlock force": "Use `--yes`.",
  force: APPROVE,
  yes: APPROVE,
  y: APPROVE,
  "skip-preview": APPROVE,
  doit: APPROVE,
  "config-file": "Use `-f FILE`.",
  "dry-run": "Use `hostform plan`.",
  "compact-warnings": "Use `--quiet`.",
};
