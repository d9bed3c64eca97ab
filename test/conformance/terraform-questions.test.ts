/** Terraform asks about a new object only until evidence proves that this host returns natural keys unchanged. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/model/index.ts";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { type Declarations, TerraformCore } from "../support/terraform-core.ts";
import { startMachine } from "./terraform-life.ts";

type Control = Sandbox["control"];

interface Case {
  readonly path: string;
  readonly config: (name: string) => JsonObject;
  readonly byHand: (control: Control) => unknown;
  readonly names: (control: Control) => readonly unknown[];
}

const CASES: Readonly<Record<string, Case>> = {
  hosting_client_account: {
    path: "/accounts",
    config: (name) => ({ name: `Client ${name}` }),
    byHand: (control) => control.create("accounts", { name: "Omega" }),
    names: (control) => control.list("accounts").map(({ name }) => name),
  },
  hosting_webhook: {
    path: "/webhooks",
    config: (name) => ({ url: `https://${name}.example/in`, events: ["invoice.paid"] }),
    byHand: (control) => control.create("webhooks", { url: "https://other.test/", events: ["invoice.paid"] }),
    names: (control) => control.list("webhooks").map(({ url }) => url),
  },
  hosting_migration_request: {
    path: "/migration-requests",
    config: (name) => ({ domain: `${name}.example`, deletion_policy: "forget" }),
    byHand: (control) => control.create("migration_requests", { domain: "other.test" }),
    names: (control) => control.list("migration_requests").map(({ domain }) => domain),
  },
};

const HOUR = 3_600_000;

describe.each(Object.entries(CASES))(
  "a lost create of %s beside a new object",
  (type, { path, config, byHand, names }) => {
    const declared = (...all: string[]): Declarations =>
      Object.fromEntries(all.map((name) => [`${type}.${name}`, { type, config: config(name) }]));

    it.each([
      [10, false],
      [9, true],
    ])("in a state with %i of the kind is a question: %s", async (count, isAsked) => {
      const machine = await startMachine();
      const { control } = machine.sandbox;
      const core = new TerraformCore(machine);
      const ten = Array.from({ length: count }, (_, at) => `n${at}`);
      expect((await core.run(declared(...ten))).errors).toEqual([]);
      machine.clock.advance(HOUR);
      // Only the second run's plan reads the objects.
      control.addFault({ method: "POST", path, phase: "before", drop: true, times: 2 });
      expect((await core.run(declared(...ten, "alpha"))).errors).not.toEqual([]);
      machine.clock.advance(HOUR);
      byHand(control);
      const before = names(control).length;
      const next = await core.run(declared(...ten, "alpha"));
      expect(next.errors.length > 0, JSON.stringify(next.errors)).toBe(isAsked);
      expect(names(control).length - before).toBe(isAsked ? 0 : 1);
    });
  },
);
