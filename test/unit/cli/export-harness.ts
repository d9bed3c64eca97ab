/** Exports declarations, each in its own folder. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { ResourceState } from "../../../src/core/model/index.ts";
import { createFileStore } from "../../../src/core/record/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import type { FakeIoParts } from "../../support/io.ts";
import { type Ran, runIn } from "./harness.ts";

export interface Exported extends Ran {
  readonly dir: string;
}

/** Exports a declaration in its own folder. */
export async function exported(declaration: object, parts: FakeIoParts = {}, ...args: string[]): Promise<Exported> {
  const dir = temporaryFolder();
  return { dir, ...(await exportIn(dir, declaration, parts, ...args)) };
}

export async function exportIn(
  dir: string,
  declaration: object,
  parts: FakeIoParts = {},
  ...args: string[]
): Promise<Ran> {
  await writeFile(path.join(dir, "hosting.yaml"), JSON.stringify({ project: "acme", ...declaration }, null, 2));
  return runIn(dir, ["export", ...args], parts);
}

/** Returns the block that begins with `head`. Throws an Error if the text lacks the block. */
export function block(text: string, head: string): string {
  const start = text.indexOf(`\n${head} {`);
  if (start < 0) throw new Error(`no ${head} in\n${text}`);
  return text.slice(start + 1, text.indexOf("\n}\n", start) + 3);
}

export const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example" };

/** Writes resources to the state, as hostform does. */
export async function record(dir: string, ...resources: (Partial<ResourceState> & { readonly address: string })[]) {
  const store = createFileStore({ path: path.join(dir, "hosting.tfstate") });
  const open = await store.open({ write: true, command: "test", timeoutMs: 0 });
  for (const resource of resources) {
    const rest = { provider: "default", schemaVersion: 0, sensitive: [], private: {}, dependencies: [] };
    await open.put({ ...rest, attributes: {}, ...resource });
  }
  await open.close();
}
