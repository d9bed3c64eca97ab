import { isObject, type Json } from "../../core/model/index.ts";
import type { SourceFile } from "../../fronts/source/index.ts";
import type { Outline } from "./stack.ts";

type Body = Readonly<Record<string, Json>>;

/**
 * What has to be known of a stack before it is read in earnest: where its state is, which variables and outputs it has.
 * What cannot be understood is passed over here; the reading itself tells of it.
 */
export function outlineOf(files: readonly SourceFile[]): Outline {
  const roots = files.flatMap(({ text }) => bodies(parsed(text)));
  const blocks = (name: string) => roots.flatMap((root) => bodies(root[name]));
  const named = (name: string) => blocks(name).flatMap((block) => Object.entries(block));
  const [backend] = blocks("terraform").flatMap(({ backend }) => bodies(backend).flatMap((one) => Object.entries(one)));
  const [settings = {}] = backend === undefined ? [] : bodies(backend[1]);
  const variables = named("variable").map(([name, value]) => {
    const [body = {}] = bodies(value);
    const sensitive = body.sensitive === true || body.sensitive === "true";
    return [name, { sensitive, ...(body.default !== undefined && { default: body.default }) }] as const;
  });
  return {
    ...(backend && { backend: { type: backend[0], settings } }),
    variables: new Map(variables),
    outputs: named("output").map(([name]) => name),
  };
}

/** The bodies of a block: it is written as an object, or as a list of objects. */
function bodies(value: Json | undefined): Body[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.filter(isObject).map((one) => one as Body);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")) as Json;
  } catch {
    return undefined;
  }
}
