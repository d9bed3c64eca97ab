import { isNested, type Schema, SHORTEST_SECRET_PART } from "../../core/model/index.ts";
import type { DiagnosticCollector } from "../source/diagnostics.ts";
import { namesSecret } from "../source/source.ts";
import { type Entry, strings } from "../source/tree.ts";
import { argumentsOf, type Block } from "./blocks.ts";
import type { Module } from "./module.ts";
import type { Catalogue } from "./options.ts";
import { StackSource } from "./source.ts";

/**
 * Finds the secrets that are written out in a stack, before anything else is said of it: no message shows them. Each is
 * warned of, since whoever has the file has them. @returns their texts.
 */
export function literalSecrets(
  { resources, data, variables, providers }: Module,
  catalogue: Catalogue,
  diags: DiagnosticCollector,
): string[] {
  const found = new Set<string>();
  const learn = (entry: Entry, shortest = 1) => {
    const texts = [...strings(entry.value)].filter(({ text }) => text.length >= shortest && !isExpression(text));
    for (const { text, leaf } of texts) {
      found.add(text);
      if (leaf.span.source instanceof StackSource) leaf.span.source.hide(text);
    }
    return texts.length > 0;
  };
  const warn = ({ keySpan, key }: Entry, fix: string) =>
    diags.warn(keySpan, "config.secret", `"${key}" is a secret, and stands in the stack in clear text`, {
      fix: `${fix} Change the secret if the file was shared.`,
    });
  for (const { body } of providers) {
    const token = body.entries.get("token");
    // It is refused where providers are read.
    if (token !== undefined) learn(token);
  }
  for (const { body } of variables.values()) {
    const fallback = body.entries.get("default");
    const flags = [body.entries.get("sensitive"), body.entries.get("ephemeral")];
    if (fallback === undefined || !flags.some(isTrue)) continue;
    if (learn(fallback)) warn(fallback, "Leave the default out, and set the environment variable TF_VAR_NAME.");
  }
  for (const [block, schema] of blocksWithSchemas([...resources.values(), ...data.values()], catalogue)) {
    for (const entry of argumentsOf(block.body)) {
      const attribute = Object.hasOwn(schema.attributes, entry.key) ? schema.attributes[entry.key] : undefined;
      if (attribute?.sensitive !== true && attribute?.writeOnly !== true) continue;
      if (typeof attribute.type === "string") {
        if (learn(entry)) warn(entry, FIX);
        continue;
      }
      learn(entry, SHORTEST_SECRET_PART);
      const parts = entry.value.form === "map" && !isNested(attribute.type) ? [...entry.value.entries.values()] : [];
      for (const part of parts) if (namesSecret(part.key) && learn(part)) warn(part, FIX);
    }
  }
  return [...found];
}

const FIX =
  'Declare a variable with `"sensitive": true`, write `"${var.NAME}"`, and set the environment variable TF_VAR_NAME.';

const isExpression = (text: string) => /[$%]\{/.test(text);

function isTrue(entry: Entry | undefined): boolean {
  return entry?.value.form === "leaf" && (entry.value.value === true || entry.value.value === "true");
}

function* blocksWithSchemas(blocks: readonly Block[], { schemas }: Catalogue): Generator<[Block, Schema]> {
  for (const block of blocks) {
    const type = block.labels[0]?.text ?? "";
    const schema = schemas.resource(type) ?? schemas.data(type);
    if (schema !== undefined) yield [block, schema];
  }
}
