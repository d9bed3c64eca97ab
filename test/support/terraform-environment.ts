/** Environment of Terraform: its CLI configuration, and environment variables without the settings of this machine. */
import type { TerraformOptions } from "./terraform.ts";
import { type BuiltProvider, SOURCE } from "./terraform-provider.ts";

/** Returns the text of TF_CLI_CONFIG_FILE. No installation method uses the network. */
export function cliConfiguration(provider: BuiltProvider, install: TerraformOptions["install"]): string {
  const installation =
    install === "mirror"
      ? `filesystem_mirror {\n    path = "${provider.mirror}"\n  }`
      : `dev_overrides {\n    "${SOURCE}" = "${provider.folder}"\n  }\n  direct {}`;
  return `disable_checkpoint = true\nprovider_installation {\n  ${installation}\n}\n`;
}

/**
 * Returns this machine's environment without variables that would affect Terraform, the provider or Node. Keeps the
 * compile cache of Node.
 */
export function cleanEnvironment(): Record<string, string | undefined> {
  const own = /^(?:TF_|HOSTING_|HOSTFORM_|XDG_|NODE_|VITEST|CHECKPOINT_|PLUGIN_|HTTPS?_PROXY$|NO_PROXY$)/i;
  const rest = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(rest), NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
}
