import { escapeLine, jsonText } from "./escape.ts";
import {
  isBlock,
  joinedParts,
  literalPart,
  type TfBlock,
  type TfDocument,
  type TfItem,
  type TfValue,
} from "./tf-document.ts";

/** An object of the JSON notation. Without a prototype, so that every key is one. */
type Body = { [name: string]: unknown };

/**
 * A configuration in Terraform's JSON notation (`*.tf.json`). Blocks with the same labels become a list; comments stand in
 * `//`, which Terraform passes over in every block.
 */
export function renderTfJson({ comments, blocks }: TfDocument): string {
  const root = emptyBody(comments);
  for (const block of blocks) place(root, block);
  return `${jsonText(root, 2)}\n`;
}

function place(parent: Body, { block, labels, comments, body }: TfBlock): void {
  const path = [block, ...labels];
  const last = path.pop() ?? block;
  let at = parent;
  for (const name of path) {
    at[name] ??= emptyBody();
    at = at[name] as Body;
  }
  const made = bodyOf(comments, body.flat());
  const standing = at[last];
  at[last] = standing === undefined ? made : Array.isArray(standing) ? [...standing, made] : [standing, made];
}

function bodyOf(comments: readonly string[] | undefined, items: readonly TfItem[]): Body {
  const remarks = items.flatMap((item) =>
    isBlock(item) ? [] : (item.comments ?? []).map((line) => `${item.name}: ${line}`),
  );
  const body = emptyBody([...(comments ?? []), ...remarks]);
  for (const item of items) {
    if (isBlock(item)) place(body, item);
    else body[item.name] = jsonValue(item.value);
  }
  return body;
}

function emptyBody(comments: readonly string[] = []): Body {
  const body = Object.create(null) as Body;
  if (comments.length > 0) body["//"] = comments.map(escapeLine).join(" ");
  return body;
}

/** A value; every text, and every key of a map, is a template there. */
function jsonValue(value: TfValue): unknown {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value === "string") return literalPart(value.toWellFormed());
  if (Array.isArray(value)) return value.map(jsonValue);
  const one = value as Exclude<typeof value, readonly TfValue[]>;
  if ("map" in one) {
    const object = Object.create(null) as Body;
    for (const [key, part] of one.map) object[literalPart(key.toWellFormed())] = jsonValue(part);
    return object;
  }
  if ("code" in one) return `\${${one.code}}`;
  if ("refer" in one) return one.refer;
  const parts = joinedParts(one);
  const texts = parts.map((part, index) =>
    typeof part === "string" ? literalPart(part.toWellFormed(), index < parts.length - 1) : `\${${part.code}}`,
  );
  return texts.join("");
}
