import { describe, expect, it } from "vitest";
import { fail } from "../../../../../src/core/model/index.ts";
import type { ProviderSession } from "../../../../../src/fronts/terraform/index.ts";
import { planDeclared } from "../../../../../src/fronts/terraform/resource/plan.ts";
import { fakeScope } from "./fake-scope.ts";

const WEBHOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
const output = (file: string) => ({ file, env_file: null, command: null, outside_project: null });

/** Returns the diagnostics of Terraform's plan of a new webhook. */
async function said(
  secretDestination: ProviderSession["secretDestination"],
  secret_output: object | null = output("hook"),
) {
  const { front, kind } = fakeScope("hosting_webhook", { session: { secretDestination } });
  const question = { prior: null, config: { ...WEBHOOK, secret_output }, mark: {} } as never;
  return (await planDeclared(kind, question, front)).diagnostics;
}

describe("the target of a secret in Terraform's plan", () => {
  it("causes no diagnostic if its path is the real path", async () => {
    const plain = async () => ({ real: "/p/hook", inside: true, shown: "hook" });
    expect(await said(plain)).toEqual([]);
    expect(await said(() => fail("secret.output", "asked for nothing"), null)).toEqual([]);
  });

  it.each([["a path that may leave the project", { real: "/etc/hook", inside: false, shown: "/etc/hook" }]])(
    "is reported if %s changes the real path",
    async (_, destination) => {
      const [warning] = await said(async () => destination);
      expect(warning).toMatchObject({ severity: "warning", code: "secret.output", attribute: ["secret_output"] });
      expect(warning?.summary).toContain(`will be written to ${destination.real}`);
    },
  );

  it("is an error if the provider may not write a secret there", async () => {
    expect(await said(() => fail("secret.output", "It leads out of the project"))).toMatchObject([
      { severity: "error", summary: "It leads out of the project" },
    ]);
  });
});
