/**
 * Whole plans, as a person reads them in a review: `before.yaml` (applied) or `state.tfstate`, then `remote.json` (what
 * is in the account, and what happened there), then `hosting.yaml`; the plan must be `plan.json`.
 * `UPDATE_GOLDEN=1 vitest run test/golden/plan` writes those again; read the difference before you commit it.
 */
import { existsSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { NewRecord, OpenCollection, ServiceSeed } from "../../../src/sandbox/index.ts";
import { type Project, startProject } from "../../support/project.ts";

const here = import.meta.dirname;
const cases = readdirSync(here, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/** Records to add, by collection, and what happened to those that are there. */
interface RemoteFile extends Partial<{ readonly [K in keyof NewRecord]: readonly NewRecord[K][] }> {
  readonly services?: readonly ServiceSeed[];
  readonly change?: readonly (Selector & { readonly fields: object })[];
  readonly remove?: readonly Selector[];
}

/** A record by its id or by the field that distinguishes it from others. */
interface Selector {
  readonly collection: OpenCollection;
  readonly [field: string]: unknown;
}

function idOf({ control }: Project, { collection, fields: _, ...wanted }: Selector): number {
  const found = control
    .list(collection)
    .find((record) =>
      Object.entries(wanted).every(([name, value]) =>
        Object.entries(record).some(([own, its]) => own === name && its === value),
      ),
    );
  if (found === undefined) throw new Error(`remote.json: no record in ${collection} has ${JSON.stringify(wanted)}`);
  return found.id;
}

function putRemote(project: Project, file: RemoteFile): void {
  const { services = [], change = [], remove = [], ...records } = file;
  const { control } = project;
  for (const seed of services) control.seedServices(seed);
  for (const [collection, list] of Object.entries(records)) {
    for (const record of list ?? []) control.create(collection as keyof NewRecord, record as never);
  }
  for (const entry of change) control.change(entry.collection, idOf(project, entry), entry.fields as never);
  for (const entry of remove) control.remove(entry.collection, idOf(project, entry));
}

/** The plan without what differs from run to run: places in a temporary folder, lineage, serial. */
async function planOf(name: string): Promise<string> {
  const read = (file: string) => readFile(path.join(here, name, file), "utf8");
  const has = (file: string) => existsSync(path.join(here, name, file));
  // Applying takes the first password; no plan asks for the second.
  const project = await startProject({ env: { OLD_PASSWORD: "first secret" } });
  if (has("before.yaml")) {
    await project.declare(await read("before.yaml"));
    // One after the other, so that ids come in the same order each time.
    await project.apply("--parallelism", "1");
  }
  if (has("state.tfstate")) await project.restoreState(await read("state.tfstate"));
  if (has("remote.json")) putRemote(project, JSON.parse(await read("remote.json")) as RemoteFile);
  await project.declare(await read("hosting.yaml"));
  // The support module checks the document with its schema.
  await project.run("plan", "--json");
  const { changes, drift, diagnostics, cost, requests } = await project.plan();
  const said = diagnostics.map(({ range: _, ...diagnostic }) => diagnostic);
  // When it was created says nothing of the plan, and the words of a kind are the same in each of its changes.
  const undated = changes.map(({ private: { created: _, ...mark }, words: __, ...change }) => ({
    ...change,
    private: mark,
  }));
  return `${JSON.stringify({ changes: undated, drift, diagnostics: said, cost, requests }, null, 2)}\n`;
}

describe("golden plan", () => {
  it.each(cases)("%s", async (name) => {
    const file = path.join(here, name, "plan.json");
    const plan = await planOf(name);
    expect(plan).not.toMatch(/(first|second) secret/);
    if (process.env.UPDATE_GOLDEN === "1") await writeFile(file, plan);
    expect(JSON.parse(plan)).toEqual(JSON.parse(await readFile(file, "utf8")));
  });
});
