/** What Terraform finds around it: its own configuration, and an environment without the machine's. */
import type { TerraformOptions } from "./terraform.ts";
import { type BuiltProvider, SOURCE } from "./terraform-provider.ts";

/** The text of TF_CLI_CONFIG_FILE. The network is in none of its ways to a provider. */
export function cliConfiguration(provider: BuiltProvider, install: TerraformOptions["install"]): string {
  const installation =
    install === "mirror"
      ? `filesystem_mirror {\n    path = "${provider.mirror}"\n  }`
      : `dev_overrides {\n    "${SOURCE}" = "${provider.folder}"\n  }\n  direct {}`;
  return `disable_checkpoint = true\nprovider_installation {\n  ${installation}\n}\n`;
}

/** The machine's environment without what would change Terraform, the provider or Node; what Node has compiled is kept. */
export function cleanEnvironment(): Record<string, string | undefined> {
  const own = /^(?:TF_|HOSTING_|HOSTFORM_|XDG_|NODE_|VITEST|CHECKPOINT_|PLUGIN_|HTTPS?_PROXY$|NO_PROXY$)/i;
  const rest = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(rest), NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
}
