import { hasReferences, parseReferences } from "../../../core/expression/references.ts";
import {
  type AttributePath,
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

export type Attributes = import("../../../core/model/schema.ts").Attributes;
type Type = Attributes[string]["type"];

/** A reference of one resource to another, and the place in its attributes where it stands. */
export interface Use {
  readonly reference: Reference & { readonly to: "resource" };
  readonly path: AttributePath;
}

/** What values are turned into Terraform's language with. */
export interface Writing {
  readonly variables: Variables;
  /** The attributes of a resource type, as the provider knows them; undefined for a type that is none of ours. */
  attributesOf(type: string): Attributes | undefined;
  /** Called with each reference to another resource. */
  onUse(use: Use): void;
}

interface Place {
  readonly path: AttributePath;
  /** It is write-only: what it takes from the environment is a secret. */
  readonly secret: boolean;
}

/**
 * A declared value as Terraform would have it written: templates as expressions, everything else literal and in the type
 * that the provider's schema gives, so that the value comes out as in YAML. What is null is left out of maps.
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

/** JSON text in which the templates are expressions: `jsonencode` puts them in quotes, or not, as their type wants. */
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

/** `hosting_grant.acme["dev@acme.example"].id`; an item of a set by way of a list, which alone is counted. */
function referenceCode({ address, path }: Use["reference"], writing: Writing): string {
  const [name = "", ...more] = path;
  const type = writing.attributesOf(parseAddress(address)?.type ?? "")?.[name]?.type;
  const start = `${addressCode(address)}.${name}`;
  const counted = typeof type === "object" && "set" in type && typeof more[0] === "number";
  return (counted ? `tolist(${start})` : start) + more.map((step) => stepCode(step)).join("");
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

/** Names that mean something else in Terraform's language where a variable's could stand. */
const RESERVED = new Set(["source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"]);

interface Variable {
  readonly name: string;
  readonly secret: boolean;
  readonly comments: readonly string[];
  readonly description: string;
}

/**
 * The input variables of a configuration: what a declaration in YAML takes from the environment, and the secrets that it
 * reads when they are needed. Each is made when it is first asked for.
 */
export class Variables {
  readonly #known = new Map<string, Variable>();
  readonly #names = new Set<string>();

  /** The value of an environment variable, for an attribute that plan and state may show. */
  ordinary(env: string): TfCode {
    return this.#code(`env ${env}`, nameFor(env), (name) => ({
      name,
      secret: false,
      comments: shellHint(name, { env }),
      description: `The environment variable ${env} of the declaration in YAML.`,
    }));
  }

  /**
   * A secret, which Terraform writes into no plan and no state.
   * @param base what the variable is called where its source has no name: `acme_www_password`.
   */
  secret(source: SecretSource, base: string): TfCode {
    const wanted = "env" in source ? nameFor(source.env) : base.replace(/[^A-Za-z0-9_]/g, "_");
    return this.#code(`secret ${JSON.stringify(source)}`, wanted, (name) => ({
      name,
      secret: true,
      comments: shellHint(name, source),
      description: `Read from ${sourcePlace(source)} in the declaration in YAML. Asked for at each run.`,
    }));
  }

  /** The `variable` blocks, by name. */
  blocks(): TfBlock[] {
    const variables = [...this.#known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return variables.map(({ name, secret, comments, description }) => {
      const item = (key: string, value: Exclude<Json, object>): TfItem => ({ name: key, value });
      const flags = secret ? [item("sensitive", true), item("ephemeral", true)] : [];
      const type: TfItem = { name: "type", value: { refer: "string" } };
      return {
        block: "variable",
        labels: [name],
        comments,
        body: [[item("description", description), type, ...flags]],
      };
    });
  }

  /** Whether there is one that only Terraform 1.11 keeps out of plan and state. */
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

/** A variable of the environment that is Terraform's already keeps its name there. */
const nameFor = (env: string) =>
  env.startsWith(PREFIX) && env.length > PREFIX.length ? env.slice(PREFIX.length) : env;

/** How a shell gives the variable its value; nothing where it has it. */
function shellHint(name: string, source: SecretSource): string[] {
  const variable = `${PREFIX}${name}`;
  return "env" in source && source.env === variable ? [] : [`export ${variable}=${valueIn(source)}`];
}

/** Where the value comes from, as a word of a shell. */
function valueIn(source: SecretSource): string {
  if ("env" in source) return `"$${source.env}"`;
  if ("file" in source) return `"$(cat ${shellWord(source.file)})"`;
  return `"$(${source.command.map(shellWord).join(" ")})"`;
}
