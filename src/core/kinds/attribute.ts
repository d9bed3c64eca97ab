import * as z from "zod";
import {
  type Attribute,
  type Attributes,
  domainProblem,
  isObject,
  type Json,
  type Nested,
  type SchemaType,
  sameMoment,
} from "../model/index.ts";

/** Meaning of an attribute, beside its type. Terraform, YAML, the editor's schema and the docs read it. */
export interface AttributeMeta {
  /** One or two sentences, shown in editors and reference pages. */
  readonly description: string;
  /** The description for Terraform, where the one for YAML would mislead. */
  readonly hcl?: string;
  /**
   * What a change of a declared attribute means. Absent: the attribute cannot be declared, the API gives it.
   * `in-place`: requests change it. `replace`: the object is recreated. `immutable`: no call changes it and the object
   * is not recreated automatically. `recorded`: only the state changes.
   */
  readonly change?: "in-place" | "replace" | "immutable" | "recorded";
  /** The API (or a default) gives a value when none is declared. */
  readonly computed?: boolean;
  /** The value when none is declared. */
  readonly default?: Json;
  /** Never shown. */
  readonly sensitive?: boolean;
  /** Approvers decide by it, so a sensitive value is refused; of a URL, in its host (`host`). */
  readonly decisive?: boolean | "host";
  /** Sent, never stored: null in plan and state. */
  readonly writeOnly?: boolean;
  /** The API never returns it: only the state has it. */
  readonly unreadable?: boolean;
  /**
   * Of a one-time secret, which the API returns in one response only: the attribute that holds its fingerprint once
   * `secret_output` has taken it out of the state.
   */
  readonly fingerprint?: string;
  /** A list whose order means nothing. */
  readonly set?: boolean;
  /** Equality of a declared and a live value that may differ in form (case of an e-mail address, an instant). */
  readonly same?: (declared: Json, live: Json) => boolean;
  /**
   * Returns true for a shown value that counts as the sent one: another notation of it that neither costs nor exposes more. Absent: no
   * other value does. `isAnswer`: it is in the answer to the request. Elsewhere somebody may have changed it since.
   */
  readonly ownForm?: (sent: Json, shown: Json, isAnswer: boolean) => boolean;
  /** A live value in a form that can be declared, where its own form is refused. */
  readonly declarable?: (live: Json) => Json | undefined;
  /** Returns true for a live value that cannot be read: nothing is planned on it. */
  readonly unclear?: (live: Json) => boolean;
  /** An example for the reference pages. */
  readonly example?: Json;
}

/** Typed by hand: zod's own type follows the recursive Json type without end. */
const registry: {
  add(type: z.ZodType, meta: AttributeMeta): unknown;
  get(type: z.ZodType): AttributeMeta | undefined;
} = z.registry<object>() as never;

/** A zod type with its metadata: the only way in which attributes of kinds are written. */
export function attribute<T extends z.ZodType>(type: T, meta: AttributeMeta): T {
  registry.add(type, meta);
  return type;
}

/** The metadata of an attribute of a kind. @throws when the attribute was not written with {@link attribute}. */
export function metaOf(type: z.ZodType): AttributeMeta {
  const meta = registry.get(type);
  if (meta === undefined) throw new Error("an attribute without metadata: wrap it in attribute(…)");
  return meta;
}

/** An identifier of the API: a string; an integer in YAML becomes one. */
export const identifier = () =>
  z.pipe(
    z.transform((value: unknown) => (Number.isSafeInteger(value) ? String(value) : value)),
    z.string().min(1),
  );

/** A text that a form can hold: line breaks and tabs are its only control characters. */
const formText = z.string().superRefine((text, context) => {
  const [control] = /(?![\t\n\r])\p{Cc}/u.exec(text) ?? [];
  if (control === undefined) return;
  const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  context.addIssue(`the text holds the control character U+${code}`);
});

/** A free map of texts. Numbers and booleans become texts. A list or a map is refused. */
export const textMap = () =>
  z.pipe(
    z.transform((value: unknown) => texts(value, (part) => part)),
    z.record(z.string(), formText),
  );

/** A free map whose values may be lists and maps: these become JSON text, as Terraform would have them. */
export const freeMap = () =>
  z.pipe(
    z.transform((value: unknown) => texts(value, (part) => JSON.stringify(part))),
    z.record(z.string(), z.string()),
  );

function texts(value: unknown, nested: (part: object) => unknown): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== null && part !== undefined);
  return Object.fromEntries(
    entries.map(([key, part]) => [key, typeof part === "object" ? nested(part as object) : String(part)]),
  );
}

/** Returns true for a {@link textMap}. */
export function isTextMap(type: z.ZodType): boolean {
  const core = coreOf(type);
  return core instanceof z.ZodRecord && core.valueType === formText;
}

/** Returns true for a {@link freeMap} and a {@link textMap}. */
export function isFreeMap(type: z.ZodType): boolean {
  if (type instanceof z.ZodOptional) return isFreeMap(type.unwrap() as z.ZodType);
  return type instanceof z.ZodPipe && type.out instanceof z.ZodRecord;
}

/** Returns true for a text that a free map sends as a list or an object. */
export const isJsonText = (text: string): boolean => typeof structured(text) !== "string";

/** The body form of a {@link freeMap}: JSON text of a list or an object is sent as such, everything else as a string. */
export function freeMapBody(map: Readonly<Record<string, string>>): Record<string, Json> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, structured(value)]));
}

function structured(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Equality of two lists as sets. */
export function sameSet(a: Json, b: Json): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return false;
  const left = new Set(a.map((item) => JSON.stringify(item)));
  const right = new Set(b.map((item) => JSON.stringify(item)));
  return left.size === right.size && [...left].every((item) => right.has(item));
}

/**
 * Terraform's type of an attribute.
 * @param set whether the order of a list means nothing.
 * @throws for a form that Terraform has no type for: no kind may have it.
 */
export function typeOf(type: z.ZodType, set = false): SchemaType | Nested {
  const { def } = coreOf(type);
  switch (def.type) {
    case "string":
    case "enum":
      return "string";
    case "number":
      return "number";
    case "boolean":
      return "bool";
    case "literal":
      return typeof (def as z.core.$ZodLiteralDef<z.core.util.Literal>).values[0] === "number" ? "number" : "string";
    case "array": {
      const element = plain(typeOf((def as z.core.$ZodArrayDef).element as z.ZodType));
      return set ? { set: element } : { list: element };
    }
    case "record":
      return { map: plain(typeOf((def as z.core.$ZodRecordDef).valueType as z.ZodType)) };
    case "object":
      return { nesting: "single", attributes: partsOf((def as z.core.$ZodObjectDef).shape as z.core.$ZodLooseShape) };
    default:
      throw new Error(`the schema for Terraform has no type for zod's "${def.type}"`);
  }
}

function partsOf(shape: z.core.$ZodLooseShape): Attributes {
  return Object.fromEntries(
    Object.entries(shape).map(([name, part]): [string, Attribute] => {
      const type = part as z.ZodType;
      const { description } = type;
      if (description === undefined) throw new Error(`the nested attribute ${name} has no description`);
      return [
        name,
        { type: typeOf(type), description, ...(mayBeOmitted(type) ? { optional: true } : { required: true }) },
      ];
    }),
  );
}

/** Within a list, a set or a map: objects there would need a nested attribute of their own. */
function plain(type: SchemaType | Nested): SchemaType {
  if (typeof type === "object" && "nesting" in type) throw new Error("no kind has objects within a list or a map");
  return type;
}

/** The type that decides the form: of a pipe (which normalizes) its end. */
export function coreOf(type: z.ZodType): z.ZodType {
  const { def } = type;
  if (def.type === "optional") return coreOf((def as z.core.$ZodOptionalDef).innerType as z.ZodType);
  if (def.type === "pipe") return coreOf((def as z.core.$ZodPipeDef).out as z.ZodType);
  return type;
}

/** Returns true if a declaration may leave the attribute out. */
export const mayBeOmitted = (type: z.ZodType) => type.safeParse(undefined).success;

/** The id that the API gives to every object. */
export const idAttribute = (of: string) =>
  attribute(z.string(), { description: `Identifier of the ${of}, given by the API.`, computed: true });

export const createdAtAttribute = () =>
  attribute(z.string(), {
    description: "When it was created (ISO 8601), as the API shows it.",
    computed: true,
    same: sameMoment,
  });

/** Policy for an object without a DELETE endpoint whose block is removed. */
export const deletionPolicy = (...more: readonly "suspend"[]) => {
  const suspend = more.length > 0 ? ", `suspend` suspends it first and then forgets it" : "";
  const meanings = `since the API cannot delete it: \`prevent\` refuses the plan, \`forget\` removes it from the state and leaves it running${suspend}.`;
  return attribute(z.enum(["prevent", "forget", ...more]).optional(), {
    description: `What removing the block does, ${meanings} Kept in the state, so that it still applies when the block is gone.`,
    hcl: `What destroying it does, ${meanings} The policy in the state counts: apply a changed one before you destroy the resource.`,
    change: "recorded",
    computed: true,
    default: "prevent",
    unreadable: true,
  });
};

const LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}\u00b7\u0375\u05f3\u05f4\u30fb-]{0,61}[\p{L}\p{M}\p{N}])`;
const LABELS = String.raw`(?:${LABEL}?[.\u3002\uff0e\uff61])+(?!\d+\.?$)${LABEL}`;
const DOMAIN = new RegExp(`^(?=.{1,254}$)${LABELS}\\.?$`, "u");
const EMAIL = new RegExp(String.raw`^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+.-]*[A-Za-z0-9_+-]@${LABELS}$`, "u");

/** The message holds no part of the value: that may be a secret. */
const notDomain = ({ input }: { readonly input?: unknown }) =>
  `expected a domain name such as www.acme.example, and ${domainProblem(String(input)) ?? "it has a form that no host name has"}`;

/** A domain name: at least two labels, letters of any script. A request carries its A-labels. */
export const domainName = () =>
  z
    .string()
    .regex(DOMAIN, { error: notDomain, abort: true })
    .refine((text) => domainProblem(text) === undefined, { error: notDomain });

/** An e-mail address, whose domain may be in any script. */
export const emailAddress = () =>
  z
    .string()
    .regex(EMAIL, { error: "expected an e-mail address", abort: true })
    .refine((text) => domainProblem(text.slice(text.lastIndexOf("@") + 1)) === undefined, "expected an e-mail address");
