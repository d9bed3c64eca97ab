/** The command that prints the state's key: its folder and its environment. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { stateKeys } from "../../../src/project/backend.ts";
import { Redaction } from "../../../src/project/redaction.ts";
import type { ProjectSource, ShellOptions } from "../../../src/project/source.ts";
import { startCanary } from "../../support/canary.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { fakeIo } from "../../support/io.ts";
import { runIn } from "../cli/harness.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");

/** Returns the folder and the environment that the command receives. */
async function given(dir: string, env: Record<string, string>, tokens: readonly string[] = []) {
  const runs: Pick<ShellOptions, "cwd" | "env">[] = [];
  const host = {
    ...fakeIo(),
    capture: async (_: readonly string[], { cwd, env: passed }: Pick<ShellOptions, "cwd" | "env">) => {
      runs.push({ cwd, env: passed });
      return { stdout: KEY, stderr: "" };
    },
  };
  const source = { dir, cwd: dir, env: { HOSTFORM_STATE_KEY_COMMAND: "kms", ...env } } as unknown as ProjectSource;
  await stateKeys({ source, host, redaction: new Redaction() } as never, async () => tokens)().ready();
  expect(runs).toHaveLength(1);
  return runs[0] as (typeof runs)[number];
}

describe("the command of the key", () => {
  it("runs in the home of the user, and never in the project", async () => {
    const [home, dir] = [temporaryFolder(), temporaryFolder()];
    expect((await given(dir, { HOME: home })).cwd).toBe(home);
    const inside = path.join(dir, "home");
    mkdirSync(inside);
    for (const env of [{ HOME: inside }, { HOME: dir }, { HOME: "relative" }, { HOME: path.join(home, "no") }, {}])
      expect((await given(dir, env as Record<string, string>)).cwd).toBe(path.parse(dir).root);
    expect((await given(path.join(home, "project"), { HOME: home })).cwd, "the project lies in it").toBe(home);
  });

  it("gets no credential of hostform, not even one that HOSTFORM_CHILD_ENV names", async () => {
    const credentials = {
      ...{ HOSTING_TOKEN: "1", HOSTING_ACME_TOKEN: "2", HOSTFORM_STATE_OLD_KEY: "3", TF_HTTP_PASSWORD: "4" },
      ...{ PGPASSWORD: "5", PG_CONN_STR: "6", ACME_API: "7" },
    };
    const env = { ...credentials, HOSTFORM_CHILD_ENV: Object.keys(credentials).join(","), KMS_REGION: "eu" };
    const passed = (await given(temporaryFolder(), env, ["ACME_API"])).env;
    expect(Object.keys(passed).filter((name) => name in credentials)).toEqual([]);
    expect(passed).toMatchObject({ KMS_REGION: "eu" });
  });
});

describe("the words that a shell completes", () => {
  const complete = ["__complete", "state", "rm", ""];

  it("are none for a state at a server, without a request", async () => {
    const [dir, server] = [temporaryFolder(), await startCanary()];
    writeFileSync(path.join(dir, "hosting.yaml"), `project: p\nbackend: {http: {address: "${server.url}/state"}}\n`);
    expect(await runIn(dir, complete, { env: {} })).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(server.requests).toEqual([]);
    expect((await runIn(dir, ["state", "list"], { env: {} })).code).toBe(1);
    expect(server.requests).not.toEqual([]);
  });

  it.each(["HOSTFORM_STATE_KEY_COMMAND", "HOSTFORM_STATE_OLD_KEY_COMMAND"])(
    "are none for a key from %s, without a start of the program",
    async (name) => {
      const dir = temporaryFolder();
      const env = { [name]: "kms", ...(name.includes("OLD") && { HOSTFORM_STATE_KEY: KEY }) };
      expect(await runIn(dir, complete, { env })).toMatchObject({ code: 0, stdout: "", stderr: "" });
    },
  );
});
