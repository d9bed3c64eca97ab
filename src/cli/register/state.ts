import { Option } from "commander";
import { examples, given, type Registration } from "../options.ts";

const GROUP = "State:";
const PARTS = "Commands:";

/** output, state list|show|rm|mv|pull|push and force-unlock: what hostform remembers, and mending it by hand. */
export function registerState({ command, action }: Registration): void {
  examples(
    command("output", "print the outputs as the last apply recorded them", GROUP)
      .argument("[name]", "this one only, also when it is sensitive")
      .option("--raw", "the value of one output and nothing else")
      .action(action(() => import("../output.ts"), "runOutput")),
    [
      ["hostform output", "all, the sensitive ones hidden"],
      ["hostform output --raw site_id", "for a script"],
      ["hostform output --json", "all of them with their values, the sensitive ones too"],
    ],
  );
  const state = command("state", "look into the state, and mend it", GROUP).helpCommand(false);
  examples(
    command("list", "list the resources of the state", PARTS, state)
      .argument("[address-prefix]", "only addresses that begin like this")
      .option("--long", "a table with ids and accounts too")
      .action(action(() => import("../state.ts"), "runStateList")),
    [["hostform state list hosting_grant.", "all grants"]],
  );
  examples(
    command("show", "show a resource of the state; secrets stay hidden", PARTS, state)
      .argument("<address>")
      .option("--reveal", "show the secret values too")
      .action(action(() => import("../state.ts"), "runStateShow")),
    [["hostform state show hosting_webhook.billing --reveal", "with its signing secret"]],
  );
  examples(
    command("rm", "forget resources; they stay in the account", PARTS, state)
      .argument("<addresses...>")
      .action(action(() => import("../state.ts"), "runStateRm")),
    [["hostform state rm hosting_grant.acme-www", "all grants of that name"]],
  );
  examples(
    command("mv", "give a resource another address, after renaming it in the declaration", PARTS, state)
      .argument("<from>")
      .argument("<to>")
      .action(action(() => import("../state.ts"), "runStateMv")),
    [["hostform state mv hosting_service.acme hosting_service.acme-www", "after the rename"]],
  );
  examples(
    command("pull", "print the state file, secrets included", PARTS, state).action(
      action(() => import("../state.ts"), "runStatePull"),
    ),
    [["hostform state pull > backup.tfstate", "a copy"]],
  );
  examples(
    command("push", "replace the state by a file", PARTS, state)
      .argument("[file]", "a state file, or - for standard input", "-")
      .option("--force", "also when it is older, or of another project")
      .action(action(() => import("../state.ts"), "runStatePush")),
    [["hostform state push backup.tfstate --force", "go back to a copy"]],
  );
  examples(
    command("encrypt", "encrypt the state with the key in the environment", PARTS, state).action(
      action(() => import("../state.ts"), "runStateEncrypt"),
    ),
    [["HOSTFORM_STATE_PASSPHRASE=… hostform state encrypt", "from now on it is needed by every command"]],
  );
  examples(
    command("decrypt", "write the state in the clear", PARTS, state).action(
      action(() => import("../state.ts"), "runStateDecrypt"),
    ),
    [["hostform state decrypt", "for Terraform, which cannot read an encrypted one"]],
  );
  examples(
    command("rotate-key", "encrypt the state with another key", PARTS, state).action(
      action(() => import("../state.ts"), "runStateRotateKey"),
    ),
    [["HOSTFORM_STATE_NEW_PASSPHRASE=… hostform state rotate-key", "the old one is where it always is"]],
  );
  examples(
    command("force-unlock", "free the state's lock when its holder hangs", GROUP)
      .argument("[lock-id]", "free this lock only; needed where a backend does not say who holds it")
      .option("--yes", "do not ask")
      .action(action(() => import("../state.ts"), "runForceUnlock")),
    [["hostform force-unlock", "shows who holds it, then asks"]],
  );
}

const TERRAFORM = "Terraform:";

/** export, terraform install|schema: from a declaration in YAML to Terraform with the provider. */
export function registerTerraform({ command, action }: Registration): void {
  examples(
    command("export", "write the declaration for Terraform, with the same addresses", TERRAFORM)
      .addOption(
        new Option("--format <format>", "Terraform's language or its JSON (default: hcl)").choices(["hcl", "tf-json"]),
      )
      .option("--out <path>", "a folder, or a file ending in .tf or .tf.json (default: print it)", given)
      .option("--force", "replace a file that says something else")
      .action(action(() => import("../export.ts"), "runExport", "none")),
    [
      ["hostform export", "print it in Terraform's language"],
      ["hostform export --out .", "as hosting.tf, beside the state"],
      ["hostform export --format tf-json --out stack", "as stack/hosting.tf.json"],
    ],
  );
  const terraform = command("terraform", "the provider for Terraform and OpenTofu", TERRAFORM).helpCommand(false);
  examples(
    command("install", "put the provider where Terraform finds it", "Commands:", terraform)
      .option("--mirror <dir>", "a folder of providers, in place of the one that Terraform looks into by itself", given)
      .option("--force", "replace another build of the same version")
      .action(action(() => import("../terraform.ts"), "runTerraformInstall", "none")),
    [
      ["hostform terraform install", "for this user"],
      ["hostform terraform install --mirror providers", "into a folder to be handed on, for CI"],
    ],
  );
  examples(
    command("schema", "print the provider's schema", "Commands:", terraform).action(
      action(() => import("../terraform.ts"), "runTerraformSchema", "none"),
    ),
    [["hostform terraform schema", "in the form of terraform providers schema -json"]],
  );
}
