import { VERSION } from "../../core/api/version.ts";
import { problem, refuse } from "./messages.ts";

/** Full address of the provider, for Terraform and OpenTofu. */
export const PROVIDER_ADDRESS = "registry.terraform.io/hostform/hosting";

/** Addresses of `source = "hostform/hosting"`: in Terraform, and in OpenTofu. */
export const PROVIDER_ADDRESSES = [PROVIDER_ADDRESS, "registry.opentofu.org/hostform/hosting"] as const;

/** The name of the program that Terraform starts. */
export const EXECUTABLE = `terraform-provider-hosting_v${VERSION}`;

/** Name of the file that Node runs, in a package and in `dist/terraform`. `NOTICES`: licences of the embedded packages. */
export const ENTRY = "provider.cjs";
export const NOTICES = "provider.NOTICES.txt";

/** Platforms of the launcher, which is a shell script. */
export const PLATFORMS = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"] as const;

/** Go's names of architectures, which Terraform uses, if Node's names differ. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

/**
 * Returns Terraform's name of this platform: `linux_amd64`.
 * @param standalone true if hostform is a single executable, which is also the provider and needs no launcher.
 * @throws HostformError `terraform.install` on Windows, unless it is standalone.
 */
export function platformOf(platform: string, arch: string, standalone = false): string {
  if (platform === "win32" && !standalone) {
    refuse(problem("terraform.install"));
  }
  return `${platform === "win32" ? "windows" : platform}_${ARCHITECTURES[arch] ?? arch}`;
}

/** Minimum version of Node, as in package.json. */
export const NODE_FLOOR = { major: 22, minor: 20 } as const;

const NEEDS = `The Terraform provider hosting needs Node.js ${NODE_FLOOR.major}.${NODE_FLOOR.minor} or later`;

/**
 * The program that Terraform starts: a shell script that runs Node with `exec`, so that signals reach the provider. If a provider does
 * not start, Terraform prints only the first line of its standard output, so the error is on that line.
 */
export function launcher(): string {
  return `#!/bin/sh
# The Terraform provider of hostform ${VERSION}. It runs on Node.js: the one that HOSTFORM_NODE names, else \`node\`.
node=\${HOSTFORM_NODE:-node}
command -v "$node" >/dev/null 2>&1 && exec "$node" "\${0%/*}/${ENTRY}" "$@"
error="${NEEDS}, and $node cannot be run. Install it, or set HOSTFORM_NODE to its path."
if [ -n "$TF_PLUGIN_MAGIC_COOKIE" ]; then echo "$error"; else echo "$error" >&2; fi
exit 1
`;
}

/** The file that Node runs. Every version of Node parses this file, and an old version reports its number. Only the main program serves. */
export function entryProgram(): string {
  const { major, minor } = NODE_FLOOR;
  return `var found = process.versions.node.split(".");
if (found[0] < ${major} || (found[0] == ${major} && found[1] < ${minor})) {
  var output = process.env.TF_PLUGIN_MAGIC_COOKIE === undefined ? process.stderr : process.stdout;
  output.write("${NEEDS}; " + process.execPath + " is v" + process.versions.node + ". Install a newer one, or set HOSTFORM_NODE to its path.\\n");
  process.exitCode = 1;
} else {
  module.exports = require("./main.cjs");
  if (require.main === module) module.exports.main();
}
`;
}

/** A file of the provider's package, in a mirror and in a release. */
export interface PackageFile {
  readonly name: string;
  readonly content: Uint8Array;
  readonly mode: number;
}

/**
 * Returns all files of a package with the single executable. Terraform's lock file has their hash, so the installed files and the
 * released files must be equal.
 * @param platform Terraform's name of the platform.
 */
export function standaloneFiles(
  executable: Uint8Array,
  { license, notices }: { readonly license: Uint8Array; readonly notices: Uint8Array },
  platform: string,
): readonly PackageFile[] {
  const name = platform.startsWith("windows") ? `${EXECUTABLE}.exe` : EXECUTABLE;
  return [
    { name: "LICENSE", content: license, mode: 0o644 },
    { name: NOTICES, content: notices, mode: 0o644 },
    { name, content: executable, mode: 0o755 },
  ];
}

/**
 * Returns all files of a package that runs on Node. Terraform's lock file has their hash, so a mirror and an archive must be equal.
 * @param provider the files of `dist/terraform`, by name.
 */
export function packageFiles(provider: ReadonlyMap<string, Uint8Array>, license: Uint8Array): readonly PackageFile[] {
  return [
    { name: "LICENSE", content: license, mode: 0o644 },
    ...[...provider].map(([name, content]) => ({ name, content, mode: 0o644 })),
    { name: EXECUTABLE, content: new TextEncoder().encode(launcher()), mode: 0o755 },
  ];
}
