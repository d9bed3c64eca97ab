/** Programs other than Node that some tests need, and the decision about tests whose program is missing. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, globSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import path from "node:path";

export interface Program {
  readonly name: string;
  /** Path of the program. Undefined if the machine lacks the program. */
  readonly path: string | undefined;
  /** Sentence with the place where the tests look for the program, and the way to install it. */
  readonly get: string;
  /** Debian package that `.ci/run` installs. */
  readonly debian?: string;
  /** True if CI may lack the program. No Debian repository contains Terraform. */
  readonly optionalInCi?: true;
}

/** Returns the first executable: searches all folders of the PATH for the first name, then for the second name. */
function onPath(names: readonly string[], more: readonly string[] = []): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(path.delimiter), ...more];
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function packaged(name: string, debian: string, file = onPath([debian])): Program {
  return { name, path: file, debian, get: `Put it on the PATH. On Debian: \`apt-get install ${debian}\`.` };
}

export const TERRAFORM: Program = {
  name: "Terraform",
  path: onPath(["terraform"]),
  get: "Put it on the PATH: https://developer.hashicorp.com/terraform/install.",
  optionalInCi: true,
};

/** Name and version of the engine that the tests run as `terraform`. */
export interface Engine {
  readonly name: "Terraform" | "OpenTofu";
  /** 11 for version 1.11.4. */
  readonly minor: number;
}

let known: Engine | undefined;

/** Returns the engine. Undefined if the machine lacks it. */
export function engine(): Engine | undefined {
  if (known !== undefined || TERRAFORM.path === undefined) return known;
  const env = { ...process.env, CHECKPOINT_DISABLE: "1", TF_CLI_CONFIG_FILE: devNull };
  const { stdout } = spawnSync(TERRAFORM.path, ["version"], { encoding: "utf8", env });
  const [, name, minor] = /^(Terraform|OpenTofu) v1\.(\d+)/.exec(stdout) ?? [];
  if (name === undefined) throw new Error(`${TERRAFORM.path} is neither Terraform 1 nor OpenTofu 1: ${stdout}`);
  known = { name: name as Engine["name"], minor: Number(minor) };
  return known;
}

/** An engine with identities of resources. */
export const IDENTITIES: Program = {
  name: "Terraform 1.12 or OpenTofu 1.12",
  path: (engine()?.minor ?? 0) >= 12 ? TERRAFORM.path : undefined,
  get: "Put its path into HOSTFORM_TEST_TERRAFORM.",
  optionalInCi: true,
};

/** Returns the expectation for the engine of the tests: Terraform 1.11, a newer Terraform, or OpenTofu. */
export function perEngine<T>(terraform: T, { newer = terraform, tofu = terraform }: { newer?: T; tofu?: T }): T {
  const { name, minor } = engine() ?? { name: "Terraform", minor: 11 };
  if (name === "OpenTofu") return tofu;
  return minor > 11 ? newer : terraform;
}

/** Terraform with `terraform query`. */
export const QUERY: Program = {
  name: "Terraform 1.14",
  path: engine()?.name === "Terraform" && (engine()?.minor ?? 0) >= 14 ? TERRAFORM.path : undefined,
  get: "Set HOSTFORM_TEST_TERRAFORM to the path of Terraform 1.14 or newer.",
  optionalInCi: true,
};

const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const NAMED = process.env.CHROMIUM;

export const CHROMIUM: Program = {
  name: "Chromium",
  path: NAMED === undefined ? onPath(BROWSERS) : [NAMED].find(isExecutable),
  debian: "chromium",
  get: "Put it on the PATH, or its path into CHROMIUM. On Debian: `apt-get install chromium`.",
};

/** Path of `initdb`, in the folder of the server. Debian does not add this folder to the PATH. */
export const POSTGRES = packaged("PostgreSQL", "postgresql", onPath(["initdb"], globSync("/usr/lib/postgresql/*/bin")));
export const BASH = packaged("bash", "bash");
export const ZSH = packaged("zsh", "zsh");
export const FISH = packaged("fish", "fish");
export const MANDOC = packaged("mandoc", "mandoc");
export const UNZIP = packaged("unzip", "unzip");
export const MINISIGN = packaged("minisign", "minisign");

/** A container may forbid mounts, so CI may lack this right. */
export const MOUNT: Program = {
  name: "The right to mount",
  path: mayMount() ? "unshare" : undefined,
  get: "Run the tests as root on Linux.",
  optionalInCi: true,
};

function mayMount(): boolean {
  const command = ["-m", "mount", "--bind", tmpdir(), tmpdir()];
  return process.platform === "linux" && process.getuid?.() === 0 && spawnSync("unshare", command).status === 0;
}

export const PROGRAMS: readonly Program[] = [
  TERRAFORM,
  QUERY,
  CHROMIUM,
  POSTGRES,
  BASH,
  ZSH,
  FISH,
  MANDOC,
  UNZIP,
  MINISIGN,
  MOUNT,
];

/** Decision about a test: it runs, it is skipped and counted at the end of the run, or it fails. */
export type Verdict =
  | { readonly do: "run" }
  | { readonly do: "skip"; readonly program: string; readonly get: string }
  | { readonly do: "fail"; readonly message: string };

/**
 * Decides about a test that needs programs. CI skips no test, because a passing run would prove less than expected.
 * Terraform is the exception, because CI cannot install it from Debian.
 */
export function verdictOn(programs: readonly Program[], env: Readonly<Record<string, string | undefined>>): Verdict {
  const missing = programs.filter((one) => one.path === undefined);
  const fatal = env.CI === "true" ? missing.find((one) => !one.optionalInCi) : undefined;
  if (fatal !== undefined) {
    return { do: "fail", message: `${fatal.name} is missing, and CI skips no test for it. ${fatal.get}` };
  }
  const [first] = missing;
  return first === undefined ? { do: "run" } : { do: "skip", program: first.name, get: first.get };
}
