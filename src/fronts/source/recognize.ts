import type { Kinds } from "../../core/kinds/kind.ts";

/** Keys of a stack that hardly any other JSON has at its top. */
const STACK = ["terraform", "provider", "resource", "variable", "locals", "moved", "removed"];
const SECTIONS = ["project", "provider", "providers", "guards", "backend", "outputs"];

/**
 * Whether a text looks like a part of a declaration in YAML: one of its keys stands at the beginning of a line, or in a map that
 * is written as JSON. Of any other text no message may show a line: `hosting.yaml` or `-f` may lead to a file of secrets.
 */
export function isDeclaration(text: string, kinds: Kinds): boolean {
  const sections = [...kinds.values()].flatMap(({ nested, section }) => (nested === undefined ? [section] : []));
  const keys = [...SECTIONS, ...sections].join("|");
  return inFlow(text, keys) || new RegExp(`^\\uFEFF?["']?(?:${keys})["']?[ \\t]*:(?=\\s|$)`, "m").test(text);
}

/** The same of a stack in Terraform's JSON. */
export function isStack(text: string): boolean {
  return inFlow(text, STACK.join("|"));
}

function inFlow(text: string, keys: string): boolean {
  return /^\uFEFF?\s*[{[]/.test(text) && new RegExp(`[{,]\\s*(["']?)(?:${keys})\\1\\s*:`).test(text);
}
