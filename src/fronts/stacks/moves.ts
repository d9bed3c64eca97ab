import type { Kinds } from "../../core/kinds/kind.ts";
import { type Moved, parseAddress, type Removed } from "../../core/model/index.ts";
import type { DiagnosticCollector } from "../source/diagnostics.ts";
import { rangeOf } from "../source/source.ts";
import { type Entry, valueSpan } from "../source/tree.ts";
import { type Block, flagOf, onlyBlock, textOf } from "./blocks.ts";
import { checkKeys, KEYS } from "./keys.ts";

/** Reads the `moved` blocks. Whether a move fits what is declared and recorded, the plan sees. */
export function readMoved(blocks: readonly Block[], kinds: Kinds, diags: DiagnosticCollector): Moved[] {
  return blocks.flatMap((block) => {
    checkKeys(block, KEYS.moved, (key) => `\`moved\` has no ${key} here`, diags);
    const from = addressIn(block, "moved", "from", kinds, diags);
    const to = addressIn(block, "moved", "to", kinds, diags);
    return from === undefined || to === undefined ? [] : [{ from, to, range: rangeOf(block.body.span) }];
  });
}

/** Reads the `removed` blocks: without `lifecycle` what is removed is destroyed, as far as the API can. */
export function readRemoved(blocks: readonly Block[], kinds: Kinds, diags: DiagnosticCollector): Removed[] {
  return blocks.flatMap((block) => {
    checkKeys(block, KEYS.removed, (key) => `\`removed\` has no ${key} here`, diags);
    const lifecycle = onlyBlock(block.body.entries.get("lifecycle"), diags);
    if (lifecycle !== undefined)
      checkKeys(lifecycle, KEYS["removed.lifecycle"], (key) => `\`lifecycle\` has no ${key} here`, diags);
    const destroy = flagOf(lifecycle?.body.entries.get("destroy"), diags) ?? true;
    const from = addressIn(block, "removed", "from", kinds, diags);
    if (from === undefined) return [];
    if (parseAddress(from)?.key !== undefined) {
      const entry = block.body.entries.get("from");
      const summary = "`from` of `removed` names a resource, not one of its instances";
      diags.add(entry && valueSpan(entry), "config.reference", summary, { fix: "Leave the key out." });
      return [];
    }
    return [{ from, destroy, range: rangeOf(block.body.span) }];
  });
}

function addressIn(
  block: Block,
  type: string,
  key: string,
  kinds: Kinds,
  diags: DiagnosticCollector,
): string | undefined {
  const entry: Entry | undefined = block.body.entries.get(key);
  const text = textOf(entry, diags);
  const place = entry === undefined ? block.body.span : valueSpan(entry);
  if (text === undefined) {
    if (entry === undefined) {
      const fix = `Write \`"${key}": "hosting_service.NAME"\`.`;
      diags.add(place, "config.missing_attribute", `\`${type}\` needs \`${key}\``, { fix });
    }
    return undefined;
  }
  const parsed = parseAddress(text);
  if (parsed !== undefined && kinds.has(parsed.type)) return text;
  diags.add(place, "config.reference", "This is not the address of a resource of hosting", {
    fix: "Write an address such as hosting_service.acme, without `${}`; modules are not supported.",
  });
  return undefined;
}
