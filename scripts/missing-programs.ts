// The programs that tests need and a machine lacks: the lines about tests that did not run, and the packages that CI installs.
import { PROGRAMS, type Program } from "../test/support/programs.ts";

/** The part of a report by vitest's `json` reporter that is read. */
export interface SkipReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly meta?: { readonly missing?: string } }[];
  }[];
}

/** @returns a line for each missing program: how many tests did not run, and how to get the program. */
export function skippedLines({ testResults }: SkipReport): string[] {
  const skipped = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === "skipped").map(({ meta }) => meta?.missing),
  );
  return PROGRAMS.flatMap(({ name, get }) => {
    const count = skipped.filter((one) => one === name).length;
    if (count === 0) return [];
    return [`SKIPPED: ${count} ${count === 1 ? "test" : "tests"} did not run, because ${name} is missing. ${get}`];
  });
}

/** The commands that install packages, each with its arguments; or the reason why they cannot run here. */
export type Installation =
  | { readonly commands: readonly (readonly [string, ...string[]])[] }
  | { readonly refusal: string };

/** Decides how the missing programs of Debian are installed. Terraform is in no repository of Debian. */
export function installationOf(
  programs: readonly Program[],
  machine: { readonly isRoot: boolean; readonly hasApt: boolean },
): Installation {
  const missing = programs.filter(({ path }) => path === undefined);
  const packages = missing.flatMap(({ debian }) => debian ?? []);
  if (packages.length === 0) return { commands: [] };
  const install = ["apt-get", "install", "-y", "--no-install-recommends", ...packages] as const;
  if (machine.hasApt && machine.isRoot) return { commands: [["apt-get", "update"], install] };
  const names = missing.filter(({ debian }) => debian !== undefined).map(({ name }) => name);
  const why = machine.hasApt ? "apt-get needs root" : "this machine has no apt-get";
  const fix = machine.hasApt ? `Run \`sudo ${install.join(" ")}\`` : `Install ${names.join(", ")}`;
  return { refusal: `CI needs ${names.join(", ")}, and ${why}. ${fix}, then run .ci/run again.` };
}
