import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { runCli } from "../../../src/cli/cli.ts";
import { fail } from "../../../src/core/model/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { fakeIo } from "../../support/io.ts";
import { runIn } from "./harness.ts";

const isUp = (url: string, token = "") =>
  fetch(`${url}/api/v1/plans`, { headers: { authorization: `Bearer ${token}` } }).then(
    ({ status }) => status,
    () => "down",
  );

describe("sandbox", () => {
  it("prints the variables to export, runs until Ctrl-C, and ends with 0", async () => {
    const io = fakeIo({ cwd: temporaryFolder() });
    const ended = runCli(["sandbox", "--seed", "test"], io);
    await io.listening;
    const lines = io.stdout().trimEnd().split("\n");
    const exported = Object.fromEntries(lines.map((line) => line.replace(/^export /, "").split(/=(.*)/s)));
    expect(Object.keys(exported).sort()).toEqual([
      "HOSTING_BASE_URL",
      "HOSTING_MONEY_SCALE",
      "HOSTING_SANDBOX_CONTROL_URL",
      "HOSTING_TOKEN",
    ]);
    expect(io.stderr()).toContain("agency");
    expect(await isUp(exported.HOSTING_BASE_URL, exported.HOSTING_TOKEN)).toBe(200);
    io.interrupt();
    expect(await ended).toBe(0);
    expect(await isUp(exported.HOSTING_BASE_URL)).toBe("down");
  });

  it("--json prints one document with all tokens", async () => {
    const io = fakeIo({ cwd: temporaryFolder() });
    const ended = runCli(["sandbox", "--json", "--quiet", "--token", "viewer"], io);
    await io.listening;
    io.interrupt();
    await ended;
    const started = JSON.parse(io.stdout());
    expect(started.export.HOSTING_TOKEN).toBe(started.tokens.viewer);
    expect(started.base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(io.stderr()).toBe("");
  });

  it("-- COMMAND: runs the command against the sandbox and returns its exit code", async () => {
    let seen: Readonly<Record<string, string | undefined>> = {};
    let status: unknown;
    const ran = await runIn(
      temporaryFolder(),
      ["sandbox", "--token", "customer", "--auto-pay", "--", "deploy", "--json", "-C", "x"],
      {
        env: {
          HOSTING_TOKEN: "overridden",
          PG_CONN_STR: "postgres://real.example/x",
          PATH: "/bin",
          HOSTFORM_STATE_KEY: "k",
        },
        exitCode: 7,
        onRun: async (_, env) => {
          seen = env;
          status = await isUp(env.HOSTING_BASE_URL ?? "", env.HOSTING_TOKEN);
        },
      },
    );
    expect(ran).toMatchObject({ code: 7, stdout: "", stderr: "" });
    expect(ran.io.ran, "the command's own options are left alone").toEqual([["deploy", "--json", "-C", "x"]]);
    expect([seen.PATH, seen.HOSTFORM_STATE_KEY]).toEqual(["/bin", "k"]);
    expect(seen.PG_CONN_STR, "nothing that opens the real state").toBeUndefined();
    expect(seen.HOSTING_TOKEN).toContain("customer");
    expect(status).toBe(200);
    expect(await isUp(seen.HOSTING_BASE_URL ?? "")).toBe("down");
  });

  it.each([
    [["bash"], { PS1: "SANDBOX $ ", PROMPT_COMMAND: expect.stringContaining("SANDBOX") }],
    [["/bin/zsh"], { PS1: "SANDBOX $ " }],
    [["bash", "-c", "true"], {}],
    [["deploy"], {}],
  ])("%j has a prompt that says SANDBOX if it is a shell for people", async (words, prompt) => {
    let seen: Readonly<Record<string, string | undefined>> = {};
    await runIn(temporaryFolder(), ["sandbox", "--", ...words], {
      onRun: async (_, env) => {
        seen = env;
      },
    });
    const { PS1, PROMPT_COMMAND } = seen;
    expect(JSON.parse(JSON.stringify({ PS1, PROMPT_COMMAND }))).toEqual(prompt);
  });

  it("--snapshot: starts from a snapshot", async () => {
    const dir = temporaryFolder();
    const inside = async (args: string[], work: (control: string) => Promise<void>) =>
      runIn(dir, ["sandbox", ...args, "--", "app"], {
        onRun: (_, env) => work(env.HOSTING_SANDBOX_CONTROL_URL ?? ""),
      });
    await inside([], async (control) => {
      await fetch(`${control}/services`, { method: "POST", body: '{"count": 2}' });
      await writeFile(path.join(dir, "snapshot.json"), await (await fetch(`${control}/snapshot`)).text());
    });
    let services: unknown;
    const again = await inside(["--snapshot", "snapshot.json"], async (control) => {
      services = await (await fetch(`${control}/services`)).json();
    });
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(services).toHaveLength(4);
  });

  it.each([
    [["--snapshot", "missing.json"], /The snapshot cannot be read: there is no such file or folder/],
    [["--snapshot", "."], /The snapshot cannot be read: it is a folder/],
    [["--snapshot", "hosting.yaml"], /This is not the snapshot of a sandbox\.[\s\S]*hosting\.yaml/],
  ])("%j is refused", async (args, hint) => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "hosting.yaml"), "project: mine\n");
    const ran = await runIn(dir, ["sandbox", ...args, "--", "app"]);
    expect([ran.code, ran.io.ran]).toEqual([1, []]);
    expect(ran.stderr).toMatch(hint);
  });

  it.each(["--seed", "--data", "--profile", "--clock", "--deliver-to", "--snapshot"])(
    "%s without anything in it is refused: a variable may be unset",
    async (option) => {
      const ran = await runIn(temporaryFolder(), ["sandbox", option, "", "--", "app"]);
      expect([ran.code, ran.io.ran]).toEqual([1, []]);
      expect(ran.stderr).toContain("It is empty. Is a variable unset?");
    },
  );

  it.each([
    ["http://hooks.example/in", "Did you mean hooks.example?"],
    ["hooks.example:8080", "Did you mean hooks.example?"],
    ["*.example", "without a scheme, port or path"],
    ["10.0.0.0/8", "without a scheme, port or path"],
    ["hooks.example,other.example", "a host such as hooks.example"],
  ])("--deliver-to %s is rejected, because it would allow no receiver", async (target, hint) => {
    const ran = await runIn(temporaryFolder(), ["sandbox", "--deliver-to", target, "--", "app"]);
    expect([ran.code, ran.io.ran]).toEqual([1, []]);
    expect(ran.stderr).toContain(hint);
  });

  it.each([["Hooks.Example"], ["192.0.2.7"], ["::1"], ["anywhere"], ["nowhere"]])(
    "--deliver-to %s is taken",
    async (target) => {
      const ran = await runIn(temporaryFolder(), ["sandbox", "--deliver-to", target, "--", "app"]);
      expect(ran).toMatchObject({ code: 0, stderr: "" });
    },
  );

  it("--open opens the dashboard, and continues without a browser", async () => {
    const io = fakeIo({ cwd: temporaryFolder() });
    const ended = runCli(["sandbox", "--open"], io);
    await io.listening;
    const controlUrl = /CONTROL_URL=(\S+)/.exec(io.stdout())?.[1];
    await vi.waitFor(() => expect(io.browsed).toEqual([controlUrl]));
    io.interrupt();
    expect(await ended).toBe(0);

    const without = fakeIo({ cwd: temporaryFolder() });
    const failed = vi.fn(async () => fail("usage", "The browser could not be opened: xdg-open ended with 3"));
    expect(await runCli(["sandbox", "--open", "--", "true"], { ...without, browse: failed })).toBe(0);
    expect(without.stderr()).toMatch(
      /could not be opened.*ended with 3\. The dashboard is at http:\/\/127\.0\.0\.1:\d+\./,
    );
    expect(without.ran).toEqual([["true"]]);
  });

  it.each([
    ["an unknown switch", ["--profile", "colour=blue"], 'no profile switch "colour"'],
    ["an unknown value", ["--profile", "ids=roman"], "no value"],
    ["a typing error", ["--profile", "contray"], 'Did you mean "contrary"?'],
    ["a data file that cannot be", ["--data", "none/x.sqlite"], ""],
  ])("refuses %s", async (_, flags, message) => {
    const { code, stdout, stderr } = await runIn(temporaryFolder(), ["sandbox", ...flags, "--", "true"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("Internal error");
  });
});
