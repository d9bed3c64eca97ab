import { describe, expect, it } from "vitest";
import { runCli } from "../../../src/cli/cli.ts";
import { fakeIo } from "../../support/io.ts";
import { folder, runIn } from "./harness.ts";

const isUp = (url: string, token = "") =>
  fetch(`${url}/api/v1/plans`, { headers: { authorization: `Bearer ${token}` } }).then(
    ({ status }) => status,
    () => "down",
  );

describe("sandbox", () => {
  it("prints what to export, runs until Ctrl-C, and ends with 0", async () => {
    const io = fakeIo({ cwd: await folder() });
    const ended = runCli(["sandbox", "--seed", "test"], io);
    await io.listening;
    const lines = io.stdout().trimEnd().split("\n");
    const exported = Object.fromEntries(lines.map((line) => line.replace(/^export /, "").split(/=(.*)/s)));
    expect(Object.keys(exported).sort()).toEqual(["HOSTING_BASE_URL", "HOSTING_SANDBOX_CONTROL_URL", "HOSTING_TOKEN"]);
    expect(io.stderr()).toContain("agency");
    expect(await isUp(exported.HOSTING_BASE_URL, exported.HOSTING_TOKEN)).toBe(200);
    io.interrupt();
    expect(await ended).toBe(0);
    expect(await isUp(exported.HOSTING_BASE_URL)).toBe("down");
  });

  it("--json prints one document with all tokens", async () => {
    const io = fakeIo({ cwd: await folder() });
    const ended = runCli(["sandbox", "--json", "--quiet", "--token", "viewer"], io);
    await io.listening;
    io.interrupt();
    await ended;
    const told = JSON.parse(io.stdout());
    expect(told.export.HOSTING_TOKEN).toBe(told.tokens.viewer);
    expect(told.base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(io.stderr()).toBe("");
  });

  it("-- COMMAND: runs it against the sandbox and passes its exit code on", async () => {
    let seen: Readonly<Record<string, string | undefined>> = {};
    let status: unknown;
    const ran = await runIn(
      await folder(),
      ["sandbox", "--token", "customer", "--auto-pay", "--", "deploy", "--json", "-C", "x"],
      {
        env: { HOSTING_TOKEN: "overridden", PATH: "/bin" },
        exitCode: 7,
        onRun: async (_, env) => {
          seen = env;
          status = await isUp(env.HOSTING_BASE_URL ?? "", env.HOSTING_TOKEN);
        },
      },
    );
    expect(ran).toMatchObject({ code: 7, stdout: "", stderr: "" });
    expect(ran.io.ran, "the command's own options are left alone").toEqual([["deploy", "--json", "-C", "x"]]);
    expect(seen.PATH).toBe("/bin");
    expect(seen.HOSTING_TOKEN).toContain("customer");
    expect(status).toBe(200);
    expect(await isUp(seen.HOSTING_BASE_URL ?? "")).toBe("down");
  });

  it.each([
    ["an unknown switch", ["--profile", "colour=blue"], 'no profile switch "colour"'],
    ["an unknown value", ["--profile", "ids=roman"], "no value"],
    ["a data file that cannot be", ["--data", "none/x.sqlite"], ""],
  ])("refuses %s", async (_, flags, message) => {
    const { code, stdout, stderr } = await runIn(await folder(), ["sandbox", ...flags, "--", "true"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("not foreseen");
  });
});
