/** The manifests in integrations/kubernetes, against the schemas and the types of Kubernetes. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Deployment } from "kubernetes-models/apps/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Secret } from "kubernetes-models/v1";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { readFleet } from "../../../src/fleet/index.ts";

interface Manifest {
  readonly kind: "Deployment" | "PodDisruptionBudget" | "Secret";
  readonly apiVersion: string;
  readonly metadata: { readonly name: string };
  readonly spec?: Readonly<Record<string, unknown>>;
}

const root = path.resolve(import.meta.dirname, "../../..");
const folder = path.join(root, "integrations/kubernetes");
const documents = <T>(file: string): T[] =>
  parseAllDocuments(readFileSync(path.join(folder, file), "utf8")).map((one) => one.toJS());
const [kustomization] = documents<{
  resources: string[];
  configMapGenerator: { name: string; files: string[] }[];
}>("kustomization.yaml");
const manifests = kustomization?.resources.flatMap((file) => documents<Manifest>(file)) ?? [];
const [deployment] = manifests;

/** @throws Error with the first mistake in the values of a manifest. Accepts unknown fields. */
function validate(manifest: Manifest): void {
  const kinds = { Deployment, PodDisruptionBudget, Secret };
  new kinds[manifest.kind](manifest as never).validate();
}

/** Returns the errors of the compiler, which also rejects unknown fields. */
function compile(all: readonly Manifest[]): string {
  const modules = { Deployment: "apps/v1", PodDisruptionBudget: "policy/v1", Secret: "v1" };
  const lines = all.flatMap((one, at) => [
    `import { type I${one.kind} as Kind${at} } from "kubernetes-models/${modules[one.kind]}";`,
    `export const manifest${at}: Kind${at} = ${JSON.stringify(one)};`,
  ]);
  const cache = path.join(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const workshop = mkdtempSync(path.join(cache, "hostform-kubernetes-"));
  try {
    writeFileSync(path.join(workshop, "package.json"), '{"type": "module"}');
    writeFileSync(path.join(workshop, "manifests.ts"), lines.join("\n"));
    const options =
      "--noEmit --strict --skipLibCheck --ignoreConfig --module nodenext --target esnext manifests.ts".split(" ");
    const tsc = path.join(root, "node_modules/typescript/bin/tsc");
    return spawnSync(process.execPath, [tsc, ...options], { cwd: workshop, encoding: "utf8" }).stdout;
  } finally {
    rmSync(workshop, { recursive: true });
  }
}

describe("the manifests of a fleet", () => {
  it.each(manifests.map((one) => [one.kind, one] as const))("have a valid %s", (_, manifest) => validate(manifest));

  it("have only fields of Kubernetes", () => {
    expect(compile(manifests)).toBe("");
  });

  it("are checked for wrong values and unknown fields", () => {
    const changed = (more: object) => ({ ...deployment, spec: { ...deployment?.spec, ...more } }) as Manifest;
    expect(() => validate(changed({ replicas: "two" }))).toThrow();
    expect(compile([changed({ replica: 2 })])).toContain("'\"replica\"' does not exist");
  });

  it("run without root, privileges and a writable root file system", () => {
    expect(deployment?.spec).toMatchObject({
      template: {
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true },
          containers: [
            {
              envFrom: manifests.flatMap(({ kind, metadata: { name } }) =>
                kind === "Secret" ? [{ secretRef: { name } }] : [],
              ),
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
          volumes: [{ configMap: { name: kustomization?.configMapGenerator[0]?.name } }, {}, {}],
        },
      },
    });
  });

  it("have a valid fleet", async () => {
    const fleet = await readFleet(path.join(folder, "fleet.yaml"), "fleet.yaml");
    expect(fleet).toMatchObject({ fleet: "agency", interval: 600_000 });
  });
});
