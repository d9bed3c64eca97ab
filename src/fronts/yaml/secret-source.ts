import { z } from "zod";
import { hasReferences, parseReferences, resolveReferences } from "../../core/expression/references.ts";
import { metaOf } from "../../core/kinds/attribute.ts";
import type { Kind } from "../../core/kinds/kind.ts";
import { ExpressionError, type SecretSource } from "../../core/model/index.ts";
import { didYouMean, type Mistakes } from "../source/mistakes.ts";
import { type Environment, readTemplate } from "../source/templates.ts";
import { type Entry, type Leaf, type MapTree, strings, type Tree, toJson } from "../source/tree.ts";

const VARIABLE_NAME = "expected the name of an environment variable, such as ACME_PASSWORD";

/** The ways to say where a secret value is read, one of which is to be given. The editor's schema is made from this as well. */
export const secretSourceForms = z.strictObject({
  env: z
    .string(VARIABLE_NAME)
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, VARIABLE_NAME)
    .describe("Environment variable that holds the value."),
  file: z
    .string("expected a path")
    .min(1, "expected a path")
    .describe("File that holds the value, relative to the project's folder. One line break at its end is left out."),
  command: z
    .array(z.string("expected a text"), "expected a list: the program and its arguments")
    .min(1, "expected a list: the program and its arguments")
    .refine(([program]) => program !== "", "expected a program")
    .describe(
      "Program, with its arguments, that prints the value. It is run without a shell, in the project's folder.",
    ),
});

const FORMS: readonly string[] = Object.keys(secretSourceForms.shape);

/** The three ways, for messages. @param name the attribute. */
const ways = (name: string) =>
  `Say where it is read when it is needed: \`${name}: { env: NAME }\`, \`{ file: PATH }\` or \`{ command: [PROGRAM, …] }\`.`;

/**
 * Whether an attribute of a block is to be read as a source: it is write-only, and declared other than by an expression
 * that refers to another resource.
 */
export function isSecretSource(kind: Kind, name: string, tree: Tree): boolean {
  const type = kind.attributes.shape[name];
  if (type === undefined || metaOf(type).writeOnly !== true) return false;
  if (tree.form !== "leaf") return true;
  return tree.value !== null && !refersToResource(tree);
}

/**
 * Reads where a secret value is to be taken from. The value itself is refused: a declaration is shared and kept. No
 * message shows what stands there, and all point at the key, whose line does not show it either.
 * @returns undefined after a mistake, which is reported.
 */
export function readSecretSource(
  { key, keySpan, value: tree }: Entry,
  address: string,
  env: Environment,
  mistakes: Mistakes,
): SecretSource | undefined {
  const remark = { address, attribute: [key], fix: ways(key) };
  if (tree.form === "leaf") {
    const variable = soleVariable(tree);
    if (variable !== undefined) return { env: variable };
    mistakes.add(keySpan, "config.secret", `"${key}" would put a secret into the declaration`, remark);
    return undefined;
  }
  const [entry, ...others] = tree.form === "map" ? [...tree.entries.values()] : [];
  if (entry === undefined || others.length > 0) {
    const summary = `\`${key}\` must be one of ${FORMS.map((form) => `\`${form}\``).join(", ")}`;
    mistakes.add(keySpan, "config.structure", summary, remark);
    return undefined;
  }
  if (!FORMS.includes(entry.key)) {
    const summary = `\`${key}\` cannot be taken from "${entry.key.slice(0, 100)}".${didYouMean(mistakes.nearest(entry.key, FORMS))}`;
    mistakes.add(keySpan, "config.unknown_key", summary, remark);
    return undefined;
  }
  if (entry.key !== "env" && !readTemplates(tree as MapTree, address, env, mistakes)) return undefined;
  const scope = { env, resource: () => undefined };
  const value = entry.key === "env" ? toJson(entry.value) : resolveReferences(toJson(entry.value), scope);
  const parsed = secretSourceForms.partial().safeParse({ [entry.key]: value });
  if (parsed.success) return parsed.data as SecretSource;
  const [issue] = parsed.error.issues;
  mistakes.add(keySpan, "config.invalid_value", `${key}.${entry.key}: ${issue?.message ?? "not usable"}`, remark);
  return undefined;
}

/** Paths and arguments may hold `${env.NAME}`, and nothing else that has to be evaluated. */
function readTemplates(tree: MapTree, address: string, env: Environment, mistakes: Mistakes): boolean {
  let readable = true;
  for (const { leaf } of strings(tree)) {
    const references = readTemplate(leaf, env, mistakes, { address });
    const [wrong] = references ?? [];
    if (wrong !== undefined) {
      mistakes.add(wrong.span, "config.reference", "Where a secret is read cannot depend on a resource", {
        address,
        fix: "Only `${env.NAME}` can be used here.",
      });
    }
    readable &&= references !== undefined && wrong === undefined;
  }
  return readable;
}

/** The NAME of a text that is `${env.NAME}` and nothing else. */
function soleVariable({ value }: Leaf): string | undefined {
  const [only, ...more] = partsOf(value);
  return typeof only === "object" && only.to === "env" && more.length === 0 ? only.name : undefined;
}

/** True for an expression without a text of its own that refers to a resource; its value is nobody's to read in the file. */
function refersToResource({ value }: Leaf): boolean {
  const parts = partsOf(value);
  return parts.every((part) => typeof part === "object") && parts.some((part) => part.to === "resource");
}

function partsOf(value: Leaf["value"]): ReturnType<typeof parseReferences> {
  if (typeof value !== "string" || !hasReferences(value)) return [String(value)];
  try {
    return parseReferences(value);
  } catch (error) {
    if (error instanceof ExpressionError) return [value];
    throw error;
  }
}
