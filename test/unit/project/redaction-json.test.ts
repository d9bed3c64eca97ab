/** What programs read of a document in JSON is what hostform means, whatever words are secrets somewhere. */
import { expect, it } from "vitest";
import { Redaction } from "../../../src/project/redaction.ts";
import fc from "../../support/fc.ts";
import { project, type Ran } from "../cli/harness.ts";

const HOOK = { url: "https://HOOKS.ACME.EXAMPLE/B", events: ["invoice.paid"] };

/** Every key, and every text that is one lower-case word. */
function wordsOf(value: unknown): string[] {
  if (typeof value === "string") return /^[@a-z][a-z_.-]+$/.test(value) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [...(Array.isArray(value) ? [] : [key]), ...wordsOf(item)]);
}

const linesOf = ({ stdout }: Ran) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

it("keys, actions, types, codes and counts are the same with every word of them a secret", async () => {
  const { run, write } = await project(JSON.stringify({ project: "test", webhooks: { A: HOOK } }));
  const plan = (await run(["plan", "--json"])).json();
  const applied = linesOf(await run(["apply", "--auto-approve", "--json"]));
  await write(
    "hosting.yaml",
    JSON.stringify({ project: "test", webhooks: { A: { ...HOOK, url: "http://X" } }, grants: 1 }),
  );
  const refused = (await run(["validate", "--json"])).json();
  await write("hosting.yaml", JSON.stringify({ project: "test" }));
  const removing = (await run(["plan", "--json", "--allow-removals"])).json();
  const documents = [plan, applied, refused, removing];
  // What people chose, or the API, may be a secret.
  const names = new Set([
    "webhooks",
    "grants",
    "project",
    "test",
    "invoice.paid",
    "hosting.yaml",
    "hosting_webhook.A",
    "hooks.acme.example",
  ]);
  const words = [...new Set(documents.flatMap(wordsOf))].filter((word) => word.length >= 6 && !names.has(word));
  const redaction = new Redaction();
  redaction.learn(...words);
  const lost = documents.flatMap((document) => {
    const left = new Set(wordsOf(redaction.redactValue(document)));
    return wordsOf(document).filter((word) => words.includes(word) && !left.has(word));
  });
  expect([...new Set(lost)], "words that src/report/json-words.ts does not have").toEqual([]);
  expect(words.length).toBeGreaterThan(60);
});

it("any document keeps its form: what is hidden are texts, and numbers that no count is", () => {
  const shape = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shape);
    if (typeof value === "object" && value !== null) return Object.values(value).map(shape);
    return typeof value === "string" ? "text" : value;
  };
  const secrets = fc.array(fc.oneof(fc.stringMatching(/^[a-z0-9]{6,12}$/), fc.stringMatching(/^\d{6,7}$/)), {
    minLength: 1,
  });
  fc.assert(
    fc.property(secrets, fc.jsonValue(), fc.nat(9_999_999), (known, value, count) => {
      const redaction = new Redaction();
      redaction.learn(...known);
      const document = { actions: ["create", "delete"], type: "hosting_service", count, value, held: known };
      const hidden = redaction.redactValue(document) as typeof document;
      expect(hidden).toMatchObject({ actions: ["create", "delete"], type: "hosting_service", count });
      expect(shape(hidden)).toEqual(shape(document));
      for (const secret of known) expect(JSON.stringify(hidden.held)).not.toContain(secret);
    }),
  );
  const redaction = new Redaction();
  redaction.learn("1234567890");
  expect(redaction.redactValue({ pin: 1234567890 })).toEqual({ pin: "(secret)" });
});
