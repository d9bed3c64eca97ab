/** Messages that YAML and stacks share, and functions for messages. */
import { type Catalogue, either, error, problemsOf, type Words } from "../../core/messages/message.ts";

/** An unknown word, the known words, and the most similar one. */
export interface Unknown {
  readonly key: string;
  readonly known: readonly string[];
  readonly near: string | undefined;
}

/** Returns texts with one remedy. */
export const texts = <
  const Summary extends string,
  const Fix extends string | undefined = undefined,
  const Detail extends string | undefined = undefined,
>(
  summary: Summary,
  fix?: Fix,
  detail?: Detail,
): { readonly summary: Summary; readonly detail?: Detail; readonly remedies?: readonly NonNullable<Fix>[] } => ({
  summary,
  ...(detail !== undefined && { detail }),
  ...(fix !== undefined && { remedies: [fix] }),
});

/** Returns the message about a value of the wrong type. */
export const form = (what: string, wanted: string, fix: string) => error(texts(`${what} must be ${wanted}`, fix));

/** Returns the message about an unknown word. @param lead Words before the list of known words. Empty: no list. */
export const unknown = <Own extends Unknown>(lead: string, sentence: (given: Own) => string, fix?: string) =>
  error((given: Own) =>
    texts(
      `${sentence(given)}.${suggestionOf(given.near)}`,
      fix,
      lead === "" ? undefined : `${lead} ${given.known.join(", ")}.`,
    ),
  );

/** Shortens text of a file for a message. */
export const short = (text: string) => text.slice(0, 100);

/** Returns ` Did you mean "x"?`, or an empty string. */
export function suggestionOf(candidate: string | undefined): string {
  return candidate === undefined ? "" : ` Did you mean "${candidate}"?`;
}

const BACKEND =
  "Write `backend: {http: {address: https://…}}`, `backend: {pg: {workspace: NAME}}`, or `backend: {s3: {bucket: NAME, key: NAME, region: NAME}}`.";
const ADDRESS = "Write a resource address such as hosting_service.acme, without `${}` and without an attribute.";
const ENV_ONLY = "Only `${env.NAME}` can be used here.";
const PROJECT_NAME = "Use 1 to 64 letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit.";
const PROJECT_STAYS = "The project name is part of the key of each order, so it must not change after the first order.";
const NEWER = "Use a version of hostform that the project allows. This version may misread files of a newer version.";

const BLANKS: Readonly<Record<string, string>> = {
  "\u00a0": "a no-break space",
  "\u200b": "a zero-width space",
  "\u202f": "a narrow no-break space",
  "\u2060": "a word joiner",
  "\u3000": "an ideographic space",
  "\ufeff": "a byte order mark",
};

/** A value with its path, and its source text. */
type Scalar = Words<"path" | "written"> & { readonly value: string | number | boolean | null };

/** Messages of both languages. */
export const shared = {
  "config.circle": error(({ nodes, skipped }: { nodes: readonly string[]; skipped: number }) => {
    const between = skipped > 0 ? [`(${skipped} more)`] : [];
    const way = [...nodes.slice(0, -1), ...between, ...nodes.slice(-1), nodes[0]].join(" -> ");
    return texts(
      nodes.length === 1 ? `${nodes[0]} refers to itself` : `References form a cycle: ${way}`,
      "Replace one of the references by a literal value.",
    );
  }),
  "config.computed": error(({ key, address, near }: Words<"key" | "address"> & { near: string | undefined }) =>
    texts(
      `"${key}" is set by the API and cannot be declared${near === undefined ? "" : `.${suggestionOf(near)}`}`,
      `Remove "${key}" here. Other values can refer to it as \`\${${address}.${key}}\`.`,
    ),
  ),
  "config.duplicate": error(({ name, times, place }: Words<"name" | "place"> & { times: number }) =>
    texts(
      `${name} is declared ${times === 2 ? "twice" : `${times} times`}`,
      `Keep one ${name}, and remove or rename the others.`,
      `The other place is ${place}.`,
    ),
  ),
  "config.duplicate/import": error(texts("{address} is imported twice", "Remove one of the two `import` entries.")),
  "config.duplicate/key": error(({ key, what, line }: Words<"key" | "what"> & { line: number }) =>
    texts(
      `"${short(key)}" is declared twice in the same ${what}`,
      `Remove one of the two "${short(key)}" entries, or merge them.`,
      `The first entry is on line ${line}.`,
    ),
  ),
  "config.environment": error(texts("The environment variable {name} is not set")),
  "config.expression/template": error(
    texts("{summary}", "Write `${hosting_service.NAME.id}` or `${env.NAME}`. Write `$${` for a literal `${`."),
  ),
  "config.invalid_value/decimal": error(({ path, written, value }: Scalar) =>
    texts(`${path}: ${written} is not a decimal number`, `If you mean ${value}, write \`${value}\`.`),
  ),
  "config.invalid_value/empty": error(({ path, written }: Words<"path"> & { written: string | undefined }) =>
    written === undefined
      ? texts(
          `${path}: expected a string, but the value is empty`,
          'Write the value in quotes (`""` for an empty string), or remove the attribute.',
        )
      : texts(
          `${path}: expected a string, but ${written} without quotes means "no value"`,
          `Write the value in quotes (\`"${written}"\`), or remove the attribute.`,
        ),
  ),
  "config.invalid_value/json_text": error(
    texts("{path}: this string would be sent as a list or map", "Write the list or map without quotes."),
  ),
  "config.invalid_value/nested": error(({ path, form: given, written }: Words<"path" | "form" | "written">) =>
    texts(
      `${path}: expected a string, not a ${given}`,
      `If it is a string, write it in quotes${written.length < 80 && !/["\n]/.test(written) ? ` (\`"${written}"\`)` : ""}.`,
    ),
  ),
  "config.invalid_value/not_json": error(
    texts("This value is not JSON", "Use text, finite numbers, lists and plain objects."),
  ),
  "config.invalid_value/project": error(texts("project: not a valid project name", PROJECT_NAME, PROJECT_STAYS)),
  "config.invalid_value/project_variable": error(texts("HOSTFORM_PROJECT is not a valid project name", PROJECT_NAME)),
  "config.invalid_value/setting": error(texts("{path}: {message}")),
  "config.invalid_value/unquoted": error(({ path, written, value }: Scalar) =>
    texts(
      `${path}: ${written} without quotes would become ${value}`,
      `If it is a string, write it in quotes (\`"${written}"\`). Otherwise write \`${value}\`.`,
    ),
  ),
  "config.reference/depends_on": error(texts("This is not the address of a resource", ADDRESS)),
  "config.reference/address": error(({ near }: { near: string | undefined }) =>
    texts(`This is not the address of a resource.${suggestionOf(near)}`, ADDRESS),
  ),
  "config.reference/exported": error(
    texts(
      "{text} is not in the state: secret_output writes it to another place",
      "Remove the reference, or the secret_output of {target}.",
      "After the secret is written, the state has only its fingerprint ({fingerprint}).",
    ),
  ),
  "config.reference/setting": error(texts("A {owner} cannot refer to a resource", ENV_ONLY)),
  "config.reference/source": error(texts("The source of a secret cannot depend on a resource", ENV_ONLY)),
  "config.reference/write_only": error(
    texts("{text} is write-only: it is sent but not stored, so it cannot be referenced"),
  ),
  "config.secret/backend": error(
    texts(
      '"{key}" would put a credential into the declaration',
      "Set {variables} in the environment. If the file was shared, change the credential.",
    ),
  ),
  "config.unsupported/dynamodb": error(
    texts(
      "hostform does not lock with DynamoDB",
      "Remove `dynamodb_table`, and set `use_lockfile` to true here and in Terraform.",
    ),
  ),
  "config.structure/backends": error(texts("Only one backend can be declared", BACKEND)),
  "config.structure/no_backend": error(texts("`backend` has no type", BACKEND)),
  "config.structure/backend_settings": error(texts("`{type}` must be a map of settings", BACKEND)),
  "config.structure/constraint": error(({ of }: Words<"of">) =>
    texts(
      `${of === "provider" ? "The version of the provider hosting" : "`required_version`"} is not a version constraint`,
      'Write a constraint such as ">= 1.11" or "~> 1.11.0".',
    ),
  ),
  "config.structure/name": error(({ name, noun, hint }: Words<"name" | "noun" | "hint">) =>
    texts(
      `"${short(name)}" cannot be the name of ${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`,
      `Use letters, digits, \`_\` and \`-\`, beginning with a letter or \`_\`${hint}.`,
    ),
  ),
  "config.structure/project": error(({ isExpression }: { isExpression: boolean }) =>
    texts(
      `\`project\` must be a name${isExpression ? ", not an expression" : ""}`,
      `${PROJECT_NAME} Put quotes around a number.`,
      PROJECT_STAYS,
    ),
  ),
  "config.structure/proto": error(texts('"__proto__" is not accepted as a key', "Choose another name.")),
  "config.syntax/blank": error(({ column, found }: { column: number; found: string }) => {
    const isSpace = /\p{Z}/u.test(found);
    const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    const name = BLANKS[found] ?? (isSpace ? "a special space" : "an invisible character");
    return texts(
      "",
      isSpace ? "Replace it by a space." : "Remove this character.",
      `Column ${column} has ${name} (U+${code}).`,
    );
  }),
  "config.too_large/shown": either(
    texts("{beyond} more {severity}s are not shown", "Fix the {severity}s above first."),
  ),
  "config.unknown_key/backend": unknown(
    "The backends are",
    ({ key }: Unknown) => `Unknown backend "${short(key)}"`,
    BACKEND,
  ),
  "config.unsupported/hostform": error(texts("This project requires hostform {text}; this is {own}", NEWER)),
  "config.unsupported/provider": error(
    texts("The stack requires version {text} of the provider hosting; this is {own}", NEWER),
  ),
  "config.unknown_key/backend_setting": unknown(
    "The settings are",
    ({ key, type }: Unknown & Words<"type">) => `The backend ${type} has no setting "${short(key)}"`,
  ),
  "trust.untrusted": error(
    texts(
      "The untrusted declaration reads the environment variable {name}",
      "Write the value instead of the reference. If the variable is not secret, add its name to HOSTFORM_ENV_ALLOW.",
    ),
  ),
} satisfies Catalogue;

export const problem = problemsOf(shared);
