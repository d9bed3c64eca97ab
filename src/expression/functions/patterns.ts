import { isKnown, list, nullOf, object, text, tuple } from "../typed.ts";
import { elementType, shapeOf } from "../types.ts";
import type { Type, Typed } from "../value.ts";
import { ArgumentError, CallError, type Definition, type Parameter } from "./definition.ts";
import { NOTHING, textOf } from "./parts.ts";
import { Machine, type Match } from "./pattern-machine.ts";
import { type ParsedPattern, parsePattern } from "./pattern-syntax.ts";
import { replaceText } from "./strings.ts";

const string = (name: string): Parameter => ({ name, type: "string" });

/** A pattern and the text that it is applied to, in code points. */
class Search {
  readonly parsed: ParsedPattern;
  readonly #machine: Machine;
  readonly #characters: readonly string[];
  readonly #points: readonly number[];

  constructor(pattern: string, subject: string) {
    this.parsed = parsePattern(pattern);
    this.#machine = new Machine(this.parsed);
    this.#characters = [...subject];
    this.#points = this.#characters.map((character) => character.codePointAt(0) ?? 0);
  }

  get length(): number {
    return this.#points.length;
  }

  find(from: number): Match | undefined {
    return this.#machine.find(this.#points, from);
  }

  part(start: number | undefined, end: number | undefined): string | undefined {
    return start === undefined || end === undefined ? undefined : this.#characters.slice(start, end).join("");
  }

  /** Without overlaps; an empty match right after another does not count. */
  *all(): Generator<Match> {
    let previous = -1;
    for (let at = 0; at <= this.length; ) {
      const match = this.find(at);
      const [start = 0, end = 0] = match ?? [];
      if (match === undefined) return;
      if (!(end === at && start === previous)) yield match;
      at = end === at ? at + 1 : end;
      previous = end;
    }
  }
}

/** A text for a pattern without groups, an object for named groups, a tuple for others. */
function resultType(pattern: string): Type {
  const { names } = parsePattern(pattern);
  const named = names.filter((name) => name !== undefined);
  if (names.length === 0) return "string";
  if (named.length === 0) return { tuple: names.map(() => "string") };
  if (named.length < names.length)
    throw new ArgumentError(0, "invalid regexp pattern: cannot mix both named and unnamed capture groups");
  return { object: Object.fromEntries(named.map((name) => [name, "string"])) };
}

function captured(search: Search, match: Match, type: Type): Typed {
  const shape = shapeOf(type);
  if (shape === "string") return text(search.part(match[0], match[1]) ?? "");
  const groups = search.parsed.names.map((name, i) => {
    const part = search.part(match[i * 2 + 2], match[i * 2 + 3]);
    return [name ?? "", part === undefined ? nullOf("string") : text(part)] as const;
  });
  return shape === "tuple" ? tuple(groups.map(([, group]) => group)) : object(groups);
}

const regex: Definition = {
  parameters: [string("pattern"), string("string")],
  result: ([pattern = NOTHING]) => (isKnown(pattern) ? resultType(textOf(pattern)) : "any"),
  run([pattern = NOTHING, subject = NOTHING], type) {
    const search = new Search(textOf(pattern), textOf(subject));
    const match = search.find(0);
    if (match === undefined) throw new CallError("pattern did not match any part of the given string");
    return captured(search, match, type);
  },
};

const regexall: Definition = {
  parameters: [string("pattern"), string("string")],
  result: ([pattern = NOTHING]) => ({ list: isKnown(pattern) ? resultType(textOf(pattern)) : "any" }),
  run([pattern = NOTHING, subject = NOTHING], type) {
    const search = new Search(textOf(pattern), textOf(subject));
    const element = elementType(type);
    return list(
      element,
      Array.from(search.all(), (match) => captured(search, match, element)),
    );
  },
};

/** `$1`, `${1}`, `$name`, `${name}` and `$$` in what replaces a match; a name is as long as it can be. */
const GROUP = /\$(?:(\$)|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu;

function expanded(template: string, search: Search, match: Match): string {
  return template.replace(GROUP, (_, dollar?: string, braced?: string, plain?: string) => {
    if (dollar !== undefined) return "$";
    const name = braced ?? plain ?? "";
    const number = /^(?:0|[1-9]\d{0,7})$/.test(name) ? Number(name) : undefined;
    const index = number ?? search.parsed.names.indexOf(name) + 1;
    if (number === undefined && index === 0) return "";
    return search.part(match[index * 2], match[index * 2 + 1]) ?? "";
  });
}

function replaceAll(subject: string, pattern: string, template: string): string {
  const search = new Search(pattern, subject);
  let made = "";
  let done = 0;
  for (let at = 0; at <= search.length; ) {
    const match = search.find(at);
    const [start = 0, end = 0] = match ?? [];
    if (match === undefined) break;
    made += search.part(done, start) ?? "";
    if (end > done || start === 0) made += expanded(template, search, match);
    done = end;
    at = Math.max(at + 1, end);
  }
  return made + (search.part(done, search.length) ?? "");
}

const replace: Definition = {
  parameters: [string("str"), string("substr"), string("replace")],
  result: "string",
  run(args) {
    const [subject = "", part = "", by = ""] = args.map(textOf);
    const pattern = part.length > 1 && part.startsWith("/") && part.endsWith("/") ? part.slice(1, -1) : undefined;
    return text(pattern === undefined ? replaceText(subject, part, by) : replaceAll(subject, pattern, by));
  },
};

export const PATTERNS: Readonly<Record<string, Definition>> = { regex, regexall, replace };
