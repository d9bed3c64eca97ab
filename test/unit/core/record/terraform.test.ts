import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Json } from "../../../../src/core/model/index.ts";
import { createFileStore, decodeState } from "../../../../src/core/record/index.ts";
import { describeWith } from "../../../support/needing.ts";
import { TERRAFORM } from "../../../support/programs.ts";
import { resource } from "./builders.ts";

describeWith(TERRAFORM)("the real Terraform", { timeout: 30_000 }, () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "hostform-terraform-"));
    writeFileSync(join(folder, "rc"), "disable_checkpoint = true\n");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const path = () => join(folder, "hosting.tfstate");
  const terraform = (...args: string[]) =>
    execFileSync("terraform", args, {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, TF_CLI_CONFIG_FILE: join(folder, "rc"), TF_DATA_DIR: join(folder, "data") },
    });

  test("lists our state, changes it, and we read what it wrote with nothing lost", async () => {
    const pending = { since: "2026-01-02T03:04:05Z", operation: "create", idempotencyKey: "k" };
    const ours = [
      resource('hosting_grant.acme["dev@acme.example"]', "g1", { dependencies: ["hosting_service.acme"] }),
      resource("hosting_service.acme", "42", {
        attributes: { password: "p" },
        sensitive: ["password"],
        private: { generation: 2, deposed: { id: "41", secret: "s" } },
      }),
      resource("hosting_service.begun", null, { private: { pending } }),
      resource("hosting_webhook.hook", "w1", { provider: "beta" }),
    ];
    const state = await createFileStore({ path: path() }).open({ command: "apply", timeoutMs: 0, write: true });
    for (const each of ours) await state.put(each);
    await state.close();

    expect(terraform("state", "list", `-state=${path()}`).trim().split("\n")).toEqual(ours.map((each) => each.address));

    terraform("state", "rm", `-state=${path()}`, "hosting_webhook.hook");
    const rewritten = decodeState(readFileSync(path(), "utf8"), path()).state;
    expect(rewritten.lineage).toBe(state.state.lineage);
    expect(rewritten.serial).toBeGreaterThan(state.state.serial);
    expect([...rewritten.resources.values()]).toEqual(ours.slice(0, 3));
  });

  test("reads our outputs, of every type", async () => {
    const types: [string, Json, Json][] = [
      ["text", "a<b\n", "string"],
      ["number", 1.5e21, "number"],
      ["set", ["a", "b"], ["set", "string"]],
      ["map", { a: "x" }, ["map", "string"]],
      ["object", { n: null, t: [1, true] }, ["object", { n: "dynamic", t: ["tuple", ["number", "bool"]] }]],
    ];
    const outputs = new Map(types.map(([name, value, type]) => [name, { value, type, sensitive: name === "text" }]));
    const state = await createFileStore({ path: path() }).open({ command: "apply", timeoutMs: 0, write: true });
    await state.setOutputs(outputs);
    await state.close();
    expect(JSON.parse(terraform("output", `-state=${path()}`, "-json"))).toEqual(Object.fromEntries(outputs));
  });
});
