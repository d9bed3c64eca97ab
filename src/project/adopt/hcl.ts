/** What `adopt --format hcl` writes: the declaration that was proved, as a configuration of Terraform with the same state. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { kinds } from "../../core/kinds/index.ts";
import { type Desired, errnoOf, fail, resourceOf, type State } from "../../core/model/index.ts";
import type { ProjectSource } from "../source.ts";
import type { Adoptable, NewBlock } from "./declare.ts";
import type { Texts } from "./proof.ts";

/** The configuration that a folder has already. @throws HostformError `usage` for one whose state is elsewhere. */
export async function configurationIn(dir: string): Promise<Texts> {
  const names = await readdir(dir).catch((error: unknown) => {
    if (errnoOf(error) === undefined) throw error;
    return [];
  });
  const files = names.filter((name) => name.endsWith(".tf")).map((name) => path.join(dir, name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, "utf8")] as const)));
}

/** The names in use there: `hosting_service.www`. */
export function addressesIn(texts: Texts): string[] {
  return [...texts.values()].flatMap((text) =>
    [...text.matchAll(/^\s*resource\s+"(\w+)"\s+"([\w-]+)"/gm)].map(([, type, name]) => `${type}.${name}`),
  );
}

/** A configuration written by somebody has its state somewhere: with another one, Terraform would make everything twice. */
export function refuseForeign(texts: Texts, state: State): void {
  if (texts.size === 0 || state.resources.size > 0) return;
  fail("usage", "Terraform's files are here already, and the state that hostform would write is empty", {
    remedies: ["Adopt into an empty folder, or name the state of that configuration with `--state`."],
  });
}

interface HclParts {
  readonly desired: Desired;
  readonly adopts: readonly Adoptable[];
  /** The file of each resource, by its address without key; without an ending. */
  readonly fileOf: ReadonlyMap<string, string>;
  /** What the folder has already. */
  readonly before: Texts;
  /** What was recorded before. */
  readonly state: State;
  readonly source: ProjectSource;
}

/**
 * The files with what is adopted: `hosting.tf` with the provider and the backend where there is no configuration yet, and the
 * resources with their import blocks, behind what a file has already. Terraform ignores the blocks of what is in the state.
 */
export async function hclTexts({ desired, adopts, fileOf, before, state, source }: HclParts): Promise<Texts> {
  const [{ schemaOf }, { terraformConfiguration }, { renderHcl }] = await Promise.all([
    import("../../fronts/terraform/schema/of-kind.ts"),
    import("../../fronts/terraform/export/configuration.ts"),
    import("../../fronts/terraform/export/document.ts"),
  ]);
  const importIds = new Map(adopts.map(({ address, importId }) => [address, importId]));
  const resources = desired.resources.flatMap((resource) => {
    const importId = importIds.get(resource.address);
    return importId === undefined ? [] : [{ ...resource, importId }];
  });
  const { guards: _, ...rest } = desired;
  const { document } = terraformConfiguration({
    desired: { ...rest, resources },
    state,
    kinds,
    attributesOf: (kind) => schemaOf(kind).attributes,
    origin: "`hostform adopt`",
    places: { folder: source.dir, base: source.cwd, state: source.state },
    inProject: true,
    insecureHttp: source.insecureHttp,
  });
  const texts = new Map(before);
  let file = "hosting";
  const placed = document.blocks.map((block) => {
    const [type, name] = block.labels;
    // The import blocks of a resource follow it.
    if (block.block === "resource") file = fileOf.get(`${type}.${name}`) ?? "unassigned";
    return { file: block.block === "resource" || block.block === "import" ? file : "hosting", block };
  });
  for (const [name, of] of Map.groupBy(placed, (one) => one.file)) {
    if (name === "hosting" && before.size > 0) continue;
    const target = path.join(source.dir, `${name}.tf`);
    const comments = name === "hosting" ? document.comments : [];
    const text = renderHcl({ comments, blocks: of.map(({ block }) => block) });
    const there = texts.get(target);
    texts.set(target, there === undefined ? text : `${there.trimEnd() === "" ? "" : `${there.trimEnd()}\n\n`}${text}`);
  }
  return texts;
}

/** The file of each resource that is new, by its address without key. */
export const filesOf = (blocks: readonly NewBlock[]): ReadonlyMap<string, string> =>
  new Map(blocks.flatMap(({ file, adopts }) => adopts.map(({ address }) => [resourceOf(address), file])));
