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

/** A reference of one resource to another, and the place in its attributes where it stands. */
export interface Use {
  readonly reference: Reference & { readonly to: "resource" };
  readonly path: AttributePath;
}

/** Context in which a value is written. */
export interface Writing {
  readonly variables: Variables;
  /** The attributes of a resource type; undefined for a type that this provider does not have. */
  attributesOf(type: string): Attributes | undefined;
  /** Called with each reference to another resource. */
  onUse(use: Use): unknown;
}

interface Place {
  readonly path: AttributePath;
  /** It is write-only: its values from the environment are secrets. */
  readonly secret: boolean;
}

/**
 * A declared value in Terraform's language: templates as expressions, everything else literal and in the type of the provider's
 * schema, so that the value is the same as in YAML. Maps leave null values out.
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

/** A value of a free map: a list or an object there is JSON text, as hostform sends it. */
function mapText(value: Json, place: Place, writing: Writing): TfValue {
  if (typeof value !== "object" || value === null) return tfValue(value, "string", place, writing);
  const template = jsonParts(value, place, writing);
  return template.every((part) => typeof part === "string") ? template.join("") : { template };
}

/** JSON text in which templates are expressions: `jsonencode` quotes them by their type. */
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

/** A template: a text without references is literal, a reference alone keeps its type. */
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

/** The warning about a reference to an item of a set by its position; none for other references. */
export function setItemWarning(
  what: string,
  { reference }: Use,
  writing: Pick<Writing, "attributesOf">,
  place: DiagnosticParts,
): Diagnostic[] {
  if (!isSetItem(reference, writing)) return [];
  return [problem("terraform.export/set", { what, text: reference.text, ...place })];
}

/** `hosting_grant.acme["dev@acme.example"].id`; an item of a set by way of a list, which has positions. */
function referenceCode(reference: Use["reference"], writing: Writing): string {
  const { address, path } = reference;
  const [name = "", ...more] = path;
  const start = `${addressCode(address)}.${name}`;
  return (isSetItem(reference, writing) ? `tolist(${start})` : start) + more.map((step) => stepCode(step)).join("");
}

/** An address as an expression: its key is a text of Terraform's language. */
export function addressCode(address: string): string {
  const parts = parseAddress(address);
  if (parts === undefined) throw new Error(`${address} is no address`);
  return `${parts.type}.${parts.name}${parts.key === undefined ? "" : keyCode(parts.key)}`;
}

const stepCode = (step: string | number) =>
  typeof step === "string" && /^[A-Za-z_][A-Za-z0-9_-]*$/.test(step) ? `.${step}` : keyCode(step);

const keyCode = (key: string | number) => `[${typeof key === "number" ? key : quotedLiteral(key)}]`;

/** Names that no variable may have. */
const RESERVED = new Set(["source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"]);

interface Variable {
  readonly name: string;
  readonly secret: boolean;
  readonly sensitive: boolean;
  readonly comments: readonly string[];
  readonly description: string;
}

/**
 * The input variables of a configuration: what a declaration in YAML takes from the environment, and the secrets that it reads
 * when they are needed. Each is made on first use.
 */
export class Variables {
  readonly #known = new Map<string, Variable>();
  readonly #names = new Set<string>();
  readonly #hidden: ReadonlySet<string>;

  /** @param hidden sources of sensitive values (`env.NAME`): their variables are sensitive. */
  constructor(hidden: ReadonlySet<string>) {
    this.#hidden = hidden;
  }

  /** The value of an environment variable, for an attribute that plan and state may show. */
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
   * A secret, which Terraform writes into no plan and no state.
   * @param base the name of the variable where its source has none: `acme_www_password`.
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

  /** The `variable` blocks, by name. */
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

  /** True if the configuration has a secret, which only Terraform 1.11 keeps out of plan and state. */
  get secrets(): boolean {
    return [...this.#known.values()].some(({ secret }) => secret);
  }

  #code(key: string, wanted: string, make: (name: string) => Variable): TfCode {
    const known = this.#known.get(key) ?? make(this.#free(wanted));
    this.#known.set(key, known);
    return { code: `var.${known.name}` };
  }

  /** The name itself, or with something after it where it is taken. */
  #free(wanted: string): string {
    const base = RESERVED.has(wanted) || !/^[A-Za-z_]/.test(wanted) ? `env_${wanted}` : wanted;
    let name = base;
    for (let count = 2; this.#names.has(name); count++) name = `${base}_${count}`;
    this.#names.add(name);
    return name;
  }
}

const PREFIX = "TF_VAR_";

/** A TF_VAR_ variable keeps its name in Terraform. */
const nameFor = (env: string) =>
  env.startsWith(PREFIX) && env.length > PREFIX.length ? env.slice(PREFIX.length) : env;

/** The shell command that sets the variable; none where it is set. */
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
