/** A project in its own folder, an account in a sandbox, and the command line between them. */
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { runCli } from "../../../src/cli/cli.ts";
import type { Sandbox, SandboxOptions } from "../../../src/sandbox/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type FakeIo, type FakeIoParts, fakeIo } from "../../support/io.ts";
import { listening } from "../../support/listening.ts";
import { startSandbox } from "../../support/sandbox.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly io: FakeIo;
  /** Standard output as JSON. */
  // Bodies of every shape are looked into; a wrong guess fails the assertion that follows.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  json(): any;
}

export interface Project {
  readonly dir: string;
  readonly sandbox: Sandbox;
  run(args: readonly string[], parts?: FakeIoParts): Promise<Ran>;
  write(name: string, text: string): Promise<void>;
  read(name: string): Promise<string>;
}

/** Runs the command line in a folder, and makes sure that no token is in what it says. */
export async function runIn(
  dir: string,
  args: readonly string[],
  parts: FakeIoParts = {},
  tokens: readonly string[] = [],
): Promise<Ran> {
  const io = fakeIo({ cwd: dir, ...parts });
  const code = await runCli(args, io);
  const [stdout, stderr] = [io.stdout(), io.stderr()];
  for (const token of tokens) expect(stdout + stderr, "the token must not be in any output").not.toContain(token);
  expect(stdout + stderr, "no stack traces").not.toMatch(/^\s+at .+:\d+:\d+/m);
  return { code, stdout, stderr, io, json: () => JSON.parse(stdout) };
}

/** A project with this declaration against a fresh sandbox, whose agency token is in the environment. */
export async function project(declaration = "project: test\n", options: SandboxOptions = {}): Promise<Project> {
  const dir = temporaryFolder();
  const sandbox = await startSandbox({ rateLimit: 0, ...options });
  onTestFinished(() => sandbox.close());
  await writeFile(path.join(dir, "hosting.yaml"), declaration);
  const env = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency };
  return {
    dir,
    sandbox,
    run: (args, parts) => runIn(dir, args, { env, ...parts }, Object.values(sandbox.tokens)),
    write: (name, text) => writeFile(path.join(dir, name), text),
    read: (name) => readFile(path.join(dir, name), "utf8"),
  };
}

/** A project with one service that exists in the account and matches its declaration; its id. */
export async function projectWithService(more = ""): Promise<Project & { readonly id: string }> {
  const made = await project();
  const [service] = made.sandbox.control.seedServices({ plan_id: 11 });
  if (service === undefined) throw new Error("nothing was seeded");
  await made.write("hosting.yaml", declarationOf(service.domain ?? "", service.currency, more));
  return { ...made, id: String(service.id) };
}

/** A server that answers each request alike; its address. */
export async function answering(status: number, type: string, body: string): Promise<string> {
  const server = createServer((_, response) => {
    // 204 has no body, and Node refuses to send one.
    response.writeHead(status, { "content-type": type }).end(status === 204 ? undefined : body);
  });
  return listening(server);
}

export function declarationOf(domain: string, currency: string, more = ""): string {
  return `project: test
services:
  www:
    plan_id: 11
    currency: ${currency}
    domain: ${domain}
    deletion_policy: forget
${more}`;
}
