/** Names adopted objects by their domains. The names do not depend on the order of the lists. */
import type { Kind, Remote } from "../../core/kinds/kind.ts";
import { fail, foldedDomain, isName } from "../../core/model/index.ts";

/** Maximum length of a name. */
const LONGEST = 100;

/** Converts `www.acme.example` to `www-acme-example`. Empty if no character is valid in a name. */
export function slug(text: string): string {
  const plain = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/-{2,}/g, "-")
    .slice(0, LONGEST)
    // A declaration cannot have the key `__proto__`.
    .replace(/^[-_]+|[-_]+$/g, "");
  return plain === "" || isName(plain) ? plain : `site-${plain}`;
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** Returns the preferred name: domain, host of the URL, or name of the object. Otherwise name of the hosting plan and id. */
export function preferredName(kind: Kind, { id, attributes }: Remote): string {
  const { domain, url, name, plan } = attributes;
  // An internationalized domain name is used as its A-label.
  const host = text(domain) || (URL.canParse(text(url)) ? new URL(text(url)).hostname : "");
  const own = host === "" ? slug(text(name)) : slug(foldedDomain(host) ?? host);
  if (own !== "") return own;
  return [slug(text(plan)) || slug(kind.noun), slug(id).replace(/^site-/, "")].filter((part) => part !== "").join("-");
}

/** Returns the preferred name. If it is taken, adds `-2`, `-3` and so on. @param taken Names in use. The result is added. */
export function freeName(preferred: string, taken: Set<string>): string {
  let name = preferred;
  for (let count = 2; taken.has(name); count++) name = `${preferred}-${count}`;
  taken.add(name);
  return name;
}

/** A row of a file with two columns: `id,name` or `service id,client`. */
export interface Pair {
  readonly key: string;
  readonly value: string;
  /** Line number, from 1. */
  readonly line: number;
}

/**
 * Reads two columns of a CSV file (RFC 4180). The first line is a header if its first field is a word.
 * @param shown File name for messages.
 * @throws HostformError `usage` with the line.
 */
export function readPairs(csv: string, shown: string): Pair[] {
  const pairs = rowsOf(csv.replace(/^\uFEFF/, "")).flatMap(({ cells: [key = "", value = ""], line }): Pair[] => {
    if (key === "" && value === "") return [];
    if (line === 1 && /^[a-z_ ]*$/i.test(key)) return [];
    if (key === "" || value === "") {
      fail("usage", `${shown}, line ${line}: two columns are needed`, {
        remedies: ["Write an id and a name in each line: `1001,www-acme`."],
      });
    }
    return [{ key, value, line }];
  });
  const [twice] = [...Map.groupBy(pairs, ({ key }) => key).values()].flatMap(([, second]) => second ?? []);
  if (twice !== undefined) {
    fail("usage", `${shown}, line ${twice.line}: ${twice.key} is in the file twice`, {
      remedies: ["Remove one of the two lines."],
    });
  }
  return pairs;
}

function rowsOf(csv: string): { readonly cells: readonly string[]; readonly line: number }[] {
  const rows: { cells: string[]; line: number }[] = [];
  let line = 1;
  let rest = csv;
  while (rest !== "") {
    const cells: string[] = [];
    const row = { cells, line };
    for (let isOpen = true; isOpen; ) {
      const [all = "", quoted, plain, end] = /^[ \t]*(?:"((?:[^"]|"")*)"[ \t]*|([^,;\r\n]*))(,|;|\r?\n|\r|$)/.exec(
        rest,
      ) ?? [rest];
      cells.push((quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"')).trim());
      line += (all.match(/\r\n|\r|\n/g) ?? []).length;
      rest = rest.slice(all.length);
      isOpen = end === "," || end === ";";
    }
    rows.push(row);
  }
  return rows;
}

/**
 * Returns the names in a file, by kind and id. `1001` means a service; `webhook/201` means an object of another kind.
 * @throws HostformError `usage`.
 */
export function givenNames(pairs: readonly Pair[], kinds: Iterable<Kind>, shown: string): ReadonlyMap<string, string> {
  const nouns = new Map([...kinds].map((kind) => [slug(kind.noun), kind.type]));
  const names = new Map<string, string>();
  const used = new Set<string>();
  for (const { key, value, line } of pairs) {
    const slash = key.indexOf("/");
    const type = slash < 0 ? nouns.get("service") : nouns.get(slug(key.slice(0, slash)));
    const refuse = (what: string, fix: string) => fail("usage", `${shown}, line ${line}: ${what}`, { remedies: [fix] });
    if (type === undefined)
      refuse(`there is no kind ${key.slice(0, slash)}`, `Write one of ${[...nouns.keys()].join(", ")}.`);
    if (!isName(value)) {
      refuse(
        `${JSON.stringify(value)} cannot be a name`,
        "Use letters, digits, `_` and `-`, beginning with a letter or `_`.",
      );
    }
    if (used.has(`${type} ${value}`)) refuse(`the name ${value} is given twice`, "Give each object its own name.");
    used.add(`${type} ${value}`);
    names.set(`${type} ${key.slice(slash + 1)}`, value);
  }
  return names;
}
