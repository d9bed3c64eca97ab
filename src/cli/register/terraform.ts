import { Option } from "commander";
import { given } from "../options.ts";
import { examples, type Registration } from "../registration.ts";

const GROUP = "Terraform:";

/** export, terraform install|schema: from a declaration in YAML to Terraform with the provider. */
export function registerTerraform({ command, action }: Registration): void {
  examples(
    command("export", "write the declaration for Terraform, with the same addresses", GROUP)
      .addOption(
        new Option("--format <format>", "Terraform's language or its JSON (default: hcl)").choices(["hcl", "tf-json"]),
      )
      .addOption(
        new Option("--out <path>", "a folder, or a file ending in .tf or .tf.json (default: print it)").argParser(
          given,
        ),
      )
      .option("--force", "replace a file that says something else")
      .action(
        action(
          async (invocation, flags: object) => (await import("../commands/export.ts")).runExport(invocation, flags),
          "none",
        ),
      ),
    [
      ["hostform export", "print it in Terraform's language"],
      ["hostform export --out .", "as hosting.tf, beside the state"],
      ["hostform export --format tf-json --out stack", "as stack/hosting.tf.json"],
    ],
  );
  const terraform = command("terraform", "the provider for Terraform and OpenTofu", GROUP).helpCommand(false);
  examples(
    command("install", "put the provider where Terraform finds it", "Commands:", terraform)
      .addOption(
        new Option(
          "--mirror <dir>",
          "a folder of providers, in place of the one that Terraform looks into by itself",
        ).argParser(given),
      )
      .option("--force", "replace another build of the same version")
      .action(
        action(
          async (invocation, flags: object) =>
            (await import("../commands/terraform/install.ts")).runTerraformInstall(invocation, flags),
          "none",
        ),
      ),
    [
      ["hostform terraform install", "for this user"],
      ["hostform terraform install --mirror providers", "into a folder to be handed on, for CI"],
    ],
  );
  examples(
    command("schema", "print the provider's schema", "Commands:", terraform).action(
      action(
        async (invocation) => (await import("../commands/terraform/schema.ts")).runTerraformSchema(invocation),
        "none",
      ),
    ),
    [["hostform terraform schema", "in the form of terraform providers schema -json"]],
  );
}
