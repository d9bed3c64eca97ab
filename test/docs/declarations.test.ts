import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { validateDesired } from "../../src/core/engine/index.ts";
import { kinds } from "../../src/core/kinds/index.ts";
import { type Diagnostic, isError, isObject, type Json } from "../../src/core/model/index.ts";
import { parseDeclaration } from "../../src/fronts/yaml/index.ts";
import { type Block, pages } from "./markdown.ts";

const KEYS = ["project", "provider", "providers", ...[...kinds.values()].map(({ section }) => section)];

const isEnvironment = (file = "") => file.startsWith("environments/");

/** Returns true for YAML of hostform, false for YAML of a CI system. */
function isDeclaration({ lang, text, directives }: Block): boolean {
  if (lang !== "yaml" || isEnvironment(directives.get("file"))) return false;
  const value = parse(text, { merge: true }) as Json;
  return isObject(value) && Object.keys(value).some((key) => KEYS.includes(key));
}

/** Declarations of all pages, each with the environment of its page. */
const found = pages().flatMap(({ file, blocks }) => {
  const environment = blocks.find(({ directives }) => isEnvironment(directives.get("file")))?.text;
  return blocks.filter(isDeclaration).map((block) => ({ place: `${file}:${block.line}`, block, environment }));
});

/** Returns the errors of a declaration. Every variable of the process environment is set. */
function mistakesOf(text: string, environment?: string): Diagnostic[] {
  const env = new Proxy<Record<string, string>>(
    {},
    { get: () => "https://api.example", getOwnPropertyDescriptor: set },
  );
  const { desired, partial, diagnostics } = parseDeclaration([{ path: "hosting.yaml", text }], {
    kinds,
    env,
    environment: environment === undefined ? undefined : { path: "environments/staging.yaml", text: environment },
  });
  const readable = desired ?? partial;
  return [...diagnostics, ...(readable === undefined ? [] : validateDesired(readable, kinds, env))].filter(isError);
}

const set = () => ({ value: "https://api.example", enumerable: true, configurable: true });

describe("the declarations of the pages", () => {
  it.each(found.filter(({ block }) => !block.directives.has("not valid")))(
    "$place is valid",
    ({ block, environment }) => {
      expect(mistakesOf(block.text, environment).map(({ summary }) => summary)).toEqual([]);
    },
  );

  it.each(found.filter(({ block }) => block.directives.has("not valid")))("$place has mistakes", ({ block }) => {
    expect(mistakesOf(block.text)).not.toEqual([]);
  });
});
