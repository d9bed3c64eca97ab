import { Refusal } from "../refusal.ts";
import { compareText } from "../text-order.ts";
import { bool, elementsOf, isKnown, isWhollyKnown, list, text, unknown } from "../typed.ts";
import { lowerCase, titleCase, trimSpace, upperCase } from "./case.ts";
import { charactersOf } from "./characters.ts";
import { ArgumentError, CallError, type Definition, type Parameter } from "./definition.ts";
import { integerIn } from "./integers.ts";
import { textOf, texts } from "./parts.ts";

const string = (name: string): Parameter => ({ name, type: "string" });

/** A function of one or more texts that gives a text. */
function ofTexts(names: readonly string[], compute: (...texts: string[]) => string): Definition {
  return {
    parameters: names.map(string),
    result: "string",
    run: (args) => text(compute(...args.map(textOf))),
  };
}

/** A question about two texts. */
function question(names: readonly string[], ask: (subject: string, part: string) => boolean): Definition {
  return {
    parameters: names.map(string),
    result: "bool",
    run: ([subject, part]) => bool(ask(subject ? textOf(subject) : "", part ? textOf(part) : "")),
  };
}

const loose = (name: string): Parameter => ({ ...string(name), untyped: true });

const join: Definition = {
  parameters: [string("separator")],
  rest: { name: "lists", type: { list: "string" } },
  result: "string",
  run([separator, ...lists]) {
    if (lists.length === 0) throw new CallError("at least one list is required");
    if (!lists.every(isWhollyKnown)) return unknown("string");
    const parts = lists.flatMap((one, i) =>
      elementsOf(one).map((item, k) => {
        if (item.content !== null) return textOf(item);
        const where = lists.length > 1 ? `element ${k} of list ${i + 1}` : `element ${k}`;
        throw new ArgumentError(i + 1, `${where} is null; cannot concatenate null values`);
      }),
    );
    return text(parts.join(separator === undefined ? "" : textOf(separator)));
  },
};

const split: Definition = {
  parameters: [string("separator"), string("str")],
  result: { list: "string" },
  run: (args) => {
    const [separator = "", subject = ""] = args.map(textOf);
    return texts(separator === "" ? [...subject] : subject.split(separator));
  },
};

const sort: Definition = {
  parameters: [{ name: "list", type: { list: "string" }, unknown: true }],
  result: { list: "string" },
  run([given]) {
    if (given === undefined || !isKnown(given)) return unknown({ list: "string" });
    // How many there will be is known even where their order is not.
    if (!isWhollyKnown(given))
      return list(
        "string",
        elementsOf(given).map(() => unknown("string")),
      );
    const items = elementsOf(given);
    const missing = items.findIndex(({ content }) => content === null);
    if (missing >= 0) throw new CallError(`given list element ${missing} is null; a null string cannot be sorted`);
    return list(
      "string",
      [...items].sort((a, b) => compareText(textOf(a), textOf(b))),
    );
  },
};

const substr: Definition = {
  parameters: [
    loose("str"),
    { name: "offset", type: "number", untyped: true },
    { name: "length", type: "number", untyped: true },
  ],
  result: "string",
  run([subject, from, count]) {
    if (subject === undefined || from === undefined || count === undefined) return text("");
    const offset = integerIn(from);
    const length = integerIn(count);
    const characters = charactersOf(textOf(subject));
    // Terraform's own oddity: no characters counted from the end are all of them.
    if (offset >= 0 && length === 0) return text("");
    const start = offset < 0 ? Math.max(offset + characters.length, 0) : offset;
    return text(characters.slice(start, length <= 0 ? undefined : start + length).join(""));
  },
};

const LARGEST_INDENT = 10_000;

const indent: Definition = {
  parameters: [{ name: "spaces", type: "number" }, string("str")],
  result: "string",
  run([spaces, subject]) {
    const count = spaces === undefined ? 0 : integerIn(spaces);
    if (count < 0) throw new CallError("the count of spaces must not be negative");
    if (count > LARGEST_INDENT) throw new Refusal(`indent() by more than ${LARGEST_INDENT} spaces is not supported`, 0);
    return text((subject === undefined ? "" : textOf(subject)).replaceAll("\n", `\n${" ".repeat(count)}`));
  },
};

/** Whether an unknown text begins with something can be told only of the empty prefix. */
const startswith: Definition = {
  parameters: [{ ...string("str"), unknown: true }, string("prefix")],
  result: "bool",
  run([subject, prefix]) {
    const start = prefix === undefined ? "" : textOf(prefix);
    if (subject === undefined || (!isKnown(subject) && start !== "")) return unknown("bool");
    return bool(textOf(subject).startsWith(start));
  },
};

function trim(subject: string, cutset: string): string {
  const cut = new Set(cutset);
  const characters = [...subject];
  const first = characters.findIndex((character) => !cut.has(character));
  const last = characters.findLastIndex((character) => !cut.has(character));
  return first < 0 ? "" : characters.slice(first, last + 1).join("");
}

/** All occurrences of a text by another; the empty text stands before, after and between all code points. */
export function replaceText(subject: string, part: string, by: string): string {
  if (part !== "") return subject.split(part).join(by);
  return [...subject].reduce((all, character) => all + character + by, by);
}

export const STRINGS: Readonly<Record<string, Definition>> = {
  chomp: ofTexts(["str"], (subject) => subject.replace(/(?:\r\n?|\n)+$/, "")),
  endswith: question(["str", "suffix"], (subject, suffix) => subject.endsWith(suffix)),
  indent,
  join,
  lower: { ...ofTexts(["str"], lowerCase), parameters: [loose("str")] },
  sort,
  split,
  startswith,
  strcontains: question(["str", "substr"], (subject, part) => subject.includes(part)),
  strrev: {
    ...ofTexts(["str"], (subject) => [...charactersOf(subject)].reverse().join("")),
    parameters: [loose("str")],
  },
  substr,
  title: ofTexts(["str"], titleCase),
  trim: ofTexts(["str", "cutset"], trim),
  trimprefix: ofTexts(["str", "prefix"], (subject, prefix) =>
    subject.startsWith(prefix) ? subject.slice(prefix.length) : subject,
  ),
  trimspace: ofTexts(["str"], trimSpace),
  trimsuffix: ofTexts(["str", "suffix"], (subject, suffix) =>
    suffix !== "" && subject.endsWith(suffix) ? subject.slice(0, -suffix.length) : subject,
  ),
  upper: { ...ofTexts(["str"], upperCase), parameters: [loose("str")] },
};
