/** Messages about errors in templates, defaults and `include`. */
import { type Catalogue, error, type Words, warning } from "../../core/messages/message.ts";
import { form, short, suggestionOf, texts, type Unknown, unknown } from "../source/messages.ts";

/** Maximum number of names that a message lists. */
const SHOWN = 5;
const include = (pattern: string) => `\`include\` of ${pattern.slice(0, 200)}`;
export const below = (key: string) =>
  `Write \`NAME:\` indented below \`${key}:\`, with the attributes indented below the name.`;
const parameters = ({ name, known, place }: Declared) =>
  `The template "${name}" (${place}) has ${known.join(", ") || "no parameters"}.`;

/** A template with its parameters. */
type Declared = Words<"name" | "place"> & { readonly known: readonly string[] };

export const templates = {
  "config.unknown_key/shared": error(({ key, known }: Words<"key"> & { readonly known: readonly string[] }) =>
    texts(
      `A file that all projects share cannot have "${key}"`,
      `Use only ${known.join(" and ")}, and declare the rest in the projects.`,
    ),
  ),
  "config.include/nested": error(
    texts(
      "An included file cannot include other files",
      "Move `include` to hosting.yaml, or to the file that includes this file.",
    ),
  ),
  "config.include/path": form(
    "`include`",
    "a path or a list of paths",
    "Write `include: clients/*.yaml`, or a list of such paths.",
  ),
  "config.template/argument_form": error(({ key, form: wanted, place }: Words<"key" | "form" | "place">) => {
    const what = wanted === "leaf" ? "a single value" : `a ${wanted}`;
    return texts(
      `The parameter "${key}" must be ${what}`,
      `Write ${what}, or correct the default.`,
      `Its default in ${place} has this type.`,
    );
  }),
  "config.template/circle": error(texts("Templates form a cycle: {circle}", "Remove one of the `template:` lines.")),
  "config.template/defaults": error(
    texts(
      "`defaults` of `{key}` must be a map of attributes",
      "Write the attributes indented below `{key}:`, one `name: value` per line.",
    ),
  ),
  "config.template/defaults_key": error(
    texts('`defaults` of `{section}` cannot have "{key}"', 'Write "{key}" in the blocks that need it.'),
  ),
  "config.template/defaults_section": unknown(
    "`defaults` can have",
    ({ key }: Unknown) => `\`defaults\` has no section "${short(key)}"`,
  ),
  "config.template/depth": error(
    texts("Templates use each other more than {most} levels deep", "Merge some of these templates."),
  ),
  "config.template/dollar": error(
    texts("A `$` directly before `${` is not allowed", "Put another character between `$` and `${`."),
  ),
  "config.template/key": error(({ key }: Words<"key">) =>
    texts(`The key "${short(key)}" requires a single value`, "Pass a string to the parameter."),
  ),
  "config.template/key_twice": error(({ key }: Words<"key">) =>
    texts(`"${short(key)}" is declared twice in the same map`, "Pass different values to the parameters in the keys."),
  ),
  "config.template/missing_argument": error(({ name, key, place }: Words<"name" | "key" | "place">) =>
    texts(
      `The template "${name}" requires the parameter "${key}"`,
      `Add \`with: {${key}: …}\`.`,
      `The parameter is declared in ${place}, without a default.`,
    ),
  ),
  "config.template/parameter_name": error(({ name }: Words<"name">) =>
    texts(
      `"${name}" cannot be the name of a parameter`,
      "Choose another name: `${name}` is the name of the block that uses the template.",
    ),
  ),
  "config.template/parameters": error(
    texts(
      '`parameters` of the template "{template}" must be a map',
      "Write `domain:` for a required parameter, and `plan: 11` for a parameter with a default.",
    ),
  ),
  "config.template/part": error(({ name, form: given }: Words<"name" | "form">) =>
    texts(
      `The parameter "${name}" is ${given === "leaf" ? "empty" : `a ${given}`} and cannot be part of a string`,
      "Pass a string to the parameter.",
    ),
  ),
  "config.template/replace": form("`replace`", "a list of attributes", "Write `replace: [grants]`."),
  "config.template/replace_unknown": error(({ key, near }: Unknown) =>
    texts(
      `"${short(key)}" does not exist, so it cannot be replaced.${suggestionOf(near)}`,
      "Write an attribute of the template or the defaults, or remove the name from `replace`.",
    ),
  ),
  "config.template/section": error(({ key, noun }: Words<"key" | "noun">) =>
    texts(
      `\`${key}\` must be a map of ${noun === "section" ? "attributes by section" : `${noun}s by name`}`,
      below(key),
    ),
  ),
  "config.template/template": error(
    texts(
      'The template "{name}" must be a map of attributes',
      "Write `parameters:` and attributes indented below `{name}:`.",
    ),
  ),
  "config.template/template_name": form(
    "`template`",
    "the name of a template",
    "Write `template: NAME`, a name under `templates`.",
  ),
  "config.template/unknown": unknown(
    "",
    ({ key }: Unknown) => `No template "${short(key)}" is declared`,
    "Declare the template under `templates`, or correct its name.",
  ),
  "config.template/unknown_argument": error((given: Declared & Omit<Unknown, "known">) =>
    texts(
      `The template "${given.name}" has no parameter "${short(given.key)}".${suggestionOf(given.near)}`,
      "Correct the name, or declare the parameter under `parameters` of the template.",
      parameters(given),
    ),
  ),
  "config.template/unknown_parameter": unknown(
    "",
    ({ name, key }: Unknown & Words<"name">) => `The template "${name}" has no parameter "${short(key)}"`,
    "Declare the parameter under `parameters` of the template. Write `$${` for a literal `${`.",
  ),
  "config.template/unused": warning(({ name, parameter }: Words<"name" | "parameter">) =>
    texts(
      `The template "${name}" does not use its parameter "${parameter}"`,
      `Write \`\${${parameter}}\` where the value belongs, or remove the parameter.`,
    ),
  ),
  "config.template/with": error((given: Declared) =>
    texts("`with` must be a map of parameters", "Write `with: {PARAMETER: VALUE}`.", parameters(given)),
  ),
  "config.template/with_alone": error(texts("`with` requires a `template`", "Add `template: NAME`, or remove `with`.")),
  "trust.file": error(({ pattern }: Words<"pattern">) =>
    texts(
      `${include(pattern)} is outside the project, so it is not read`,
      "Use paths inside the project's folder, relative to this file.",
    ),
  ),
  "config.include/levels": error(({ pattern }: Words<"pattern">) =>
    texts(`${include(pattern)} has \`**\``, "Write each level: `include: [clients/*.yaml, clients/*/*.yaml]`."),
  ),
  "config.include/name": error(({ pattern }: Words<"pattern">) =>
    texts(`${include(pattern)} matches no YAML file`, "Use names that end in .yaml or .yml."),
  ),
  "config.include/no_match": error(
    ({
      pattern,
      step,
      visible,
      near,
    }: Words<"pattern" | "step"> & { visible: readonly string[]; near: string | undefined }) => {
      const more = visible.length > SHOWN ? `, and ${visible.length - SHOWN} more` : "";
      const others = visible.length === 0 ? "" : ` Existing files: ${visible.slice(0, SHOWN).join(", ")}${more}.`;
      return texts(
        `${include(pattern)} matches no file${near === undefined ? "" : `.${suggestionOf(near)}`}`,
        "Correct the path, which is relative to this file, or remove it. Only `*` is a wildcard.",
        `${step} does not exist.${others}`,
      );
    },
  ),
  "config.include/number": error(
    texts(
      "`include` matches more than {most} files and folders",
      "Include fewer files, or split the declaration into several projects.",
    ),
  ),
} satisfies Catalogue;
