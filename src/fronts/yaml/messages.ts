/** Messages about errors in a declaration in YAML. */
import { type Catalogue, error, problemsOf, type Words, warning } from "../../core/messages/message.ts";
import { form, shared, short, suggestionOf, texts, type Unknown, unknown } from "../source/messages.ts";
import { below, templates } from "./messages-templates.ts";

const VARIABLE = "Write `NAME: {type: string, default: VALUE}`.";
const TARGET = "Correct the address. If the state has no resource there, remove the entry.";

const sources = (name: string) =>
  `Declare the source of the value: \`${name}: { env: NAME }\`, \`{ file: PATH }\` or \`{ command: [PROGRAM, …] }\`.`;
const items = (keys: readonly string[]) => `Write a list: \`- {${keys.map((key) => `${key}: …`).join(", ")}}\`.`;

/** The section `moved`, `removed` or `import`, and the keys of its items. */
type Items = Words<"name"> & { readonly keys: readonly string[] };
/** An undeclared address. `isTarget`: true for the target of `moved` or `import`. */
type Target = Words<"target"> & { readonly near: string | undefined; readonly isTarget: boolean };

/** A limit of a file. */
export type Limit = Words<"size"> | { readonly number: number; readonly of: keyof typeof LIMITS };

const LIMITS = {
  documents: (most: number) => `has more than ${most} documents`,
  words: (most: number) => `has more than ${most} words and punctuation marks`,
  marks: (most: number) => `has more than ${most} anchors and tags`,
  levels: (most: number) => `is nested more than ${most} levels deep`,
  aliases: (most: number) => `has more than ${most} values when its aliases are expanded`,
  merges: (most: number) => `has more than ${most} values when its merge keys are expanded`,
};

/** Reasons why hostform cannot edit a place. */
export type Obstacle = keyof typeof OBSTACLES;

const OBSTACLES = {
  expression: "the value is an expression",
  alias: "the value has an anchor or is an alias",
  shared: "other resources use it",
  secret: "the value is a secret",
};

/** Remedies for common syntax errors, by the parser's code. */
const SYNTAX: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "Indent with spaces.",
  BLOCK_AS_IMPLICIT_KEY: 'Put quotes around a value that contains ": ", and start a nested map on a new line.',
  BAD_SCALAR_START: "Put quotes around the value.",
  MULTILINE_IMPLICIT_KEY: "Check the indentation, and put a colon and a space after each key.",
  BAD_INDENT: "Check the indentation, and close every bracket.",
  BAD_DQ_ESCAPE: "Write backslashes twice in double quotes, or use single quotes.",
  TAG_RESOLVE_FAILED: "Remove the tag (the word that begins with `!`); put quotes around a string that begins with it.",
};

const messages = {
  ...shared,
  ...templates,
  "config.duplicate/state": error(
    texts(
      "An environment has a `backend` or a `state` file",
      "Remove `backend` or `state`: a state can have only one location.",
    ),
  ),
  "config.expression/nested_key": error(
    texts(
      "The key of a {noun} is part of its address and cannot be an expression",
      "Write the {keyAttribute} without an expression.",
    ),
  ),
  "config.expression/null_variable": error(
    texts('The variable "{name}" is null and cannot be part of a string', 'Set a value for "{name}".'),
  ),
  "config.missing_attribute/address": error(
    texts("`{section}` requires `{key}`", "Write `{key}: hosting_service.NAME`."),
  ),
  "config.missing_attribute/destroy": error(
    texts(
      "`removed` requires `destroy`",
      "To keep the object in the account, write `destroy: false`. To remove it by its deletion_policy, write `destroy: true`.",
    ),
  ),
  "config.missing_attribute/id": error(texts("`import` requires `id`", "Write the id of the object.")),
  "config.missing_attribute/output": error(
    texts(
      'The output "{name}" has no value',
      "Write `{name}: ${hosting_service.NAME.id}`. Write a map of values under `value:`.",
    ),
  ),
  "config.missing_attribute/project": error(
    texts(
      "The declaration has no `project`",
      "Write `project: NAME` at the top of one file. The name is part of the key of each order.",
    ),
  ),
  "config.reference/attribute": unknown(
    "It has",
    ({ key, noun }: Unknown & Words<"noun">) => `A ${noun} has no attribute "${short(key)}"`,
  ),
  "config.reference/variable": unknown(
    "",
    ({ key }: Unknown) => `No variable "${key}" is declared`,
    "Declare the variable: `variables: {NAME: {type: string}}` at the top of hosting.yaml.",
  ),
  "config.secret/output_variable": error(
    texts(
      'The output "{name}" would write a secret to the state: the environment variable {variable}',
      "Remove the output, and pass the environment variable directly to the program that uses it.",
      "The variable contains a token, a key or a password, and the state stores outputs.",
    ),
  ),
  "config.secret/token": error(
    texts(
      '"{key}" would put an API token into the declaration',
      "Put the token in an environment variable and declare its name (`token_env: BETA_TOKEN`), or use a file of mode 0600 (`token_file`). If the declaration was shared, revoke the token.",
    ),
  ),
  "config.secret/value": error(({ name }: Words<"name">) =>
    texts(`"${name}" would put a secret into the declaration`, sources(name)),
  ),
  "config.structure/client": error(
    texts(
      "`client` must be a name of at most {most} characters",
      "Write a plain name such as `client: acme`, without an expression.",
    ),
  ),
  "config.structure/declaration": form(
    "A declaration",
    "a map",
    "Begin with `project: NAME` and sections such as `services:`.",
  ),
  "config.structure/dependency": form(
    "An item of `depends_on`",
    "an address",
    "Write the address of a resource, such as hosting_service.acme.",
  ),
  "config.structure/depends_on": form(
    "`depends_on`",
    "a list of addresses",
    "Write `depends_on: [hosting_service.acme]`.",
  ),
  "config.structure/destroy": form(
    "`destroy`",
    "true or false",
    "To keep the object in the account, write `destroy: false`. To remove it by its deletion_policy, write `destroy: true`.",
  ),
  "config.structure/environment": error(({ known }: { known: readonly string[] }) =>
    texts("The file of an environment must be a map", `An environment can have ${known.join(", ")}.`),
  ),
  "config.structure/environment_documents": error(
    texts("The file of an environment has more than one document", "Move all content to the first document."),
  ),
  "config.structure/environment_map": error(
    texts("`{key}` must be a map by name", "Write `NAME:` indented below `{key}:`."),
  ),
  "config.structure/guards": form(
    "`guards`",
    "a map of limits",
    "Write `max_orders: 3` and so on, indented below `guards:`.",
  ),
  "config.structure/implied": error(
    texts('"{own}" cannot be given inside `{section}`', 'Remove "{own}": {from} already sets it.'),
  ),
  "config.structure/import": form(
    "`import`",
    "an id",
    "Write the id of the object in the API, without an expression. Write `$${` for a literal `${`.",
  ),
  "config.structure/instance": error(texts('The {noun} "{key}" must be a map of attributes{word}')),
  "config.structure/item": error(({ name, keys }: Items) => texts(`An item of \`${name}\` must be a map`, items(keys))),
  "config.structure/list": error(({ name, keys }: Items) => texts(`\`${name}\` must be a list`, items(keys))),
  "config.structure/nested": error(
    texts("`{key}` is not a top-level section", "Write `{section}:` inside the block of a {outer}."),
  ),
  "config.structure/nested_map": error(
    texts("`{key}` must be a map, keyed by {keyAttribute}", "Write `KEY: {…}` indented below `{key}:`."),
  ),
  "config.structure/no_guards": warning(
    texts(
      "`guards` sets no limit",
      "Write `max_orders: 3` and so on, indented below `guards:`, or remove the section.",
    ),
  ),
  "config.structure/output_description": error(
    texts('The `description` of the output "{name}" must be a string without expressions'),
  ),
  "config.structure/output_sensitive": error(texts('`sensitive` of the output "{name}" must be true or false')),
  "config.structure/provider": form(
    "`provider`",
    "the name of a provider",
    "Write `provider: NAME`, a name under `providers`.",
  ),
  "config.structure/provider_settings": error(
    texts(
      'The provider "{alias}" must be a map of settings',
      "Write `{alias}: {base_url: https://…, token_env: NAME}`, or `{alias}: {}`.",
    ),
  ),
  "config.structure/required_version": form("`required_version`", "a string", 'Write `required_version: ">= 0.1"`.'),
  "config.structure/resource": error(
    texts(
      'The {noun} "{name}" must be a map of attributes',
      "Write its attributes indented below `{name}:`, one `name: value` per line.",
    ),
  ),
  "config.structure/shared_backend": error(
    texts(
      "All environments would share the state of this `backend`",
      "Move `backend` to the files of the environments, or use a variable: `backend: {pg: {workspace: ${var.NAME}}}`.",
    ),
  ),
  "config.structure/source": error(({ name }: Words<"name">) =>
    texts(`\`${name}\` must be one of \`env\`, \`file\`, \`command\``, sources(name)),
  ),
  "config.structure/state": form(
    "`state`",
    "the path of a file",
    "Write a path relative to the project's folder, such as `state: states/production.tfstate`.",
  ),
  "config.structure/variables": form("`variables`", "a map of variables by name", VARIABLE),
  "config.syntax/conflict": error(
    texts(
      "The YAML cannot be parsed: it has the markers of an unfinished merge (lines {some})",
      "Finish the merge: keep the lines that apply, and remove the lines with markers.",
    ),
  ),
  "config.syntax/template": error(
    texts(
      "The YAML cannot be parsed: `{template}` needs quotes inside {…} and […]",
      'Write "{template}", quotes included.',
    ),
  ),
  "config.too_large/expansion": error(
    texts(
      "The declaration has more than {values} values when its templates and defaults are expanded",
      "Use fewer or smaller templates, or split the declaration into several projects.",
    ),
  ),
  "config.too_large/file": error((given: Words<"path"> & Limit) =>
    texts(
      `${given.path} ${"size" in given ? `is larger than ${given.size}` : LIMITS[given.of](given.number)}`,
      "Split the declaration into several files, and use fewer aliases.",
    ),
  ),
  "config.too_large/resources": error(
    texts(
      "The declaration has {length} resources; at most {most} are accepted",
      "Split the declaration into several projects, each in its own folder.",
    ),
  ),
  "config.unknown_key/attribute": unknown(
    "The resource can have",
    ({ key, noun }: Unknown & Words<"noun">) => `A ${noun} has no attribute "${short(key)}"`,
  ),
  "config.unknown_key/declaration": error(({ key, known, near }: Unknown) =>
    texts(
      `A declaration has no "${short(key)}".${suggestionOf(near)}`,
      undefined,
      `A declaration can have ${known.join(", ")}, and keys that begin with x- for anchors.`,
    ),
  ),
  "config.unknown_key/environment": unknown(
    "An environment can have",
    ({ key }: Unknown) => `An environment has no "${short(key)}"`,
  ),
  "config.unknown_key/item": error(({ key, known, near, name }: Unknown & Words<"name">) =>
    texts(`\`${name}\` has no "${short(key)}".${suggestionOf(near)}`, items(known)),
  ),
  "config.unknown_key/output": error(({ key, known }: Unknown) =>
    texts(
      `An output has no "${short(key)}"`,
      "To output a map, write the map under `value:`.",
      `An output can have ${known.join(", ")}.`,
    ),
  ),
  "config.unknown_key/provider": unknown(
    "The settings are",
    ({ key }: Unknown) => `A provider has no setting "${key}"`,
  ),
  "config.unknown_key/source": error(({ key, name, near }: Unknown & Words<"name">) =>
    texts(`\`${name}\` cannot be read from "${short(key)}".${suggestionOf(near)}`, sources(name)),
  ),
  "config.unknown_key/variable": unknown("", ({ key }: Unknown) => `A variable has no "${short(key)}"`),
  "config.unknown_key/variable_value": unknown(
    "",
    ({ key }: Unknown) => `No variable "${short(key)}" is declared`,
    "Declare the variable under `variables` in hosting.yaml, or remove its value here.",
  ),
  "config.unreadable/folder": error(({ folder, errno }: Words<"folder"> & { errno: string | undefined }) =>
    texts(`${folder} cannot be read: ${errno ?? "unknown error"}`, "Check its permissions."),
  ),
  "provider.unknown": unknown(
    "",
    ({ key }: Unknown) => `No provider "${short(key)}" is declared`,
    "Declare the provider under `providers`, or correct its name.",
  ),
  "config.duplicate/project": error(
    texts(
      'The project is named "{name}" here and differently elsewhere',
      "Use one name. The files of a folder are one project.",
      'The project is named "{other}" in {place}.',
    ),
  ),
  "config.invalid_value/long_variable": error(texts('The variable "{name}" must be at most {most} characters')),
  "config.invalid_value/source": error(({ name, source, message }: Words<"name" | "source" | "message">) =>
    texts(`${name}.${source}: ${message}`, sources(name)),
  ),
  "config.invalid_value/variable": error(texts('The variable "{name}" must be a {type}')),
  "config.missing": error(({ dir, other }: Words<"dir"> & { other: string | undefined }) =>
    texts(
      `No hosting.yaml and no *.hosting.yaml was found in ${dir === "." ? "this folder" : dir}`,
      other === undefined
        ? "Create a declaration with `hostform init`, or from an existing account with `hostform adopt`. Or pass files with `-f`, or a folder with `-C`."
        : `Rename ${other} to end in .yaml, or pass it with \`-f\`.`,
    ),
  ),
  "config.missing_attribute/variable": error(({ key, file }: Words<"key"> & { file: string | undefined }) =>
    texts(
      `The variable "${key}" has no value`,
      file === undefined
        ? "Declare a `default` for the variable. Or set its value in `environments/NAME.yaml`, then run `hostform -e NAME plan`."
        : `Write \`${key}: VALUE\` under \`variables\` in ${file}, or give the variable a \`default\`.`,
    ),
  ),
  "config.reference/instances": error(({ target, near, isTarget }: Target) =>
    texts(
      `${target} has several instances. Use the address of one instance.${suggestionOf(near)}`,
      isTarget ? TARGET : undefined,
    ),
  ),
  "config.reference/undeclared": error(({ target, near, isTarget }: Target) =>
    texts(`No resource ${target.slice(0, 300)} is declared.${suggestionOf(near)}`, isTarget ? TARGET : undefined),
  ),
  "config.secret/output": error(({ name, text, variable }: Words<"name" | "text"> & { variable: string | undefined }) =>
    texts(
      `The output "${name}" would show a secret`,
      `Write \`${name}: {value: …, sensitive: true}\`, or remove the output.${variable === undefined ? "" : ` If ${variable} is not secret, add its name to HOSTFORM_ENV_ALLOW.`}`,
      `${text} is sensitive, and outputs are shown after each apply.`,
    ),
  ),
  "config.structure/alias": error(
    texts(
      "No anchor &{name} precedes this alias",
      'Write &{name} at an earlier value of the same document, or put quotes around a string that begins with "*".',
    ),
  ),
  "config.structure/own_alias": error(
    texts("The alias *{name} is inside its own anchor", "Move the alias out of its anchor."),
  ),
  "config.structure/infinite": error(
    texts("This number is not finite, so it cannot be sent", "Use a finite number. Put quotes around a string."),
  ),
  "config.structure/key": form("A key", "a string", "Write `name: value`."),
  "config.structure/merge": error(
    texts("A merge key (<<) needs a map, an alias of one, or a list of them", "Write `<<: *name`."),
  ),
  "config.structure/section": error(({ key, noun, isList }: Words<"key" | "noun"> & { isList: boolean }) =>
    texts(
      `\`${key}\` must be a map of ${noun}s by name`,
      isList
        ? "Replace each `-` by `NAME:`, with the attributes indented below. The name becomes part of the address."
        : below(key),
    ),
  ),
  "config.structure/variable": error(texts('The variable "{key}" must be a map', VARIABLE)),
  "config.structure/variable_name": error(({ key }: Words<"key">) =>
    texts(`"${short(key)}" is not the name of a variable`, VARIABLE),
  ),
  "config.structure/variable_type": error(({ key, types }: { key: string; types: readonly string[] }) =>
    texts(`The type of the variable "${key}" must be ${types.join(", ")}`, VARIABLE),
  ),
  "config.syntax/bytes": error(texts("{path} is {what}", "Save {path} as UTF-8.")),
  "config.syntax/yaml": error(({ words, code }: Words<"words" | "code">) =>
    texts(`The YAML cannot be parsed: ${words}`, SYNTAX[code]),
  ),
  "config.too_large/bytes": error(
    texts("{path} is larger than {size}", "Split the declaration into several files named *.hosting.yaml."),
  ),
  "config.unknown_key/currency": unknown("It can be", ({ key }: Unknown) => `The API has no currency "${short(key)}"`),
  "config.unknown_key/guard": unknown("It can be", ({ key }: Unknown) => `\`guards\` has no setting "${short(key)}"`),
  "config.unread": warning(({ path, meant }: Words<"path" | "meant">) =>
    texts(
      `${path} looks like a declaration, but is not read`,
      meant === "hosting"
        ? "Rename the file to NAME.hosting.yaml, or move its content into hosting.yaml."
        : `Rename the file to ${meant}.hosting.yaml, or pass all files with \`-f\`.`,
      "Its resources are not part of the project.",
    ),
  ),
  "config.unreadable": error(texts("{path} cannot be read: {why}", "Check the path and its permissions.")),
  "config.by_hand": error(({ why, fix }: { readonly why: Obstacle; readonly fix: string }) =>
    texts(`hostform cannot edit this place: ${OBSTACLES[why]}`, fix, "No file was written."),
  ),
  "internal/format": error(
    texts(
      "{path} was not formatted: its meaning or its comments would change",
      "The file was not changed. Report this defect, with the part of the file that causes it.",
    ),
  ),
} satisfies Catalogue;

export const problem = problemsOf(messages);
