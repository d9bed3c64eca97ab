/** Runs `mcp`: a server of the Model Context Protocol. With it, an agent proposes changes, and applies them with a mandate. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import path from "node:path";
import { Writable } from "node:stream";
import { exists, makeFolder } from "../core/files/index.ts";
import { attempt, fileFailure } from "../core/model/index.ts";
import { APPROVER, trustedKeys } from "../project/mandate/keys.ts";
import { RunPolicy } from "../project/run-policy.ts";
import { plansFolder } from "../project/saved-plan.ts";
import { escapeLine } from "../report/index.ts";
import type { Context } from "./mcp/call.ts";
import { HOST, httpHandler, MOST_BYTES } from "./mcp/http.ts";
import { raise } from "./mcp/messages.ts";
import { createServer, loadSdk } from "./mcp/server.ts";
import { type Action, say } from "./terminal.ts";
import { aborted, receiveAt, stopsOf } from "./webhooks/server.ts";

interface McpFlags {
  readonly plans?: string;
  /** Port for HTTP, or true for any free port. */
  readonly http?: number | true;
}

/** Runs `hostform mcp`: serves one client on the standard streams, or several clients over HTTP. Ends with its input, or at Ctrl-C. */
export const runMcp: Action<McpFlags> = async (terminal, outer, flags) => {
  const { HOSTFORM_MCP_TOKEN: given, HOSTFORM_ALLOWED_ORIGINS: origins } = outer.source.env;
  const token = given ?? randomBytes(32).toString("base64url");
  // Each call learns the secrets of this environment.
  const env = { ...outer.source.env, HOSTFORM_MCP_TOKEN: token };
  const project = outer.on({ ...outer.source, env, isProposed: true });
  const { source } = project;
  for (const name of Object.keys(source.env))
    if (name.startsWith("HOSTFORM_MANDATE_KEY")) raise("mcp.start/key", { name });
  if (!origins) raise("mcp.start/origins", {});
  if (token.length < 32) raise("mcp.start/token", {});
  if (source.env.HOSTFORM_APPROVERS === undefined)
    terminal.err(`HOSTFORM_APPROVERS is not set, so the tool \`apply\` is refused.\n`);
  else trustedKeys(env, APPROVER);
  if (!exists(source.dir)) await project.declaration.load();
  await RunPolicy.open(source);
  const sdk = await loadSdk();
  const plans = flags.plans ? path.resolve(source.cwd, flags.plans) : plansFolder(source.env);
  if (plans === undefined) raise("mcp.start/folder", {});
  attempt(
    () => makeFolder(plans),
    (error) => raise("mcp.start/plans", { folder: plans, why: fileFailure(error) }),
  );
  const stops = stopsOf(terminal);
  const context: Context = {
    ...{ project, plans, now: stops.now },
    ...{ latest: new Map(), calls: new Set(), isApplying: false },
  };
  const onError = ({ message }: Error) => say(terminal, `A message of a client was rejected: ${escapeLine(message)}`);
  try {
    if (flags.http === undefined) {
      const { stdin } = process;
      const stdout = new Writable({
        decodeStrings: false,
        write(text: string, _, done) {
          terminal.out(text);
          done();
        },
      });
      const server = createServer(sdk, context);
      const closed = new Promise<void>((resolve) => {
        Object.assign(server.server, { onclose: resolve, onerror: onError });
      });
      await server.connect(new sdk.StdioServerTransport(stdin, stdout, { maxBufferSize: MOST_BYTES }));
      await Promise.race([closed, once(stdin, "end"), aborted(stops.soon)]);
      await server.close();
    } else {
      const address = { host: HOST, port: Number(flags.http === true ? 0 : flags.http) };
      const receiver = await receiveAt(address, httpHandler(sdk, context, token, onError), "--http");
      terminal.err(`The MCP server runs at ${receiver.url}/mcp until Ctrl-C.\n`);
      if (given === undefined) terminal.err(`Token of this run: ${token}\n`);
      await aborted(stops.soon);
      await receiver.close(AbortSignal.abort());
    }
    // An apply waits for its requests in progress, and records their results.
    await Promise.allSettled(context.calls);
  } finally {
    stops.end();
  }
  return 0;
};
