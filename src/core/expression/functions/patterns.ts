import { type Matcher, RE2JS, RE2JSSyntaxException } from "re2js";
import { CALLS } from "../../messages/expressions.ts";
import { Refusal } from "../refusal.ts";
import { isKnown, list, nullOf, object, type Type, type Typed, text, tuple } from "../typed-value.ts";
import { elementType, shapeOf } from "../types.ts";
import { CallError, type Definition, take, textOf } from "./definition.ts";
import { replaceText } from "./strings.ts";

// Functions with regular expressions.

/**
 * Maximum number of characters of a pattern, and of steps after repetitions are expanded. The number of steps determines the
 * time per character.
 */
const LONGEST = 20_000;

/**
 * Compiles a pattern in Go's syntax. The library uses Unicode 17, Terraform uses Unicode 15: `\p{L}` and `(?i)` also match
 * newer letters.
 * @param index Position of the argument.
 */
function compiled(pattern: string, index: number): RE2JS {
  const tooLarge = new Refusal(CALLS.pattern_size);
  if (pattern.length > LONGEST) throw tooLarge;
  try {
    const found = RE2JS.compile(pattern);
    if (found.programSize() > LONGEST) throw tooLarge;
    return found;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const what = error.getDescription();
    // Terraform's version of Go accepts duplicate group names.
    if (what.startsWith("duplicate")) throw new Refusal(CALLS.pattern_groups);
    throw new CallError(CALLS.pattern(what, error.getPattern() ?? ""), index);
  }
}

const patternOf = (pattern: Typed) => compiled(textOf(pattern), 0);

/** Returns the names of the groups, in order. Undefined for a group without a name. */
function namesOf(pattern: RE2JS): readonly (string | undefined)[] {
  const byIndex = new Map(Object.entries(pattern.namedGroups()).map(([name, index]) => [index, name]));
  return Array.from({ length: pattern.groupCount() }, (_, i) => byIndex.get(i + 1));
}

/** Returns the type of the result. No groups: a string. Named groups: an object. Other groups: a tuple. */
function resultType(pattern: Typed): Type {
  if (!isKnown(pattern)) return "any";
  const names = namesOf(patternOf(pattern));
  const named = names.filter((name) => name !== undefined);
  if (names.length === 0) return "string";
  if (named.length === 0) return { tuple: names.map(() => "string") };
  if (named.length < names.length) throw new CallError(CALLS.pattern_mixed, 0);
  return { object: Object.fromEntries(named.map((name) => [name, "string"])) };
}

/** Returns a match as a value of the result's type. */
function captured(match: Matcher, names: readonly (string | undefined)[], type: Type): Typed {
  const shape = shapeOf(type);
  if (shape === "string") return text(match.group() ?? "");
  const groups = names.map((name, i) => {
    const part = match.group(i + 1);
    return [name ?? "", part === null ? nullOf("string") : text(part)] as const;
  });
  return shape === "tuple" ? tuple(groups.map(([, group]) => group)) : object(groups);
}

/** Returns the position of the next character. Needed after an empty match. */
function next(subject: string, at: number): number {
  return at + ((subject.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** Yields matches that do not overlap. Skips an empty match directly after another match. */
function* matches(pattern: RE2JS, subject: string): Generator<Matcher> {
  const matcher = pattern.matcher(subject);
  let previous = -1;
  for (let at = 0; at <= subject.length && matcher.find(at); ) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (!(end === at && start === previous)) yield matcher;
    at = end === at ? next(subject, at) : end;
    previous = end;
  }
}

const regex: Definition = {
  parameters: [take("pattern"), take("string")],
  result: (pattern) => resultType(pattern),
  run(type, pattern, subject) {
    const search = patternOf(pattern);
    const matcher = search.matcher(textOf(subject));
    if (!matcher.find()) throw new CallError(CALLS.no_match);
    return captured(matcher, namesOf(search), type);
  },
};

const regexall: Definition = {
  parameters: [take("pattern"), take("string")],
  result: (pattern) => ({ list: resultType(pattern) }),
  run(type, pattern, subject) {
    const search = patternOf(pattern);
    const names = namesOf(search);
    const element = elementType(type);
    return list(
      element,
      Array.from(matches(search, textOf(subject)), (match) => captured(match, names, element)),
    );
  },
};

/** Pattern of `$1`, `${1}`, `$name`, `${name}` and `$$` in a replacement. Names are as long as possible. */
const GROUP = /\$(?:(\$)|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu;

function expanded(template: string, match: Matcher, names: readonly (string | undefined)[]): string {
  return template.replace(GROUP, (_, dollar?: string, braced?: string, plain?: string) => {
    if (dollar !== undefined) return "$";
    const name = braced ?? plain ?? "";
    const index = /^(?:0|[1-9]\d{0,7})$/.test(name) ? Number(name) : names.indexOf(name) + 1;
    if (index > names.length || (index === 0 && name !== "0")) return "";
    return match.group(index) ?? "";
  });
}

function replaceAll(subject: string, source: string, template: string): string {
  const pattern = compiled(source, 1);
  const names = namesOf(pattern);
  const matcher = pattern.matcher(subject);
  let made = "";
  let done = 0;
  for (let at = 0; at <= subject.length && matcher.find(at); ) {
    const [start, end] = [matcher.start(), matcher.end()];
    made += subject.slice(done, start);
    if (end > done || start === 0) made += expanded(template, matcher, names);
    done = end;
    at = end > at ? end : next(subject, at);
  }
  return made + subject.slice(done);
}

const replace: Definition = {
  parameters: [take("str"), take("substr"), take("replace")],
  result: "string",
  run(_, ...args) {
    const [subject = "", part = "", by = ""] = args.map(textOf);
    const pattern = part.length > 1 && part.startsWith("/") && part.endsWith("/") ? part.slice(1, -1) : undefined;
    return text(pattern === undefined ? replaceText(subject, part, by) : replaceAll(subject, pattern, by));
  },
};

export const PATTERNS: Readonly<Record<string, Definition>> = { regex, regexall, replace };
