import { hasReferences } from "../../core/expression/references.ts";
import type { Kind } from "../../core/kinds/kind.ts";
import { formatAddress, parseAddress } from "../../core/model/index.ts";
import type { Span } from "../source/source.ts";
import { type Entry, type Leaf, type MapTree, valueSpan } from "../source/tree.ts";
import { type Draft, emptyDraft, readBody, type Surroundings } from "./block.ts";

/** What may stand in a nested block beside attributes: the provider is that of the block around it. */
const RESERVED: readonly string[] = ["depends_on", "import"];

/**
 * Reads a nested section (`grants:` of a service). Each entry becomes an instance of the inner kind,
 * `hosting_grant.acme["dev@acme.example"]`, with the entry's key and a reference to the parent among its attributes.
 */
export function readNested(section: Entry | undefined, kind: Kind, parent: Draft, around: Surroundings): Draft[] {
  const { nested } = kind;
  if (section === undefined || nested === undefined) return [];
  const { value: tree } = section;
  if (tree.form === "leaf" && tree.value === null) return [];
  if (tree.form !== "map") {
    around.mistakes.add(
      valueSpan(section),
      "config.structure",
      `\`${section.key}\` must be a map, keyed by ${nested.keyAttribute}`,
      {
        address: parent.address,
        fix: `Write \`KEY: {…}\` indented below \`${section.key}:\`.`,
      },
    );
    return [];
  }
  return [...tree.entries.values()].flatMap((entry) => readInstance(entry, kind, parent, around) ?? []);
}

function readInstance(entry: Entry, kind: Kind, parent: Draft, around: Surroundings): Draft | undefined {
  const { nested } = kind;
  const name = parseAddress(parent.address)?.name;
  if (nested === undefined || name === undefined) return undefined;
  const { keySpan } = entry;
  if (hasReferences(entry.key)) {
    const summary = `The key of a ${kind.noun} is part of its address and cannot be an expression`;
    around.mistakes.add(keySpan, "config.expression", summary, { fix: `Write the ${nested.keyAttribute} itself.` });
    return undefined;
  }
  const address = formatAddress({ type: kind.type, name, key: entry.key });
  const inner = { ...around, provider: parent.provider };
  const body = blockOf(entry, kind, address, around);
  if (body === undefined) return emptyDraft(address, kind, keySpan, parent.provider);
  const given = [nested.keyAttribute, nested.parentAttribute];
  for (const own of given) {
    const twice = body.entries.get(own);
    if (twice === undefined) continue;
    const fix = `Remove it: ${own === nested.keyAttribute ? "the key of the block" : "the block around it"} says so already.`;
    around.mistakes.add(twice.keySpan, "config.structure", `"${own}" cannot be given inside \`${nested.section}\``, {
      address,
      fix,
    });
  }
  const draft = readBody({ address, kind, keySpan, body, reserved: RESERVED, sections: [] }, inner);
  const implied = [
    impliedEntry(nested.keyAttribute, entry.key, keySpan),
    impliedEntry(nested.parentAttribute, `\${${parent.address}.id}`, keySpan),
  ];
  const declared = [...draft.attributes].filter(([key]) => !given.includes(key));
  return { ...draft, attributes: new Map([...implied, ...declared]) };
}

/** The map of a nested block; a single word is short for the attribute that the kind names. */
function blockOf(entry: Entry, kind: Kind, address: string, { mistakes }: Surroundings): MapTree | undefined {
  const { value: tree } = entry;
  if (tree.form === "map") return tree;
  const shorthand = kind.nested?.shorthand;
  if (shorthand !== undefined && tree.form === "leaf" && typeof tree.value === "string") {
    const word: Entry = { key: shorthand, keySpan: entry.keySpan, value: tree };
    return { form: "map", entries: new Map([[shorthand, word]]), span: tree.span };
  }
  const word = shorthand === undefined ? "" : ` or a single word, the ${shorthand}`;
  mistakes.add(
    valueSpan(entry),
    "config.structure",
    `The ${kind.noun} "${entry.key}" must be a map of attributes${word}`,
    { address },
  );
  return undefined;
}

function impliedEntry(key: string, value: string, span: Span): [string, Entry] {
  const leaf: Leaf = { form: "leaf", value, span };
  return [key, { key, keySpan: span, value: leaf }];
}
