/** Project in its own folder, with its account in a sandbox, and the command line. */
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { runCli } from "../../../src/cli/cli.ts";
import type { Sandbox, SandboxOptions } from "../../../src/sandbox/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type FakeIo, type FakeIoParts, fakeIo } from "../../support/io.ts";
import { listening } from "../../support/listening.ts";
import { checkOutput } from "../../support/output-schema.ts";
import { startSandbox } from "../../support/sandbox.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly io: FakeIo;
  /** Standard output as JSON. */
  // Tests read bodies of many shapes. A wrong assumption fails the next assertion.
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

/** Runs the command line in a folder, and checks that its output contains no token. */
export async function runIn(
  dir: string,
  args: readonly string[],
  parts: FakeIoParts = {},
  tokens: readonly string[] = [],
): Promise<Ran> {
  const io = fakeIo({ cwd: dir, ...parts });
  const code = await runCli(args, io);
  const [stdout, stderr] = [io.stdout(), io.stderr()];
  checkOutput(args, stdout);
  for (const token of tokens) expect(stdout + stderr, "the token must not be in any output").not.toContain(token);
  expect(stdout + stderr, "no stack traces").not.toMatch(/^\s+at .+:\d+:\d+/m);
  return { code, stdout, stderr, io, json: () => JSON.parse(stdout) };
}

/** Creates a project with this declaration and a new sandbox. The environment contains the agency's token. */
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

/** Creates a project with one service that exists in the account and matches its declaration. Adds the service's id. */
export async function projectWithService(more = ""): Promise<Project & { readonly id: string }> {
  const made = await project();
  const [service] = made.sandbox.control.seedServices({ plan_id: 11 });
  if (service === undefined) throw new Error("nothing was seeded");
  await made.write("hosting.yaml", declarationOf(service.domain ?? "", service.currency, more));
  return { ...made, id: String(service.id) };
}

/** Starts a server that returns the same response to every request. Returns its URL. */
export async function answering(status: number, type: string, body: string): Promise<string> {
  const server = createServer((_, response) => {
    // A 204 response has no body, and Node rejects one.
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
