import { fail } from "../../core/model/index.ts";
import type { Purpose } from "./stack.ts";

/** Options of Terraform's that decide what is planned. hostform goes by its own line alone. */
const DECIDING =
  /(?:^|[\s'"])--?(var|var-file|target|target-file|exclude|exclude-file|replace|state|state-out|destroy|refresh-only|chdir)(?![\w-])/;

/** The variables of the environment that Terraform would add to its line for a purpose. */
const READ: Readonly<Record<Purpose, readonly string[]>> = {
  validate: [],
  plan: ["TF_CLI_ARGS", "TF_CLI_ARGS_plan"],
  apply: ["TF_CLI_ARGS", "TF_CLI_ARGS_apply", "TF_CLI_ARGS_plan"],
  destroy: ["TF_CLI_ARGS", "TF_CLI_ARGS_destroy", "TF_CLI_ARGS_plan"],
  other: [],
};

/**
 * Refuses arguments in the environment that would change what Terraform plans: with another value of a variable the same
 * stack orders and removes other things. Those about colours, locks and the like are Terraform's own.
 * @throws HostformError `stack.variables`; the arguments are not repeated, they may hold a secret.
 */
export function refuseTerraformArguments(env: Readonly<Record<string, string | undefined>>, purpose: Purpose): void {
  for (const name of READ[purpose]) {
    const option = DECIDING.exec(env[name] ?? "")?.[1];
    if (option === undefined) continue;
    fail("stack.variables", `${name} gives Terraform \`-${option}\`, which hostform would not heed`, {
      detail: "The same stack would mean two things, depending on who applies it.",
      fix: `Unset ${name}. To hostform, give \`--var\`, \`--var-file\` or \`--target\` on its own line, or TF_VAR_NAME.`,
    });
  }
}
