import type { Kind, Kinds } from "../../core/kinds/kind.ts";
import { formatAddress, isName } from "../../core/model/index.ts";
import { type Entry, valueSpan } from "../source/tree.ts";
import { type Draft, emptyDraft, readBody, type Surroundings } from "./block.ts";
import { readNested } from "./nested.ts";

/** Keys of a block that are not attributes. */
const RESERVED: readonly string[] = ["provider", "depends_on", "import"];

/** The kinds that are declared inside a block of this kind, by the key of their section there: `grants` in a service. */
function nestedIn(kind: Kind, kinds: Kinds): ReadonlyMap<string, Kind> {
  const nested = [...kinds.values()].flatMap((inner) =>
    inner.nested?.in === kind.type ? [[inner.nested.section, inner] as const] : [],
  );
  return new Map(nested);
}

/**
 * Reads `NAME: {…}` of a section: the resource itself and what is nested in it. Checks names and forms; values
 * are not looked at.
 */
export function readResource(entry: Entry, kind: Kind, around: Surroundings): Draft[] {
  const { mistakes } = around;
  if (!isName(entry.key)) {
    mistakes.add(
      entry.keySpan,
      "config.structure",
      `"${entry.key.slice(0, 100)}" cannot be the name of a ${kind.noun}`,
      {
        fix: "Use letters, digits, `_` and `-`, beginning with a letter or `_`; a domain can be written as acme-example.",
      },
    );
    return [];
  }
  const address = formatAddress({ type: kind.type, name: entry.key });
  const body = entry.value;
  if (body.form !== "map") {
    mistakes.add(valueSpan(entry), "config.structure", `The ${kind.noun} "${entry.key}" must be a map of attributes`, {
      address,
      fix: `Write its attributes indented below \`${entry.key}:\`, one \`name: value\` in a line.`,
    });
    return [emptyDraft(address, kind, entry.keySpan, around.provider)];
  }
  const nested = nestedIn(kind, around.kinds);
  const draft = readBody(
    { address, kind, keySpan: entry.keySpan, body, reserved: RESERVED, sections: [...nested.keys()] },
    around,
  );
  return [
    draft,
    ...[...nested].flatMap(([section, inner]) => readNested(body.entries.get(section), inner, draft, around)),
  ];
}
