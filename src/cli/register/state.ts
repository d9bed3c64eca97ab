import { InvalidArgumentError, Option } from "commander";
import { readMoment } from "../../core/model/index.ts";
import { collect, given, type Registration } from "../options.ts";

const GROUP = "State:";
const PARTS = "Commands:";

function day(text: string): number {
  const moment = readMoment(text);
  if (moment.form === "day") return moment.at;
  throw new InvalidArgumentError("Expected a day such as 2026-01-01.");
}

/** Registers `output`, `state` and `force-unlock`. */
export function registerState({ command, action }: Registration): void {
  command("output", "print the outputs that the last apply recorded", GROUP)
    .argument("[name]", "print only this output, even if it is sensitive")
    .option("--raw", "print the bare value of one output")
    .action(action(() => import("../output.ts"), "runOutput"))
    .examples(
      ["hostform output", "all outputs; sensitive values are hidden"],
      ["hostform output --raw site_id", "for a script"],
    );
  const state = command("state", "show or change the state", GROUP).helpCommand(false);
  command("list", "list the resources in the state", PARTS, state)
    .argument("[address-prefix]", "only addresses that begin with this; or 'hosting_service.acme-*', or client:acme")
    .option("--long", "print a table, with ids and accounts")
    .action(action(() => import("../state.ts"), "runStateList"))
    .examples(["hostform state list client:acme", "resources of one client"]);
  command("show", "show a resource in the state; secrets are hidden", PARTS, state)
    .argument("<address>")
    .option("--reveal", "also show secret values")
    .action(action(() => import("../state.ts"), "runStateShow"))
    .examples(["hostform state show hosting_webhook.billing --reveal", "with its signing secret"]);
  command("rm", "stop managing resources; they stay in the account", PARTS, state)
    .argument("<addresses...>")
    .action(action(() => import("../state.ts"), "runStateRm"))
    .examples(["hostform state rm hosting_grant.acme-www", "all grants of this name"]);
  command("mv", "move a resource to another address, after you renamed it in the declaration", PARTS, state)
    .argument("<from>")
    .argument("<to>")
    .action(action(() => import("../state.ts"), "runStateMv"))
    .examples(["hostform state mv hosting_service.acme hosting_service.acme-www", "after renaming acme to acme-www"]);
  command("pull", "print the state, secrets included", PARTS, state)
    .action(action(() => import("../state.ts"), "runStatePull"))
    .examples(["hostform state pull > backup.tfstate", "make a copy"]);
  command("push", "replace the state with a file", PARTS, state)
    .argument("[file]", "a state file, or - for standard input", "-")
    .option("--force", "accept a file that is older, or of another project")
    .action(action(() => import("../state.ts"), "runStatePush"))
    .examples(["hostform state push backup.tfstate --force", "restore a copy"]);
  command("migrate", "move the state from the file to the declared backend; sends no request to the API", PARTS, state)
    .option("--back", "copy the state from the backend to the file")
    .action(action(() => import("../state.ts"), "runStateMigrate"))
    .examples(["hostform state migrate", "after you declared a backend"]);
  command("encrypt", "encrypt the state with the key from the environment", PARTS, state)
    .action(action(() => import("../state.ts"), "runStateEncrypt"))
    .examples(["HOSTFORM_STATE_PASSPHRASE=… hostform state encrypt", "every later command needs it"]);
  command("decrypt", "store the state unencrypted", PARTS, state)
    .action(action(() => import("../state.ts"), "runStateDecrypt"))
    .examples(["hostform state decrypt", "for Terraform, which cannot read an encrypted state"]);
  command("rotate-key", "encrypt the state with a new key", PARTS, state)
    .action(action(() => import("../state.ts"), "runStateRotateKey"))
    .examples(["HOSTFORM_STATE_NEW_PASSPHRASE=… hostform state rotate-key", "the old one stays where it is"]);
  const history = command("history", "show what each run did, its orders and their invoices", GROUP)
    .helpCommand(false)
    .argument("[address|domain]", "only this resource: its effects and orders")
    .action(action(() => import("../history.ts"), "runHistory"))
    .examples(["hostform history hosting_service.acme-www", "every run that affected the service"]);
  command("prune", "remove people, effects and CI runs from old entries; orders and sums stay", PARTS, history)
    .addOption(new Option("--before <date>", "entries before this day (UTC)").argParser(day).makeOptionMandatory())
    .action(action(() => import("../history.ts"), "runHistoryPrune"))
    .examples(["hostform history prune --before 2026-01-01", "for example once a year"]);
  command("force-unlock", "release the lock of the state if its holder is stuck", GROUP)
    .argument("[lock-id]", "release only this lock; required if the backend does not show who holds it")
    .option("--yes", "release it without asking")
    .action(action(() => import("../state.ts"), "runForceUnlock"))
    .examples(["hostform force-unlock", "show who holds it, then ask"]);
}

const TERRAFORM = "Terraform:";

/** Registers `export` and `terraform install`. */
export function registerTerraform({ command, action }: Registration): void {
  command("export", "translate the declaration for Terraform, with the same addresses", TERRAFORM)
    .option("--out <path>", "write it to this folder, or to a file ending in .tf (default: print it)", given)
    .option("--force", "replace a file with other contents")
    .action(action(() => import("../export.ts"), "runExport", "none"))
    .examples(["hostform export", "print it"], ["hostform export --out .", "write hosting.tf, beside the state"]);
  const terraform = command("terraform", "the hostform provider for Terraform and OpenTofu", TERRAFORM).helpCommand(
    false,
  );
  command("install", "install the provider where Terraform finds it", "Commands:", terraform)
    .option("--mirror <dir>", "install into this filesystem mirror (default: the user's ~/.terraform.d/plugins)", given)
    .option(
      "--platform <platform>",
      "install for this platform, such as darwin_arm64 (repeatable; default: this one)",
      collect,
    )
    .option("--force", "replace another build of the same version")
    .action(action(() => import("../terraform.ts"), "runTerraformInstall", "none"))
    .examples(
      ["hostform terraform install", "for this user"],
      ["hostform terraform install --mirror providers --platform linux_amd64 --platform darwin_arm64", "for a team"],
    );
}
