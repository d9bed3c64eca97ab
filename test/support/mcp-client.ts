/** `hostform mcp` as a process of the built program, and the SDK's own client, over the standard streams and over HTTP. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/index.ts";
import { temporaryFolder } from "./folder.ts";
import { builtProgram } from "./program.ts";
import { startSandbox } from "./sandbox.ts";

/** A project in its own folder, with its own sandbox and its own folder of the user's state. */
export interface Place {
  readonly sandbox: Sandbox;
  readonly dir: string;
  readonly env: Record<string, string>;
  declare(document: object): void;
}

/** Result of a tool. */
export interface Called {
  readonly failed: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields of each tool
  readonly data: any;
  /** Text block. */
  readonly text: string;
  /** Whole answer as JSON. */
  readonly whole: string;
}

/** Token of {@link httpServer}. */
export const TOKEN = "token-of-the-tests-0123456789-abcdefghij";

export async function startPlace(document: object, options: SandboxOptions = {}): Promise<Place> {
  const sandbox = await startSandbox({ rateLimit: 0, autoPay: true, provisioningSeconds: 0, ...options });
  onTestFinished(() => sandbox.close());
  const [dir, home] = [temporaryFolder(), temporaryFolder()];
  const declare = (one: object) => writeFileSync(path.join(dir, "hosting.yaml"), JSON.stringify(one, null, 2));
  declare(document);
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    HOSTFORM_STATE_HOME: home,
    HOSTING_BASE_URL: sandbox.url,
    HOSTFORM_ALLOWED_ORIGINS: sandbox.url,
    HOSTING_TOKEN: sandbox.tokens.agency,
    HOSTING_MONEY_SCALE: "2",
  };
  return { sandbox, dir, env, declare };
}

/** Runs a command of the built program to its end. @param input Standard input. */
export async function runProgram(
  { dir, env }: Pick<Place, "dir" | "env">,
  args: readonly string[],
  input = "",
  program?: string,
) {
  const child = spawn(process.execPath, [program ?? (await builtProgram()), ...args], { cwd: dir, env });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number];
  return { code, out, err };
}

const newClient = () => new Client({ name: "test", version: "1.0.0" });

/** Calls a tool. */
export async function call(
  client: Client,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
  onprogress?: () => void,
): Promise<Called> {
  const options = { timeout: 60_000, ...(onprogress && { onprogress }) };
  const result = await client.callTool({ name, arguments: { ...input } }, undefined, options);
  const [block] = result.content as readonly { readonly text: string }[];
  return {
    failed: result.isError === true,
    data: result.structuredContent,
    text: block?.text ?? "",
    whole: JSON.stringify(result),
  };
}

/** Starts the server on the standard streams, and connects a client. Both end after the test. */
export async function stdioClient(
  { dir, env }: Pick<Place, "dir" | "env">,
  options: readonly string[] = [],
  program?: string,
): Promise<Client> {
  const client = newClient();
  const args = [program ?? (await builtProgram()), "mcp", ...options];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd: dir, env: { ...env }, stderr: "ignore" }),
  );
  onTestFinished(() => client.close());
  return client;
}

export interface Served {
  readonly url: string;
  readonly child: ChildProcess;
  /** Lines of standard error. */
  readonly lines: readonly string[];
  client(): Promise<Client>;
}

/** Starts the server with HTTP on a free port. It ends after the test. @param token Undefined: the server's own token. */
export async function httpServer({ dir, env }: Place, token: string | undefined = TOKEN): Promise<Served> {
  const child = spawn(process.execPath, [await builtProgram(), "mcp", "--http"], {
    cwd: dir,
    env: { ...env, ...(token !== "" && { HOSTFORM_MCP_TOKEN: token }) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(lines.join("\n"))));
    createInterface(child.stderr).on("line", (line) => {
      lines.push(line);
      const [found] = /http:\/\/\S+/.exec(line) ?? [];
      if (found) resolve(found);
    });
  });
  return {
    url,
    child,
    lines,
    async client() {
      const client = newClient();
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
      await client.connect(transport as Parameters<Client["connect"]>[0]);
      onTestFinished(() => client.close());
      return client;
    },
  };
}
