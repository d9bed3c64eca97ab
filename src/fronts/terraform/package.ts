import { VERSION } from "../../core/api/version.ts";
import { problem, refuse } from "./messages.ts";

/** Full address of the provider, for Terraform and OpenTofu. */
export const PROVIDER_ADDRESS = "registry.terraform.io/hostform/hosting";

/** Addresses of `source = "hostform/hosting"`: in Terraform, and in OpenTofu. */
export const PROVIDER_ADDRESSES = [PROVIDER_ADDRESS, "registry.opentofu.org/hostform/hosting"] as const;

/** The name of the program that Terraform starts. */
export const EXECUTABLE = `terraform-provider-hosting_v${VERSION}`;

/** Name of the bundle, in a package and in `dist/terraform`. `NOTICES`: licences of its embedded packages. */
export const BUNDLE = "provider.mjs";
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

/**
 * The program that Terraform starts: a shell script that runs Node with `exec`, so that signals reach the provider. The script checks
 * Node's version, because an older Node cannot parse the bundle. If a provider does not start, Terraform prints only the first line
 * of its standard output, so the error is on that line.
 */
export function launcher(): string {
  const { major, minor } = NODE_FLOOR;
  const needs = `The Terraform provider hosting needs Node.js ${major}.${minor} or later`;
  return `#!/bin/sh
# The Terraform provider of hostform ${VERSION}. It runs on Node.js: the one that HOSTFORM_NODE names, else \`node\`.
fail() {
  if [ -n "$TF_PLUGIN_MAGIC_COOKIE" ]; then echo "$1"; else echo "$1" >&2; fi
  exit 1
}
node=\${HOSTFORM_NODE:-node}
version=$("$node" --version 2>/dev/null) ||
  fail "${needs}, and $node cannot be run. Install it, or set HOSTFORM_NODE to its path."
number=\${version#v}
major=\${number%%.*}
rest=\${number#*.}
minor=\${rest%%.*}
{ [ "$major" -gt ${major} ] || { [ "$major" -eq ${major} ] && [ "$minor" -ge ${minor} ]; }; } 2>/dev/null ||
  fail "${needs}; $node is $version. Install a newer one, or set HOSTFORM_NODE to its path."
exec "$node" "\${0%/*}/${BUNDLE}" "$@"
`;
}

/** A file of the provider's package, in a mirror and in a release. */
export interface PackageFile {
  readonly name: string;
  readonly content: Uint8Array;
  readonly mode: number;
}

/** The contents of a package. */
export interface PackageContents {
  /** The bundle. */
  readonly provider: Uint8Array;
  readonly license: Uint8Array;
  /** Licences of the embedded packages. */
  readonly notices: Uint8Array;
}

/**
 * Returns all files of a package with the single executable. Terraform's lock file has their hash, so the installed files and the
 * released files must be equal.
 * @param platform Terraform's name of the platform.
 */
export function standaloneFiles(
  executable: Uint8Array,
  { license, notices }: Pick<PackageContents, "license" | "notices">,
  platform: string,
): readonly PackageFile[] {
  const name = platform.startsWith("windows") ? `${EXECUTABLE}.exe` : EXECUTABLE;
  return [
    { name: "LICENSE", content: license, mode: 0o644 },
    { name: NOTICES, content: notices, mode: 0o644 },
    { name, content: executable, mode: 0o755 },
  ];
}

/** Returns all files of a package that runs on Node. Terraform's lock file has their hash, so a mirror and an archive must be equal. */
export function packageFiles({ provider, license, notices }: PackageContents): readonly PackageFile[] {
  return [
    { name: "LICENSE", content: license, mode: 0o644 },
    { name: BUNDLE, content: provider, mode: 0o644 },
    { name: NOTICES, content: notices, mode: 0o644 },
    { name: EXECUTABLE, content: new TextEncoder().encode(launcher()), mode: 0o755 },
  ];
}
