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

/** Meaning of an attribute in addition to its type. Used by Terraform, YAML, the editor schema and the docs. */
export interface AttributeMeta {
  /** One or two sentences for editors and reference pages. */
  readonly description: string;
  /** Description for Terraform, if the YAML description would mislead. */
  readonly hcl?: string;
  /**
   * Effect of changing the attribute. Undefined if the API sets it, so it cannot be declared. `in-place`: requests change it.
   * `replace`: the object is recreated. `immutable`: no request changes it, and the object is not recreated automatically.
   * `recorded`: only the state changes.
   */
  readonly change?: "in-place" | "replace" | "immutable" | "recorded";
  /** True if the API or a default supplies a value when none is declared. */
  readonly computed?: boolean;
  /** Value if none is declared. */
  readonly default?: Json;
  /** True if reports must hide the value. */
  readonly sensitive?: boolean;
  /**
   * True if approvers must see the value. Sensitive values are then rejected. `host`: only the host of the URL must be visible.
   */
  readonly decisive?: boolean | "host";
  /** True if the value is sent but never stored. It is null in plan and state. */
  readonly writeOnly?: boolean;
  /** True if the API never returns the value. Only the state contains it. */
  readonly unreadable?: boolean;
  /**
   * For a one-time secret, which only one response contains: the attribute with its fingerprint after `secret_output` removed
   * it from the state.
   */
  readonly fingerprint?: string;
  /** True if the order of the list has no meaning. */
  readonly set?: boolean;
  /** Returns true if a declared and a live value are equal in different notation (case of an e-mail address, a time). */
  readonly same?: (declared: Json, live: Json) => boolean;
  /**
   * Returns true if a shown value is a normalized value that counts as the sent one. It must not cost or expose more. Undefined
   * if no other value counts. `isAnswer`: true for the response to the request. Elsewhere, somebody may have changed the value.
   */
  readonly ownForm?: (sent: Json, shown: Json, isAnswer: boolean) => boolean;
  /** Returns a live value in declarable format, if the live format is rejected. */
  readonly declarable?: (live: Json) => Json | undefined;
  /** Returns true if a live value is unreadable. hostform then plans no change for it. */
  readonly unclear?: (live: Json) => boolean;
  /** Example for the reference pages. */
  readonly example?: Json;
}

/** Typed manually, because zod's own type recurses endlessly on the Json type. */
const registry: {
  add(type: z.ZodType, meta: AttributeMeta): unknown;
  get(type: z.ZodType): AttributeMeta | undefined;
} = z.registry<object>() as never;

/** Attaches metadata to a zod type. All attributes of kinds must use this function. */
export function attribute<T extends z.ZodType>(type: T, meta: AttributeMeta): T {
  registry.add(type, meta);
  return type;
}

/** Returns the metadata of a kind's attribute. @throws Error if the attribute was not created with {@link attribute}. */
export function metaOf(type: z.ZodType): AttributeMeta {
  const meta = registry.get(type);
  if (meta === undefined) throw new Error("an attribute without metadata: wrap it in attribute(…)");
  return meta;
}

/** Returns the type of an API identifier: a string. A YAML integer becomes a string. */
export const identifier = () =>
  z.pipe(
    z.transform((value: unknown) => (Number.isSafeInteger(value) ? String(value) : value)),
    z.string().min(1),
  );

/** String without control characters except line breaks and tabs, as in an HTML form. */
const formText = z.string().superRefine((text, context) => {
  const [control] = /(?![\t\n\r])\p{Cc}/u.exec(text) ?? [];
  if (control === undefined) return;
  const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  context.addIssue(`the text holds the control character U+${code}`);
});

/** Returns the type of a free map of strings. Numbers and booleans become strings. Lists and maps are rejected. */
export const textMap = () =>
  z.pipe(
    z.transform((value: unknown) => texts(value, (part) => part)),
    z.record(z.string(), formText),
  );

/** Returns the type of a free map whose values may be lists and maps. These become JSON strings, as in Terraform. */
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

/** Returns true if a free map sends the string as a list or object. */
export const isJsonText = (text: string): boolean => typeof structured(text) !== "string";

/**
 * Returns the request body of a {@link freeMap}. JSON strings of lists and objects are sent as such, other values as strings.
 */
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

/** Compares two lists as sets. */
export function sameSet(a: Json, b: Json): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return false;
  const left = new Set(a.map((item) => JSON.stringify(item)));
  const right = new Set(b.map((item) => JSON.stringify(item)));
  return left.size === right.size && [...left].every((item) => right.has(item));
}

/**
 * Returns the Terraform type of an attribute.
 * @param set True if the order of a list has no meaning.
 * @throws Error if Terraform has no matching type. No kind may have such an attribute.
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

/** Returns the element type of a list, set or map. Objects would need a nested attribute. */
function plain(type: SchemaType | Nested): SchemaType {
  if (typeof type === "object" && "nesting" in type) throw new Error("no kind has objects within a list or a map");
  return type;
}

/** Returns the inner type that decides the format. For a normalizing pipe: its output. */
export function coreOf(type: z.ZodType): z.ZodType {
  const { def } = type;
  if (def.type === "optional") return coreOf((def as z.core.$ZodOptionalDef).innerType as z.ZodType);
  if (def.type === "pipe") return coreOf((def as z.core.$ZodPipeDef).out as z.ZodType);
  return type;
}

/** Returns true if a declaration may omit the attribute. */
export const mayBeOmitted = (type: z.ZodType) => type.safeParse(undefined).success;

/** Returns the attribute with the API's id of an object. */
export const idAttribute = (of: string) =>
  attribute(z.string(), { description: `Identifier of the ${of}, given by the API.`, computed: true });

export const createdAtAttribute = () =>
  attribute(z.string(), {
    description: "When it was created (ISO 8601), as the API shows it.",
    computed: true,
    same: sameMoment,
  });

/** Returns the deletion policy attribute for objects without a DELETE endpoint. */
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

/** The message contains no part of the value, because the value may be a secret. */
const notDomain = ({ input }: { readonly input?: unknown }) =>
  `expected a domain name such as www.acme.example, and ${domainProblem(String(input)) ?? "it has a form that no host name has"}`;

/** Returns the type of a domain name: at least two labels, letters of any script. Requests contain its A-labels. */
export const domainName = () =>
  z
    .string()
    .regex(DOMAIN, { error: notDomain, abort: true })
    .refine((text) => domainProblem(text) === undefined, { error: notDomain });

/** Returns the type of an e-mail address. The domain may use any script. */
export const emailAddress = () =>
  z
    .string()
    .regex(EMAIL, { error: "expected an e-mail address", abort: true })
    .refine((text) => domainProblem(text.slice(text.lastIndexOf("@") + 1)) === undefined, "expected an e-mail address");
