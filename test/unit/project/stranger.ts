/** A project with an attacker's declaration, and the files, hosts and secrets that it must not reach. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Canary, startCanary } from "../../support/canary.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { runIn } from "../cli/harness.ts";

export const SECRET = "canary-of-the-environment";
export const WEBHOOK = { webhooks: { hook: { url: "https://hooks.example/x", events: ["invoice.paid"] } } };

export interface Place {
  readonly dir: string;
  readonly outside: string;
  readonly canary: Canary;
  put(name: string, content: string | object): void;
  run(args: readonly string[], env?: Record<string, string>): ReturnType<typeof runIn>;
}

/**
 * A folder, a file outside the folder, the operator's host (which counts its requests), and secrets in the
 * environment.
 */
export async function place(files: Record<string, string | object> = {}): Promise<Place> {
  const [dir, canary] = [temporaryFolder(), await startCanary()];
  const outside = path.join(temporaryFolder(), "secret");
  writeFileSync(outside, `${SECRET}\n`, { mode: 0o600 });
  const put: Place["put"] = (name, content) => {
    const file = path.join(dir, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  };
  for (const [name, content] of Object.entries(files)) put(name, content);
  const env = {
    HOSTFORM_LEDGER: "memory",
    HOSTING_BASE_URL: canary.url,
    HOSTING_TOKEN: "canary-of-the-token",
    DEPLOY_NAME: SECRET,
    TF_VAR_who: SECRET,
  };
  const run: Place["run"] = (args, more) => runIn(dir, args, { env: { ...env, ...more } }, ["canary-of-the-token"]);
  return { dir, outside, canary, put, run };
}

export const declared = (more: object = {}) => ({ "hosting.yaml": { project: "test", ...WEBHOOK, ...more } });
