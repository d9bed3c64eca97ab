import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, vi } from "vitest";
import type { Library } from "../../support/constructs.ts";
import fc from "../../support/fc.ts";
import { bothLibraries, type Stack } from "./support.ts";

const libraries = bothLibraries();
const CANARY = "canary-7f3a-hunter22";

/** Uses of a secret in a program. `fine` is true if the program may synthesize the use. */
const DEEDS: Readonly<
  Record<string, { readonly fine: boolean; do(library: Library, stack: Stack, id: string): unknown }>
> = {
  variable: {
    fine: true,
    do: ({ hostform }, stack, id) => {
      const password = hostform.Password.fromVariable(stack, "pw");
      return new hostform.HostedSite(stack, id, { ...site(id), password });
    },
  },
  ownVariable: {
    fine: true,
    do: ({ cdk, hostform }, stack, id) => {
      const variable = new cdk.TerraformVariable(stack, `${id}-pw`, { type: "string", sensitive: true });
      return new hostform.HostedSite(stack, id, { ...site(id), password: hostform.Password.of(variable) });
    },
  },
  generated: {
    fine: true,
    do: ({ hostform }, stack, id) =>
      new hostform.HostedSite(stack, id, {
        ...site(id),
        password: hostform.Password.generated({ file: `${id}.secret` }),
      }),
  },
  subscription: {
    fine: true,
    do: ({ hostform }, stack, id) =>
      new hostform.EventSubscription(stack, id, { ...hook, secret: { envFile: { path: "hooks.env", name: "HOOK" } } }),
  },
  secretInState: {
    fine: true,
    do: ({ cdk, hostform }, stack, id) => {
      const { secret } = new hostform.EventSubscription(stack, id, { ...hook, secret: "state" });
      return new cdk.TerraformOutput(stack, `${id}-out`, { value: secret, sensitive: true });
    },
  },
  defaultOfVariable: {
    fine: false,
    do: ({ cdk, hostform }, stack, id) => {
      const config = { type: "string", sensitive: true, default: CANARY };
      return hostform.Password.of(new cdk.TerraformVariable(stack, `${id}-pw`, config));
    },
  },
  literal: {
    fine: false,
    do: ({ hostform }, stack, id) => {
      new hostform.HostedSite(stack, id, site(id)).service.password = CANARY;
    },
  },
  passwordInAddress: {
    fine: false,
    do: ({ hostform }, stack, id) =>
      new hostform.EventSubscription(stack, id, {
        ...hook,
        url: `https://me:${CANARY}@hooks.example/`,
        secret: "state",
      }),
  },
};

const site = (id: string) => ({ planId: 11, currency: "USD", domain: `${id}.example` }) as const;
const hook = { url: "https://hooks.example/", events: ["invoice.paid"] } as const;

it("no secret is in the synthesized stack, nor in the message when synthesis fails", () => {
  for (const name of ["TF_VAR_pw", "HOSTING_TOKEN", "HOSTING_PASSWORD"]) vi.stubEnv(name, CANARY);
  const deeds = fc.array(fc.constantFrom(...Object.keys(DEEDS)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.constantFrom(...libraries.names), deeds, (name, names) => {
      const { written, said } = synthesizeWith(libraries.of(name), names);
      expect(said === "", `${names}: ${said}`).toBe(names.every((deed) => DEEDS[deed]?.fine));
      expect(said === "" ? written.length : 2).toBe(2);
      expect([...written, said].join("\n")).not.toContain(CANARY);
    }),
    { numRuns: 60, examples: Object.keys(DEEDS).map((deed) => ["cdktn", [deed]]) },
  );
});

/** Synthesizes an app. Returns its files on disk and its output. */
function synthesizeWith(library: Library, deeds: readonly string[]): { written: string[]; said: string } {
  const { cdk, hostform } = library;
  const outdir = mkdtempSync(path.join(tmpdir(), "hostform-secrets-"));
  try {
    const app = new cdk.App({ outdir, context: { targetVersions: { terraform: ">=1.11.0" } } });
    const stack = new cdk.TerraformStack(app, "prod");
    const token = new cdk.TerraformVariable(stack, "token", { type: "string", sensitive: true }).stringValue;
    new hostform.HostingProvider(stack, "hosting", { project: "acme", token });
    let said = "";
    try {
      for (const [index, deed] of deeds.entries()) DEEDS[deed]?.do(library, stack, `s${index}`);
      app.synth();
    } catch (error) {
      said = error instanceof Error ? error.message : String(error);
    }
    const files = globSync("**/*.json", { cwd: outdir });
    return { written: files.map((file) => readFileSync(path.join(outdir, file), "utf8")), said };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}
