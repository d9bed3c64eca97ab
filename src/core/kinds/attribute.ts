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

/** Metadata of an attribute, used by Terraform, YAML, the editor's schema and the docs. */
export interface AttributeMeta {
  /** One or two sentences for editors and reference pages. */
  readonly description: string;
  /** Description for Terraform. Undefined if `description` is also correct there. */
  readonly hcl?: string;
  /**
   * Effect of a change of the declared value. Undefined if only the API sets the attribute. `in-place`: a request changes the
   * value. `replace`: hostform deletes the object and creates another. `immutable`: the API cannot change the value, and
   * hostform never replaces the object. `recorded`: only the state changes.
   */
  readonly change?: "in-place" | "replace" | "immutable" | "recorded";
  /** True if the API or a default may set an undeclared value. */
  readonly computed?: boolean;
  /** Value of an attribute that is not declared. */
  readonly default?: Json;
  /** True if reports must hide the value. */
  readonly sensitive?: boolean;
  /**
   * True if approvers must read the value, so a sensitive value is an error. `host`: they must read only the host of the URL.
   */
  readonly decisive?: boolean | "host";
  /** True if requests contain the value, but plan and state contain null. */
  readonly writeOnly?: boolean;
  /** True if the API never returns the value. Only the state contains it. */
  readonly unreadable?: boolean;
  /**
   * Name of the attribute for the fingerprint of this one-time secret. hostform sets it when `secret_output` removes the
   * secret from the state.
   */
  readonly fingerprint?: string;
  /** True if the order of the list has no meaning. */
  readonly set?: boolean;
  /**
   * Compares a declared and a live value. True if they differ only in format, for example in the case of an e-mail address.
   */
  readonly same?: (declared: Json, live: Json) => boolean;
  /**
   * Returns true if the returned value is the sent value in another format, and the difference affects neither cost nor
   * access. If undefined, no other value is equal. `isAnswer`: true for the response to the request; a later value may be
   * another person's change.
   */
  readonly ownForm?: (sent: Json, shown: Json, isAnswer: boolean) => boolean;
  /** Converts a live value to a format that a declaration accepts. */
  readonly declarable?: (live: Json) => Json | undefined;
  /** Returns true if hostform cannot interpret a live value. hostform then plans no change of it. */
  readonly unclear?: (live: Json) => boolean;
  /** Example for the reference pages. */
  readonly example?: Json;
}

/** Metadata by zod type. This interface replaces zod's own type, which recurses endlessly into Json. */
const registry: {
  add(type: z.ZodType, meta: AttributeMeta): unknown;
  get(type: z.ZodType): AttributeMeta | undefined;
} = z.registry<object>() as never;

/** Adds metadata to a zod type. Every attribute of a kind uses this function. */
export function attribute<T extends z.ZodType>(type: T, meta: AttributeMeta): T {
  registry.add(type, meta);
  return type;
}

/** Returns the metadata of an attribute. @throws Error if the type has none. */
export function metaOf(type: z.ZodType): AttributeMeta {
  const meta = registry.get(type);
  if (meta === undefined) throw new Error("an attribute without metadata: wrap it in attribute(…)");
  return meta;
}

/** Returns the zod type of an API identifier. An integer in YAML becomes a string. */
export const identifier = () =>
  z.pipe(
    z.transform((value: unknown) => (Number.isSafeInteger(value) ? String(value) : value)),
    z.string().min(1),
  );

/** A string without control characters, except line breaks and tabs. */
const formText = z.string().superRefine((text, context) => {
  const [control] = /(?![\t\n\r])\p{Cc}/u.exec(text) ?? [];
  if (control === undefined) return;
  const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  context.addIssue(`the string contains the control character U+${code}`);
});

/** Returns the zod type of a map of strings. Numbers and booleans become strings. A list or a map is an error. */
export const textMap = () =>
  z.pipe(
    z.transform((value: unknown) => texts(value, (part) => part)),
    z.record(z.string(), formText),
  );

/** Returns the zod type of a map whose values may be lists and maps. These become JSON strings, as in Terraform. */
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

/** Returns true for a {@link freeMap} or a {@link textMap}. */
export function isFreeMap(type: z.ZodType): boolean {
  if (type instanceof z.ZodOptional) return isFreeMap(type.unwrap() as z.ZodType);
  return type instanceof z.ZodPipe && type.out instanceof z.ZodRecord;
}

/** Returns true if hostform sends this string of a free map as a list or an object. */
export const isJsonText = (text: string): boolean => typeof structured(text) !== "string";

/** Converts a {@link freeMap} to a request body. JSON strings become lists or objects. Other strings stay strings. */
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

/** Returns true if two lists are equal as sets. */
export function sameSet(a: Json, b: Json): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return false;
  const left = new Set(a.map((item) => JSON.stringify(item)));
  const right = new Set(b.map((item) => JSON.stringify(item)));
  return left.size === right.size && [...left].every((item) => right.has(item));
}

/**
 * Returns the Terraform type of an attribute.
 * @param set True if the order of a list has no meaning.
 * @throws Error for a zod type without a Terraform type. No kind may use such a type.
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

/** Returns the element type of a list, set or map. @throws Error for an object, which needs a nested attribute. */
function plain(type: SchemaType | Nested): SchemaType {
  if (typeof type === "object" && "nesting" in type) throw new Error("no kind has objects within a list or a map");
  return type;
}

/** Returns the zod type without `optional`. For a pipe: its output type. */
export function coreOf(type: z.ZodType): z.ZodType {
  const { def } = type;
  if (def.type === "optional") return coreOf((def as z.core.$ZodOptionalDef).innerType as z.ZodType);
  if (def.type === "pipe") return coreOf((def as z.core.$ZodPipeDef).out as z.ZodType);
  return type;
}

/** Returns true if a declaration may omit the attribute. */
export const mayBeOmitted = (type: z.ZodType) => type.safeParse(undefined).success;

/** Returns the attribute for the id of an object. */
export const idAttribute = (of: string) =>
  attribute(z.string(), { description: `Identifier of the ${of}, given by the API.`, computed: true });

export const createdAtAttribute = () =>
  attribute(z.string(), {
    description: "Creation time (ISO 8601), as the API returns it.",
    computed: true,
    same: sameMoment,
  });

/** Returns the attribute `deletion_policy`, for kinds without a DELETE endpoint. */
export const deletionPolicy = (...more: readonly "suspend"[]) => {
  const suspend = more.length > 0 ? ", `suspend` suspends the object and then removes it from the state" : "";
  const meanings = `because the API cannot delete the object: \`prevent\` stops the plan with an error, \`forget\` removes the object from the state and leaves it running${suspend}.`;
  return attribute(z.enum(["prevent", "forget", ...more]).optional(), {
    description: `Effect of removing the block, ${meanings} The policy is in the state, so it still applies after the block is removed.`,
    hcl: `Effect of a destroy, ${meanings} The policy in the state applies: apply a changed policy before you destroy the resource.`,
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

/** Returns the error message. It contains no part of the value, which may be a secret. */
const notDomain = ({ input }: { readonly input?: unknown }) =>
  `expected a domain name such as www.acme.example, and ${domainProblem(String(input)) ?? "this value is not a valid host name"}`;

/** Returns the zod type of a domain name: at least two labels, in any script. Requests contain A-labels. */
export const domainName = () =>
  z
    .string()
    .regex(DOMAIN, { error: notDomain, abort: true })
    .refine((text) => domainProblem(text) === undefined, { error: notDomain });

/** Returns the zod type of an e-mail address. Its domain may be in any script. */
export const emailAddress = () =>
  z
    .string()
    .regex(EMAIL, { error: "expected an e-mail address", abort: true })
    .refine((text) => domainProblem(text.slice(text.lastIndexOf("@") + 1)) === undefined, "expected an e-mail address");
