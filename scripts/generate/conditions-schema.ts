import { CONDITION_NAMES, codes } from "../../src/core/model/index.ts";

const text = { type: "string" } as const;
const optionalText = { type: ["string", "null"] } as const;

const invoice = {
  type: "object",
  required: ["id", "number", "currency", "total", "status", "due_date"],
  properties: {
    id: optionalText,
    number: optionalText,
    currency: optionalText,
    total: { type: ["number", "null"] },
    status: optionalText,
    due_date: optionalText,
    paid: { type: "boolean" },
  },
} as const;

/** The JSON Schema of `hostform.conditions` in the output of `plan --json`. */
export function conditionsSchema(): string {
  const names = CONDITION_NAMES.map((name) => ({ const: name, description: codes[`condition.${name}`] }));
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "hostform.conditions",
    description:
      "What needs attention in the account and no change of the plan ends. A later version can add names and fields.",
    type: "array",
    items: {
      type: "object",
      required: ["address", "condition", "summary", "detail"],
      properties: {
        address: { ...text, description: "Address of the resource." },
        condition: { description: "Name of the condition, as --fail-on takes it.", oneOf: names },
        summary: { ...text, description: "One sentence without a full stop." },
        detail: { ...text, description: "The evidence. Can be empty." },
        fix: { ...text, description: "What can be done about it." },
        domain: { ...text, description: "Domain of the object." },
        since: { ...text, format: "date-time", description: "When an apply saw it first." },
        invoice: {
          ...invoice,
          description: "The unpaid invoice that the condition is about. Amounts are in the API's own unit.",
        },
        others: { type: "array", items: invoice, description: "Further unpaid invoices of the object." },
      },
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
