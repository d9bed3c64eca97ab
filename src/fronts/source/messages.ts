/** Texts of the mistakes that both languages report, and the forms that their catalogues share. */
import { type Catalogue, either, error, problemsOf, type Texts, type Words } from "../../core/messages/message.ts";

/** An unknown word, the known ones, and the nearest of them. */
export interface Unknown {
  readonly key: string;
  readonly known: readonly string[];
  readonly near: string | undefined;
}

/** Texts with one remedy. */
export const texts = (summary: string, fix?: string, detail?: string): Texts => ({
  summary,
  ...(detail !== undefined && { detail }),
  ...(fix !== undefined && { remedies: [fix] }),
});

/** A value of the wrong form. */
export const form = (what: string, wanted: string, fix: string) => error(texts(`${what} must be ${wanted}`, fix));

/** An unknown word. @param lead the words before the list of known ones; without it they are not listed. */
export const unknown = <Own extends Unknown>(lead: string, sentence: (given: Own) => string, fix?: string) =>
  error((given: Own) =>
    texts(
      `${sentence(given)}.${suggestionOf(given.near)}`,
      fix,
      lead === "" ? undefined : `${lead} ${given.known.join(", ")}.`,
    ),
  );

/** Words of a file are shown up to this length. */
export const short = (text: string) => text.slice(0, 100);

/** ` Did you mean "x"?` or nothing. */
export function suggestionOf(candidate: string | undefined): string {
  return candidate === undefined ? "" : ` Did you mean "${candidate}"?`;
}

const BACKEND = "Write `backend: {http: {address: https://…}}` or `backend: {pg: {workspace: NAME}}`.";
const ADDRESS = "Write an address such as hosting_service.acme, without `${}` and without an attribute.";
const ENV_ONLY = "Only `${env.NAME}` can be used here.";
const PROJECT_NAME = "Use 1 to 64 letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit.";
const PROJECT_STAYS = "It is part of the key of every order, so it must not change once something was ordered.";
const NEWER = "Use a version of hostform that it allows. What a newer one wrote, this one may misread.";

const BLANKS: Readonly<Record<string, string>> = {
  "\u00a0": "a no-break space",
  "\u200b": "a zero-width space",
  "\u202f": "a narrow no-break space",
  "\u2060": "a word joiner",
  "\u3000": "an ideographic space",
  "\ufeff": "a byte order mark",
};

/** A value, its path in the declaration, and the value as written. */
type Scalar = Words<"path" | "written"> & { readonly value: string | number | boolean | null };

/** Messages of both languages. */
export const shared = {
  "config.circle": error(({ nodes, skipped }: { nodes: readonly string[]; skipped: number }) => {
    const between = skipped > 0 ? [`(${skipped} more)`] : [];
    const way = [...nodes.slice(0, -1), ...between, ...nodes.slice(-1), nodes[0]].join(" -> ");
    return texts(
      nodes.length === 1 ? `${nodes[0]} refers to itself` : `References form a circle: ${way}`,
      "Remove one of the references, or write a literal value in its place.",
    );
  }),
  "config.computed": error(({ key, address, near }: Words<"key" | "address"> & { near: string | undefined }) =>
    texts(
      `"${key}" is set by the API and cannot be declared${near === undefined ? "" : `.${suggestionOf(near)}`}`,
      `Remove it; elsewhere it can be used as \`\${${address}.${key}}\`.`,
    ),
  ),
  "config.duplicate": error(({ name, times, place }: Words<"name" | "place"> & { times: number }) =>
    texts(
      `${name} is declared ${times === 2 ? "twice" : `${times} times`}`,
      "Remove or rename all but one.",
      `It is also declared in ${place}.`,
    ),
  ),
  "config.duplicate/import": error(({ address }: Words<"address">) =>
    texts(`${address} is imported twice`, "Remove one of the two."),
  ),
  "config.duplicate/key": error(({ key, what, line }: Words<"key" | "what"> & { line: number }) =>
    texts(
      `"${short(key)}" is declared twice in the same ${what}`,
      "Remove one of the two, or merge them.",
      `The first one is on line ${line}.`,
    ),
  ),
  "config.environment": error(({ name }: Words<"name">) => texts(`The environment variable ${name} is not set`)),
  "config.expression/template": error(({ summary }: Words<"summary">) =>
    texts(summary, "Write `${hosting_service.NAME.id}` or `${env.NAME}`; a literal `${` is written `$${`."),
  ),
  "config.invalid_value/decimal": error(({ path, written, value }: Scalar) =>
    texts(`${path}: ${written} is not a number in decimal digits`, `Write \`${value}\` if you mean that.`),
  ),
  "config.invalid_value/empty": error(({ path, written }: Words<"path"> & { written: string | undefined }) =>
    written === undefined
      ? texts(
          `${path}: expected a text, but the value is empty`,
          'Write it in quotes (`""` for an empty text), or remove it.',
        )
      : texts(
          `${path}: expected a text, but ${written} without quotes means "no value"`,
          `Write it in quotes (\`"${written}"\`), or remove it.`,
        ),
  ),
  "config.invalid_value/json_text": error(({ path }: Words<"path">) =>
    texts(`${path}: this text would be sent as the list or map that it holds`, "Write it without quotes."),
  ),
  "config.invalid_value/nested": error(({ path, form: given, written }: Words<"path" | "form" | "written">) =>
    texts(
      `${path}: expected a text, not a ${given}`,
      `Write it in quotes${written.length < 80 && !/["\n]/.test(written) ? ` (\`"${written}"\`)` : ""} if it is a text.`,
    ),
  ),
  "config.invalid_value/project": error(texts("project: not a valid project name", PROJECT_NAME, PROJECT_STAYS)),
  "config.invalid_value/project_variable": error(
    texts("HOSTFORM_PROJECT does not hold a valid project name", PROJECT_NAME),
  ),
  "config.invalid_value/setting": error(({ path, message }: Words<"path" | "message">) => texts(`${path}: ${message}`)),
  "config.invalid_value/unquoted": error(({ path, written, value }: Scalar) =>
    texts(
      `${path}: ${written} without quotes would become ${value}`,
      `Write it in quotes if it is a text (\`"${written}"\`), otherwise \`${value}\`.`,
    ),
  ),
  "config.reference/depends_on": error(texts("This is not the address of a resource", ADDRESS)),
  "config.reference/address": error(({ near }: { near: string | undefined }) =>
    texts(`This is not the address of a resource.${suggestionOf(near)}`, ADDRESS),
  ),
  "config.reference/exported": error(({ text, fingerprint, target }: Words<"text" | "fingerprint" | "target">) =>
    texts(
      `${text} is not stored: its secret_output removes it from the state`,
      `Remove the reference, or the secret_output of ${target}.`,
      `Once it is written, hostform knows only its fingerprint (${fingerprint}).`,
    ),
  ),
  "config.reference/setting": error(({ owner }: Words<"owner">) =>
    texts(`A ${owner} cannot refer to a resource`, ENV_ONLY),
  ),
  "config.reference/source": error(texts("The source of a secret cannot depend on a resource", ENV_ONLY)),
  "config.reference/write_only": error(({ text }: Words<"text">) =>
    texts(`${text} is write-only: it is sent but not stored, and cannot be referenced`),
  ),
  "config.secret/http": error(({ key }: Words<"key">) =>
    texts(
      `"${key}" would put a password into the declaration`,
      "Set the environment variables TF_HTTP_USERNAME and TF_HTTP_PASSWORD. If the file was shared, change the password.",
    ),
  ),
  "config.secret/pg": error(({ key }: Words<"key">) =>
    texts(
      `"${key}" would put a password into the declaration`,
      "Set the environment variable PG_CONN_STR. If the file was shared, change the password.",
    ),
  ),
  "config.structure/backends": error(texts("Only one backend can be declared", BACKEND)),
  "config.structure/no_backend": error(texts("`backend` must name a type", BACKEND)),
  "config.structure/backend_settings": error(({ type }: Words<"type">) =>
    texts(`\`${type}\` must be a map of settings`, BACKEND),
  ),
  "config.structure/constraint": error(({ of }: Words<"of">) =>
    texts(
      `${of === "provider" ? "The version of the provider hosting" : "`required_version`"} is no version constraint`,
      'Write it as Terraform does, such as ">= 1.11" or "~> 1.11.0".',
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
      PROJECT_NAME.replace(/\.$/, "; put quotes around a number."),
      PROJECT_STAYS,
    ),
  ),
  "config.structure/proto": error(texts('"__proto__" is not accepted as a key', "Choose another name.")),
  "config.syntax/blank": error(({ column, found }: { column: number; found: string }) => {
    const isSpace = /\p{Z}/u.test(found);
    const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    const name = BLANKS[found] ?? (isSpace ? "a special space" : "an invisible character");
    return texts("", isSpace ? "Replace it by a space." : "Remove it.", `Column ${column} holds ${name} (U+${code}).`);
  }),
  "config.too_large/shown": either(({ beyond, severity }: { beyond: number; severity: string }) =>
    texts(`${beyond} more ${severity}s are not shown`, "Fix the ones above first."),
  ),
  "config.unknown_key/backend": unknown(
    "There are",
    ({ key }: Unknown) => `There is no backend "${short(key)}"`,
    BACKEND,
  ),
  "config.unsupported/hostform": error(({ text, own }: Words<"text" | "own">) =>
    texts(`This project requires hostform ${text}; this is ${own}`, NEWER),
  ),
  "config.unsupported/provider": error(({ text, own }: Words<"text" | "own">) =>
    texts(`The stack requires version ${text} of the provider hosting; this is ${own}`, NEWER),
  ),
  "config.unknown_key/backend_setting": unknown(
    "The settings are",
    ({ key, type }: Unknown & Words<"type">) => `The backend ${type} has no setting "${short(key)}"`,
  ),
  "trust.untrusted": error(({ name }: Words<"name">) =>
    texts(
      `The untrusted declaration reads the environment variable ${name}`,
      "Write the value itself. If anyone may see the variable, add its name to HOSTFORM_ENV_ALLOW.",
    ),
  ),
} satisfies Catalogue;

export const problem = problemsOf(shared);
