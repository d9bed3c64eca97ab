/**
 * Every path that a command writes: files that an attacker or an earlier user placed there neither redirect a write
 * nor block the command.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startCanary } from "../../support/canary.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { runIn } from "../cli/harness.ts";

/** The main branch in the working folder, with the checkout of a change request inside it. */
async function pipeline() {
  const [main, away, host] = [temporaryFolder(), temporaryFolder(), await startCanary()];
  const at = (name: string) => path.join(main, name);
  mkdirSync(at("request"));
  mkdirSync(at("ci"));
  writeFileSync(at("ci/deploy.sh"), "echo deploy\n");
  writeFileSync(path.join(away, "victim"), "precious");
  writeFileSync(at("request/hosting.yaml"), "project: test\n");
  const env = { HOSTFORM_LEDGER: "memory", HOSTING_BASE_URL: host.url, HOSTING_TOKEN: "t" };
  const run = (...args: string[]) => runIn(main, args, { env });
  const isUnharmed = () => {
    expect(readFileSync(at("ci/deploy.sh"), "utf8")).toBe("echo deploy\n");
    expect(readFileSync(path.join(away, "victim"), "utf8")).toBe("precious");
    expect([readdirSync(at("ci")), readdirSync(away)]).toEqual([["deploy.sh"], ["victim"]]);
  };
  return { main, away, at, run, isUnharmed };
}

type Trap = (of: { at(name: string): string; away: string }, name: string) => void;

const TRAPS: readonly (readonly [what: string, trap: Trap])[] = [
  ["a link to a file of the main branch", ({ at }, name) => symlinkSync("../ci/deploy.sh", at(`request/${name}`))],
  ["a link to a file elsewhere", ({ at, away }, name) => symlinkSync(path.join(away, "victim"), at(`request/${name}`))],
  [
    "a link to a place where nothing is",
    ({ at, away }, name) => symlinkSync(path.join(away, "n"), at(`request/${name}`)),
  ],
  ["a link to a folder", ({ at }, name) => symlinkSync("../ci", at(`request/${name}`))],
  ["a pipe", ({ at }, name) => void execFileSync("mkfifo", [at(`request/${name}`)])],
];

describe.skipIf(process.platform === "win32")("a written place", () => {
  const places = [
    ...["txt", "md", "html", "json"].map((ending) => ["--report", `plan.${ending}`] as const),
    ["--out", "acme.plan"] as const,
  ];
  const table = places.flatMap((place) => TRAPS.map(([what, trap]) => [...place, what, trap] as const));

  it.each(table)("of plan --untrusted %s request/%s is not %s", async (option, name, _, trap) => {
    const of = await pipeline();
    trap(of, name);
    const { code, stderr } = await of.run("plan", "--untrusted", "-C", "request", option, `request/${name}`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/\[trust\.file\]|\[usage\]/)]);
    of.isUnharmed();
  });

  it.each(places)("of plan --untrusted %s lies below no link: %s", async (option, name) => {
    const of = await pipeline();
    symlinkSync("../ci", of.at("request/out"));
    const { code, stderr } = await of.run("plan", "--untrusted", "-C", "request", option, `request/out/${name}`);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("is a link, which is not allowed in an untrusted project"),
    ]);
    of.isUnharmed();
  });

  it.each(places)("of plan --untrusted %s %s may replace a file that is one, and be new", async (option, name) => {
    const of = await pipeline();
    if (option === "--report") writeFileSync(of.at(`request/${name}`), "old");
    await of.run("plan", "--untrusted", "-C", "request", option, `request/${name}`);
    if (option === "--report") expect(readFileSync(of.at(`request/${name}`), "utf8")).not.toBe("old");
    of.isUnharmed();
  });

  const fixed: readonly (readonly [name: string, args: readonly string[]])[] = [
    ["hosting.yaml", ["init", "--project", "p"]],
    [".gitignore", ["init", "--project", "p"]],
    ["hosting.schema.json", ["init", "--project", "p"]],
    ["hosting.schema.json", ["schema"]],
    ["named.json", ["schema", "named.json"]],
    ["hosting.tf", ["export", "--out", "request", "--force"]],
  ];

  it.each(fixed.flatMap((one) => TRAPS.map(([what, trap]) => [...one, what, trap] as const)))(
    "%s of %j is not %s",
    async (name, args, _, trap) => {
      const of = await pipeline();
      const isDeclared = args[0] === "export";
      if (!isDeclared) execFileSync("rm", [of.at("request/hosting.yaml")]);
      trap(of, name);
      const { code, stderr } = await of.run(...args, "-C", "request");
      expect([code, stderr]).toEqual([1, expect.stringMatching(/\[(?:usage|terraform\.export)\]/)]);
      of.isUnharmed();
      expect(existsSync(of.at(`ci/${name}`))).toBe(false);
    },
  );
});
