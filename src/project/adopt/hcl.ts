/** Writes an adoption as a Terraform configuration with the same state. */
import path from "node:path";
import { resourceOf } from "../../core/model/index.ts";
import { terraformOf } from "../export.ts";
import type { Language, Written } from "./language.ts";
import type { Texts } from "./proof.ts";

export const hcl: Language = {
  commentsOut: false,
  namesShared: false,
  reserved: [],
  isOwn: (file) => /^[^/]+\.tf$/.test(file),
  addressesIn,
  addressOf: (address) => address,
  textsOf: hclTexts,
};

/** Returns the declared addresses: `hosting_service.www`. */
function addressesIn(texts: Texts): string[] {
  return [...texts.values()].flatMap((text) =>
    [...text.matchAll(/^\s*resource\s+"(\w+)"\s+"([\w-]+)"/gm)].map(([, type, name]) => `${type}.${name}`),
  );
}

/**
 * Writes the resources, with their import blocks at the end of each file. A new configuration also gets `hosting.tf` with
 * provider and backend. Terraform ignores import blocks of resources that are already in the state.
 */
async function hclTexts({ desired, blocks, before, state, source }: Written): Promise<Texts> {
  const adopts = blocks.flatMap((block) => block.adopts);
  const importIds = new Map(adopts.map(({ address, importId }) => [address, importId]));
  const fileOf = new Map(
    blocks.flatMap(({ file, adopts: of }) => of.map(({ address }) => [resourceOf(address), file])),
  );
  const resources = desired.resources.flatMap((resource) => {
    const importId = importIds.get(resource.address);
    return importId === undefined ? [] : [{ ...resource, importId }];
  });
  const { guards: _, ...rest } = desired;
  const wanted = { ...rest, resources };
  const { document, renderHcl } = await terraformOf(source, wanted, state, source.dir, "hostform");
  const texts = new Map(before);
  const notesOf = new Map(blocks.map(({ adopts: [own], notes = [] }) => [own && resourceOf(own.address), notes]));
  let file = "hosting";
  const placed = document.blocks.map((one) => {
    const [type, name] = one.labels ?? [];
    const notes = one.block === "resource" ? (notesOf.get(`${type}.${name}`) ?? []) : [];
    const block = { ...one, comments: [...(one.comments ?? []), ...notes] };
    // An import block is in the file of its resource.
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
