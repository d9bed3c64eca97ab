import { describe, expect, it } from "vitest";
import { excerpt, maskText, word } from "../../../src/contract/evidence.ts";
import { fc } from "../../support/fc.ts";

describe("what is shown of an answer", () => {
  it("is its form and its words", () => {
    const json = {
      data: [
        {
          id: 1001,
          plan: "Nino's plan",
          status: "Pending Payment",
          domain: "acme.example",
          currency: "USD",
          price: 500,
        },
        { id: 1002 },
      ],
      next: null,
      created_at: "2026-11-21T10:00:00+00:00",
    };
    expect(excerpt(json)).toBe(
      '{"data": [{"id": 9999, "plan": "…", "status": "Pending Payment", "domain": "…", "currency": "USD", "price": 999}, …], "next": null, "created_at": "9999-99-99T99:99:99+99:99"}',
    );
    expect([excerpt([]), excerpt({}), excerpt(null), excerpt(undefined), excerpt(12.5)]).toEqual([
      "[]",
      "{}",
      "null",
      "nothing",
      "99.9",
    ]);
  });

  it.each([
    ["the word of a server", "SUSPENDED_BY_CLIENT", '"SUSPENDED_BY_CLIENT"'],
    ["a name in the place of a word", "www.acme.example", '"…"'],
    ["an e-mail in the place of a word", "nino@acme", '"…"'],
    ["an address in the place of a word", "https://acme/x", '"…"'],
    ["a long text in the place of a word", "a".repeat(41), '"…"'],
    ["an escape sequence", "\u001b[2J", '"…"'],
    ["a UUID", "0190aaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", '"9999aaaa'.replaceAll("a", "9")],
  ])("%s", (_, value, shown) => {
    expect(word(value).startsWith(shown)).toBe(true);
  });

  it("holds nothing about who is hosted, in any place", () => {
    const private_ = fc.constantFrom(
      "nino.beridze@acme.example",
      "www.acme.example",
      "+995 555 123456",
      "Acme LLC",
      "4|s3cr3tt0k3nvalue",
      "10.1.2.3",
    );
    const key = fc.oneof(fc.constantFrom("data", "id", "status", "domain", "plan", "events"), private_);
    const json = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, private_, fc.nat(), fc.boolean(), fc.constant(null), tie("list"), tie("object")),
      list: fc.array(tie("value"), { maxLength: 3 }),
      object: fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    })).value;
    fc.assert(
      fc.property(json, (value) => {
        // "Acme LLC" as a status would be a word like another.
        const shown = excerpt(value).replaceAll(/"(?:status|events)": \[?"Acme LLC"/g, "");
        expect(shown).not.toMatch(/nino|acme\.|555|s3cr3t|10\.1/);
        expect(shown).not.toContain("\n");
      }),
    );
  });

  it("a sentence of the server loses names, addresses and numbers", () => {
    const text =
      "The user nino@acme.example may not see www.acme.example (order 100123) at https://x.example/a?b from 10.1.2.3 or 2001:db8::1.";
    const shown = maskText(text);
    expect(shown).toBe("The user [e-mail] may not see [name] (order 999999) at [address] from [address] or [address].");
    expect(
      maskText("GET /api/v1/services/{id}. The server says: This token lacks the ability technical. Try later."),
    ).toBe("GET /api/v1/services/{id}. The server says: This token lacks the ability technical. Try later.");
  });
});
