/** Validates manifests of Kubernetes with its schemas and types. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Deployment } from "kubernetes-models/apps/v1";
import { Job } from "kubernetes-models/batch/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, Secret } from "kubernetes-models/v1";
import { parseAllDocuments } from "yaml";
import { ROOT } from "./built-once.ts";

const KINDS = { ConfigMap, Deployment, Job, PodDisruptionBudget, Secret };
const MODULES = {
  ConfigMap: "v1",
  Deployment: "apps/v1",
  Job: "batch/v1",
  PodDisruptionBudget: "policy/v1",
  Secret: "v1",
};

export interface Manifest {
  readonly kind: keyof typeof KINDS;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string };
  readonly spec?: Readonly<Record<string, unknown>>;
}

export const manifestsIn = <T = Manifest>(yaml: string): T[] => parseAllDocuments(yaml).map((one) => one.toJS());

/** @throws Error with the first mistake in the values of a manifest. Accepts unknown fields. */
export function validate(manifest: Manifest): void {
  new KINDS[manifest.kind](manifest as never).validate();
}

/** Returns the errors of the compiler, which also rejects unknown fields. */
export function compile(all: readonly Manifest[]): string {
  const lines = all.flatMap((one, at) => [
    `import { type I${one.kind} as Kind${at} } from "kubernetes-models/${MODULES[one.kind]}";`,
    `export const manifest${at}: Kind${at} = ${JSON.stringify(one)};`,
  ]);
  const cache = path.join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const workshop = mkdtempSync(path.join(cache, "hostform-kubernetes-"));
  try {
    writeFileSync(path.join(workshop, "package.json"), '{"type": "module"}');
    writeFileSync(path.join(workshop, "manifests.ts"), lines.join("\n"));
    const options =
      "--noEmit --strict --skipLibCheck --ignoreConfig --module nodenext --target esnext manifests.ts".split(" ");
    const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
    return spawnSync(process.execPath, [tsc, ...options], { cwd: workshop, encoding: "utf8" }).stdout;
  } finally {
    rmSync(workshop, { recursive: true });
  }
}
