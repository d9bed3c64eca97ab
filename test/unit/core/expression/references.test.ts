import { describe, expect, it } from "vitest";
import { parseReferences, referencesIn, resolveReferences } from "../../../../src/core/expression/references.ts";
import { type EvalScope, ExpressionError, UNKNOWN, type Value } from "../../../../src/core/model/index.ts";

const resources: Readonly<Record<string, Value>> = {
  "hosting_service.acme": { id: "1001", price: 500, suspended: false, coupon_code: null, later: UNKNOWN },
  "hosting_webhook.hook": { events: ["invoice.paid", "invoice.created"] },
  'hosting_grant.acme["dev@acme.example"]': { id: "301" },
  "hosting_service.new": UNKNOWN,
};

const scope: EvalScope = {
  resource: (address) => resources[address],
  env: (name) => (name === "TOKEN_NAME" ? "beta" : undefined),
};

const refusal = (text: string): ExpressionError => {
  try {
    resolveReferences(text, scope);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error(`${text} was evaluated`);
};

describe("a template", () => {
  it.each([
    ["plain text", "plain text", "nothing to evaluate"],
    ["${hosting_service.acme.id}", "1001", "one reference"],
    ["${ hosting_service.acme.id }", "1001", "blanks around it"],
    ["${hosting_service.acme.price}", 500, "one reference keeps its type"],
    ["${hosting_service.acme.suspended}", false, "also a boolean"],
    ["${hosting_service.acme.coupon_code}", null, "also null"],
    ["id-${hosting_service.acme.price}", "id-500", "with text around it becomes text"],
    ["${hosting_service.acme.id}${env.TOKEN_NAME}", "1001beta", "two references"],
    ["${hosting_webhook.hook.events}", ["invoice.paid", "invoice.created"], "a whole list"],
    ["${hosting_webhook.hook.events[1]}", "invoice.created", "an item of a list"],
    ['${hosting_grant.acme["dev@acme.example"].id}', "301", "an instance"],
    ["${hosting_service.acme.later}", UNKNOWN, "what is not known yet"],
    ["x-${hosting_service.acme.later}", UNKNOWN, "makes the whole text unknown"],
    ["${hosting_service.new.anything}", UNKNOWN, "an attribute of what is wholly unknown"],
    ["$${env.HOME}", "${env.HOME}", "an escaped one is text"],
    ["a $${b} ${env.TOKEN_NAME}", "a ${b} beta", "escaped and not, side by side"],
    ["$$${env.TOKEN_NAME}", "$${env.TOKEN_NAME}", "the escape is read from the left"],
    ["cost: $5", "cost: $5", "a dollar alone"],
  ])("%s is %j: %s", (text, expected, _why) => {
    expect(resolveReferences(text, scope)).toEqual(expected);
  });

  it.each([
    ["ab${env.X", 2, /not closed/],
    ["ab${}", 2, /not a reference/],
    ["${acme.id}", 0, /is a resource; write an attribute/],
    ["${hosting_service.acme}", 0, /such as hosting_service\.acme\.id/],
    ["ab ${env.NOT_SET}", 3, /NOT_SET is not set/],
    ["${hosting_service.other.id}", 0, /no resource hosting_service\.other/],
    ["${hosting_service.acme.nothing}", 0, /hosting_service\.acme\.nothing does not exist/],
    ["${hosting_webhook.hook.events[9]}", 0, /events\[9\] does not exist/],
    ["abc${hosting_webhook.hook.events}", 3, /a list and cannot be part of a string/],
    ["abc${hosting_service.acme.coupon_code}", 3, /null and cannot be part of a string/],
    ["${1 + 1}", 0, /not a reference/],
    ["${env.a.b}", 0, /not a reference/],
    ['${hosting_webhook.hook.events["\\q"]}', 0, /not a reference/],
    ['${hosting_webhook.hook.events["a\nb"]}', 0, /not a reference/],
  ])("%j fails at %i: %s", (text, offset, message) => {
    const error = refusal(text);
    expect(error.offset).toBe(offset);
    expect(error.message).toMatch(message);
  });

  it("treats a brace inside quotes as text", () => {
    expect(parseReferences('${hosting_grant.acme["}"].id}')).toEqual([
      expect.objectContaining({ address: 'hosting_grant.acme["}"]', path: ["id"], offset: 0 }),
    ]);
  });

  it("is found at any position of a value", () => {
    const found = referencesIn({
      a: "${env.X}",
      b: ["-", { c: "${hosting_service.acme.id}-${env.Y}" }],
      d: "${broken",
    });
    expect(found.map(({ path, reference }) => [path, reference.text])).toEqual([
      [["a"], "env.X"],
      [["b", 1, "c"], "hosting_service.acme.id"],
      [["b", 1, "c"], "env.Y"],
    ]);
  });
});
