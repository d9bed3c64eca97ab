import type * as z from "zod";
import { coreOf, mayBeOmitted, typeOf } from "../../../core/kinds/attribute.ts";
import type { AttributeEntry, AttributeMeta, Kind } from "../../../core/kinds/index.ts";
import { attributesOf } from "../../../core/lifecycle/index.ts";
import { formatMoney, type Json, type Value } from "../../../core/model/index.ts";
import type { Attribute, Attributes, Schema } from "../../../core/model/schema.ts";
import { inlineValue } from "../export/document.ts";

const cache = new WeakMap<Kind, Schema>();

/** Returns the Terraform schema of a kind: the kind's attributes, then the provider's own settings. Cached. */
export function schemaOf(kind: Kind): Schema {
  const known = cache.get(kind);
  if (known !== undefined) return known;
  const own = Object.fromEntries(
    attributesOf(kind).map((entry): [string, Attribute] => [entry.name, attributeOf(entry)]),
  );
  const schema: Schema = {
    version: kind.schemaVersion,
    description: kind.hcl ?? kind.description,
    attributes: { ...own, ...providerAttributes(kind) },
  };
  cache.set(kind, schema);
  return schema;
}

function attributeOf({ type, meta }: AttributeEntry): Attribute {
  const declared = meta.change !== undefined;
  const required = declared && !mayBeOmitted(type);
  return {
    type: typeOf(type, meta.set === true),
    description: describe(type, meta),
    ...(required && { required }),
    ...(declared && !required && { optional: true }),
    ...(!required && (meta.computed === true || meta.default !== undefined) && { computed: true }),
    ...(meta.sensitive && { sensitive: true }),
    ...(meta.writeOnly && { writeOnly: true }),
  };
}

/** Returns the description: text, choices, default, example, and effect of a change. */
function describe(type: z.ZodType, meta: AttributeMeta): string {
  const text = meta.hcl ?? meta.description;
  const choice = choiceOf(coreOf(type)).filter((word) => !text.includes(`\`${word}\``));
  const sentences = [
    text,
    choice.length > 0 && `One of ${choice.map((word) => `\`${word}\``).join(", ")}.`,
    meta.default !== undefined && `Default: \`${JSON.stringify(meta.default)}\`.`,
    choice.length === 0 && exampleOf(type, meta),
    meta.change === "replace" && "A change recreates the object.",
    meta.change === "immutable" && "A change is refused, unless `replace_on_change` is set.",
  ];
  return sentences.filter((sentence) => typeof sentence === "string").join(" ");
}

function choiceOf(type: z.ZodType): string[] {
  if (type.def.type === "array") return choiceOf(coreOf((type.def as z.core.$ZodArrayDef).element as z.ZodType));
  if (type.def.type === "literal") return (type.def as z.core.$ZodLiteralDef<z.core.util.Literal>).values.map(String);
  if (type.def.type !== "enum") return [];
  return Object.values((type.def as z.core.$ZodEnumDef).entries).map(String);
}

/** Returns the example of a text or a map. Omits examples with references, which the example of the whole resource contains. */
function exampleOf(type: z.ZodType, { example }: AttributeMeta): string | undefined {
  const form = coreOf(type).def.type;
  if (example === undefined || (form !== "string" && form !== "record")) return undefined;
  if (typeof example === "string" && example.includes("${")) return undefined;
  return `Example: \`${inlineValue(example)}\`.`;
}

/** Creates an attribute with an amount as text. */
export const amountText = (of: string, example: string): Attribute => ({
  type: "string",
  description: `\`${of}\` as text, such as \`${example}\`; null without \`money_scale\` in the provider's configuration or \`HOSTING_MONEY_SCALE\`.`,
  computed: true,
});

/** Writes `9.99 USD`; null if the scale of amounts is unknown (§2 Gaps), or without an amount. */
export function moneyText(amount: Value | undefined, currency: Value | undefined, scale: number | undefined): Json {
  if (typeof amount !== "number" || scale === undefined) return null;
  return formatMoney(amount, typeof currency === "string" ? currency : null, scale);
}

/** Attribute with the text of a resource's price. Other amounts have no text, because no attribute contains their currency. */
export const PRICE_TEXT = { price_text: amountText("price", "9.99 USD") };

function providerAttributes(kind: Kind): Attributes {
  return {
    ...(Object.hasOwn(kind.attributes.shape, "price") && PRICE_TEXT),
    timeouts: { type: { nesting: "single", attributes: timeouts(kind) }, description: TIMEOUTS, optional: true },
    ...(kind.removal === "policy" && {
      replace_on_change: { type: "bool", description: replaceOnChange(kind), optional: true },
    }),
  };
}

const TIMEOUTS =
  "Maximum duration of each operation. After that, the provider sends no further request and stops waiting for queued jobs. Each value is a duration such as `90s`, `20m` or `1h30m`. Default: no limit for requests, five minutes for queued jobs, 20 minutes for another process on this machine that creates objects.";

/** Returns the attributes of `timeouts`, one for each operation that sends requests. */
function timeouts(kind: Kind): Attributes {
  const of = (description: string): Attribute => ({ type: "string", description, optional: true });
  return {
    create: of(`Maximum duration of the creation of the ${kind.noun}.`),
    ...(kind.update !== undefined && { update: of(`Maximum duration of a change of the ${kind.noun}.`) }),
    ...((kind.remove !== undefined || kind.suspendSteps !== undefined) && {
      delete: of(
        `Maximum duration of the ${kind.remove === undefined ? "suspension" : "removal"} of the ${kind.noun}.`,
      ),
    }),
  };
}

function replaceOnChange(kind: Kind): string {
  const loss = `\`deletion_policy\`, which must not be \`prevent\`, decides about the old object.`;
  const paid =
    kind.creation === "keyed"
      ? "orders another service, with its own invoice, and needs a new `reference`"
      : `creates another ${kind.noun}`;
  return `True if a change without a call in the API ${paid}; ${loss} Default: \`false\`, which refuses such a change.`;
}
