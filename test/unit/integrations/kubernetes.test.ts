/** The manifests in integrations/kubernetes, against the schemas and the types of Kubernetes. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readFleet } from "../../../src/fleet/index.ts";
import { compile, type Manifest, manifestsIn, validate } from "../../support/manifests.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const folder = path.join(root, "integrations/kubernetes");
const documents = <T>(file: string): T[] => manifestsIn(readFileSync(path.join(folder, file), "utf8"));
const [kustomization] = documents<{
  resources: string[];
  configMapGenerator: { name: string; files: string[] }[];
}>("kustomization.yaml");
const manifests = kustomization?.resources.flatMap((file) => documents<Manifest>(file)) ?? [];
const [deployment] = manifests;

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
