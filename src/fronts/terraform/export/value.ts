import { hasReferences, parseReferences } from "../../../core/expression/references.ts";
import {
  type AttributePath,
  type Diagnostic,
  type DiagnosticParts,
  isObject,
  type Json,
  parseAddress,
  type Reference,
  type SecretSource,
  shellWord,
  sourcePlace,
} from "../../../core/model/index.ts";
import {
  quotedLiteral,
  renderValue,
  type TfBlock,
  type TfCode,
  type TfItem,
  type TfTemplate,
  type TfValue,
} from "./document.ts";
import { problem } from "./messages.ts";

export type Attributes = import("../../../core/model/schema.ts").Attributes;
type Type = Attributes[string]["type"];

/** A reference to another resource, and its place in the attributes. */
export interface Use {
  readonly reference: Reference & { readonly to: "resource" };
  readonly path: AttributePath;
}

/** Context of writing a value. */
export interface Writing {
  readonly variables: Variables;
  /** Returns the attributes of a resource type; undefined for an unknown type. */
  attributesOf(type: string): Attributes | undefined;
  /** Called with each reference to another resource. */
  onUse(use: Use): unknown;
}

interface Place {
  readonly path: AttributePath;
  /** True for a write-only attribute. Its values from the environment are secrets. */
  readonly secret: boolean;
}

/**
 * Converts a declared value to Terraform's language. Templates become expressions. Other values become literals with the type of the
 * provider's schema, so that Terraform and YAML have equal values. Maps omit null values.
 */
export function tfValue(value: Json, type: Type, place: Place, writing: Writing): TfValue {
  if (typeof value === "string" && hasReferences(value)) return written(value, place, writing);
  const { path } = place;
  if (Array.isArray(value)) {
    const element = elementOf(type);
    return value.map((item, index) => tfValue(item, element, { ...place, path: [...path, index] }, writing));
  }
  if (isObject(value)) {
    const given = Object.entries(value).filter(([, part]) => part !== null) as [string, Json][];
    const map = given.map(([key, part]): [string, TfValue] => {
      const inner = { ...place, path: [...path, key] };
      if (isMap(type)) return [key, mapText(part, inner, writing)];
      return [key, tfValue(part, partOf(type, key), inner, writing)];
    });
    return { map };
  }
  return type === "string" && value !== null ? String(value) : (value as Exclude<typeof value, object>);
}

const isMap = (type: Type) => typeof type === "object" && "map" in type;

function elementOf(type: Type): Type {
  if (typeof type === "object" && "set" in type) return type.set;
  return typeof type === "object" && "list" in type ? type.list : "string";
}

const partOf = (type: Type, name: string): Type =>
  typeof type === "object" && "nesting" in type ? (type.attributes[name]?.type ?? "string") : "string";

/** Converts a value of a free map. A list or an object becomes JSON text, as hostform sends it. */
function mapText(value: Json, place: Place, writing: Writing): TfValue {
  if (typeof value !== "object" || value === null) return tfValue(value, "string", place, writing);
  const template = jsonParts(value, place, writing);
  return template.every((part) => typeof part === "string") ? template.join("") : { template };
}

/** Writes JSON text. Templates become expressions with `jsonencode`, which quotes each value by its type. */
function jsonParts(value: Json, place: Place, writing: Writing): TfTemplate["template"] {
  const inner = (part: Json, step: string | number) =>
    jsonParts(part, { ...place, path: [...place.path, step] }, writing);
  if (typeof value === "string" && hasReferences(value)) {
    const part = written(value, place, writing);
    return [typeof part === "string" ? JSON.stringify(part) : { code: `jsonencode(${renderValue(part)})` }];
  }
  if (Array.isArray(value)) {
    return ["[", ...value.flatMap((item, index) => [index > 0 ? "," : "", ...inner(item, index)]), "]"];
  }
  if (!isObject(value)) return [JSON.stringify(value)];
  const parts = Object.entries(value).flatMap(([key, part], index) => [
    `${index > 0 ? "," : ""}${JSON.stringify(key)}:`,
    ...inner(part as Json, key),
  ]);
  return ["{", ...parts, "}"];
}

/** Converts a template: a string without references is literal, and a single reference keeps its type. */
function written(text: string, { path, secret }: Place, writing: Writing): string | TfCode | TfTemplate {
  const { variables } = writing;
  const template = parseReferences(text).map((part) => {
    if (typeof part === "string") return part;
    if (part.to === "env")
      return secret ? variables.secret({ env: part.name }, part.name) : variables.ordinary(part.name);
    writing.onUse({ reference: part, path });
    return { code: referenceCode(part, writing) };
  });
  const [only] = template;
  return template.length === 1 && only !== undefined ? only : { template };
}

/** Returns true for a reference to an item of a set by position, which differs in Terraform. */
const isSetItem = (
  { address, path: [name, index] }: Use["reference"],
  { attributesOf }: Pick<Writing, "attributesOf">,
) => {
  const type = attributesOf(parseAddress(address)?.type ?? "")?.[String(name)]?.type;
  return typeof type === "object" && "set" in type && typeof index === "number";
};

/** Returns the warning about a reference to an item of a set by position; none for other references. */
export function setItemWarning(
  what: string,
  { reference }: Use,
  writing: Pick<Writing, "attributesOf">,
  place: DiagnosticParts,
): Diagnostic[] {
  if (!isSetItem(reference, writing)) return [];
  return [problem("terraform.export/set", { what, text: reference.text, ...place })];
}

/** Writes a reference: `hosting_grant.acme["dev@acme.example"].id`. An item of a set needs a list, which has positions. */
function referenceCode(reference: Use["reference"], writing: Writing): string {
  const { address, path } = reference;
  const [name = "", ...more] = path;
  const start = `${addressCode(address)}.${name}`;
  return (isSetItem(reference, writing) ? `tolist(${start})` : start) + more.map((step) => stepCode(step)).join("");
}

/** Writes an address as an expression; its key is a string of Terraform's language. */
export function addressCode(address: string): string {
  const parts = parseAddress(address);
  if (parts === undefined) throw new Error(`${address} is no address`);
  return `${parts.type}.${parts.name}${parts.key === undefined ? "" : keyCode(parts.key)}`;
}

const stepCode = (step: string | number) =>
  typeof step === "string" && /^[A-Za-z_][A-Za-z0-9_-]*$/.test(step) ? `.${step}` : keyCode(step);

const keyCode = (key: string | number) => `[${typeof key === "number" ? key : quotedLiteral(key)}]`;

/** Reserved names of variables. */
const RESERVED = new Set(["source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"]);

interface Variable {
  readonly name: string;
  readonly secret: boolean;
  readonly sensitive: boolean;
  readonly comments: readonly string[];
  readonly description: string;
}

/**
 * Input variables of a configuration, one for each environment variable and each secret of a declaration. Creates a variable at its
 * first use.
 */
export class Variables {
  readonly #known = new Map<string, Variable>();
  readonly #names = new Set<string>();
  readonly #hidden: ReadonlySet<string>;

  /** @param hidden sources of sensitive values (`env.NAME`): their variables are sensitive. */
  constructor(hidden: ReadonlySet<string>) {
    this.#hidden = hidden;
  }

  /** Returns the value of an environment variable, for an attribute that plan and state may contain. */
  ordinary(env: string): TfCode {
    return this.#code(`env ${env}`, nameFor(env), (name) => ({
      name,
      secret: false,
      sensitive: this.#hidden.has(`env.${env}`),
      comments: shellHint(name, { env }),
      description: `The environment variable ${env} of the declaration in YAML.`,
    }));
  }

  /**
   * Returns a secret, which Terraform writes to no plan and no state.
   * @param base name of the variable if its source has none: `acme_www_password`.
   */
  secret(source: SecretSource, base: string): TfCode {
    const wanted = "env" in source ? nameFor(source.env) : base.replace(/[^A-Za-z0-9_]/g, "_");
    return this.#code(`secret ${JSON.stringify(source)}`, wanted, (name) => ({
      name,
      secret: true,
      sensitive: true,
      comments: shellHint(name, source),
      description: `Read from ${sourcePlace(source)} in the declaration in YAML. Asked for at each run.`,
    }));
  }

  /** Returns the `variable` blocks, sorted by name. */
  blocks(): TfBlock[] {
    const variables = [...this.#known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return variables.map(({ name, secret, sensitive, comments, description }) => {
      const item = (key: string, value: Exclude<Json, object>): TfItem => ({ name: key, value });
      const flags = [...(sensitive ? [item("sensitive", true)] : []), ...(secret ? [item("ephemeral", true)] : [])];
      const type: TfItem = { name: "type", value: { code: "string" } };
      return {
        block: "variable",
        labels: [name],
        comments,
        body: [[item("description", description), type, ...flags]],
      };
    });
  }

  /** True if the configuration has a secret. Only Terraform from 1.11 keeps it out of plan and state. */
  get secrets(): boolean {
    return [...this.#known.values()].some(({ secret }) => secret);
  }

  #code(key: string, wanted: string, make: (name: string) => Variable): TfCode {
    const known = this.#known.get(key) ?? make(this.#free(wanted));
    this.#known.set(key, known);
    return { code: `var.${known.name}` };
  }

  /** Returns the name, with a suffix if it is taken. */
  #free(wanted: string): string {
    const base = RESERVED.has(wanted) || !/^[A-Za-z_]/.test(wanted) ? `env_${wanted}` : wanted;
    let name = base;
    for (let count = 2; this.#names.has(name); count++) name = `${base}_${count}`;
    this.#names.add(name);
    return name;
  }
}

const PREFIX = "TF_VAR_";

/** Returns Terraform's name of an environment variable: a TF_VAR_ variable keeps its name. */
const nameFor = (env: string) =>
  env.startsWith(PREFIX) && env.length > PREFIX.length ? env.slice(PREFIX.length) : env;

/** Returns the shell command that sets the variable; none if the environment already sets it. */
function shellHint(name: string, source: SecretSource): string[] {
  const variable = `${PREFIX}${name}`;
  return "env" in source && source.env === variable ? [] : [`export ${variable}=${valueIn(source)}`];
}

/** Returns the source of a value as a word of a shell. */
function valueIn(source: SecretSource): string {
  if ("env" in source) return `"$${source.env}"`;
  if ("file" in source) return `"$(cat ${shellWord(source.file)})"`;
  return `"$(${source.command.map(shellWord).join(" ")})"`;
}
