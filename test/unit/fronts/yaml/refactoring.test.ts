import { describe, expect, it } from "vitest";
import { literal } from "../../../../src/fronts/yaml/index.ts";
import { declare, declareFiles, reported } from "./fakes.ts";

const BOSS = 'hosting_grant.new["boss@acme.example"]';
const SERVICES = "services:\n  new: {term: 1, grants: {boss@acme.example: view}}\n  kept: {term: 1, import: 5}\n";
const read = (text: string) => declare(`${SERVICES}${text}`);
const blocks = (text: string) => {
  const { desired, diagnostics } = read(text);
  expect(reported(diagnostics)).toEqual([]);
  const plain = (list: readonly object[] = []) => list.map((block) => ({ ...block, range: undefined }));
  return { moved: plain(desired?.moved), removed: plain(desired?.removed) };
};

describe("moved", () => {
  it("moves the grants of a service, unless they have their own move", () => {
    const service = { from: "hosting_service.old", to: "hosting_service.new" };
    expect(blocks("moved:\n  - {from: hosting_service.old, to: hosting_service.new}\n").moved).toEqual([
      service,
      { from: "hosting_grant.old", to: "hosting_grant.new" },
    ]);
    const grants = { from: "hosting_grant.old", to: "hosting_grant.kept" };
    const own = "\n  - {from: hosting_grant.old, to: hosting_grant.kept}\n";
    const more = `${own}removed: [{from: hosting_grant.kept, destroy: false}]\n`;
    expect(blocks(`moved:\n  - {from: hosting_service.old, to: hosting_service.new}${more}`).moved).toEqual([
      service,
      grants,
    ]);
  });

  it("leads to a declared resource, or to a resource that moved or was removed later", () => {
    const chain = "moved:\n  - {from: hosting_webhook.a, to: hosting_webhook.b}\n";
    expect(blocks(`${chain}removed: [{from: hosting_webhook.b, destroy: false}]\n`).moved).toHaveLength(1);
    expect(reported(read(`${chain}  - {from: hosting_webhook.b, to: hosting_webhook.c}\n`).diagnostics)).toEqual([
      "7:35 config.reference: No resource hosting_webhook.c is declared.",
    ]);
  });

  it("is read from all files of the project, with its position", () => {
    const { desired } = declareFiles({
      "hosting.yaml": `project: p\n${SERVICES}`,
      "moved.hosting.yaml": "moved:\n  - from: hosting_service.old\n    to: hosting_service.new\n",
    });
    expect(desired?.moved?.[0]?.range).toMatchObject({ file: "moved.hosting.yaml", line: 2, column: 5 });
  });
});

describe("removed", () => {
  it("keeps the grants with their service, unless a block says otherwise", () => {
    expect(blocks("removed: [{from: hosting_service.old, destroy: false}]\n").removed).toEqual([
      { from: "hosting_service.old", destroy: false },
      { from: "hosting_grant.old", destroy: false },
    ]);
    const both = "[{from: hosting_service.old, destroy: false}, {from: hosting_grant.old, destroy: true}]";
    expect(blocks(`removed: ${both}\n`).removed).toEqual([
      { from: "hosting_service.old", destroy: false },
      { from: "hosting_grant.old", destroy: true },
    ]);
  });
});

describe("import", () => {
  it("equals `import` in a block", () => {
    const { desired, diagnostics } = read(
      `import:\n  - {to: hosting_service.new, id: 7}\n  - {to: '${BOSS}', id: "8"}\n`,
    );
    expect(reported(diagnostics)).toEqual([]);
    expect(desired?.resources.map(({ address, importId }) => [address, importId])).toEqual([
      ["hosting_service.new", "7"],
      [BOSS, "8"],
      ["hosting_service.kept", "5"],
    ]);
  });
});

describe("an id with characters of an expression", () => {
  it("is escaped as a literal string, as adopt does", () => {
    const { desired, diagnostics } = read(`import: [{to: hosting_service.new, id: '${literal("a${b}")}'}]\n`);
    expect(reported(diagnostics)).toEqual([]);
    expect(desired?.resources.find(({ address }) => address === "hosting_service.new")?.importId).toBe("a${b}");
  });

  it.each(["a${b", "${env.ID}", "${hosting_service.kept.id}"])("is rejected as an expression: %s", (id) => {
    const said = reported(read(`import: [{to: hosting_service.new, id: '${id}'}]\n`).diagnostics);
    expect(said).toContainEqual(expect.stringContaining("`import` must be an id"));
  });
});

// Columns count from 1. Lines 1 to 4 contain `project: p` and the services.
it.each([
  ["moved: {a: b}", "5:8 config.structure: `moved` must be a list"],
  ["moved: [a]", "5:9 config.structure: An item of `moved` must be a map"],
  ["moved: [{from: hosting_service.a}]", "5:9 config.missing_attribute: `moved` requires `to`"],
  [
    "moved: [{from: hosting_service.a, to: hosting_service.nwe}]",
    '5:39 config.reference: No resource hosting_service.nwe is declared. Did you mean "hosting_service.new"?',
  ],
  [
    "moved: [{from: hosting_servce.a, to: hosting_service.new}]",
    '5:16 config.reference: This is not the address of a resource. Did you mean "hosting_service"?',
  ],
  [
    "moved: [{from: '${hosting_service.a}', to: hosting_service.new}]",
    "5:16 config.reference: This is not the address of a resource.",
  ],
  [
    "moved: [{from: 'hosting_grant.a[\"b@acme.example\"]', to: hosting_grant.new}]",
    "5:57 config.reference: hosting_grant.new has several instances. Use the address of one instance.",
  ],
  ["moved: [{form: hosting_service.a, to: hosting_service.new}]", '5:10 config.unknown_key: `moved` has no "form".'],
  ["removed: [{from: hosting_service.a}]", "5:11 config.missing_attribute: `removed` requires `destroy`"],
  ["removed: [{from: hosting_service.a, destroy: no}]", "5:46 config.structure: `destroy` must be true or false"],
  [
    "removed: [{from: hosting_service.a, destroy: true}, {from: hosting_service.a, destroy: false}]",
    "5:11 config.duplicate: The removal of hosting_service.a is declared twice",
  ],
  ["import: [{to: hosting_service.new}]", "5:10 config.missing_attribute: `import` requires `id`"],
  ["import: [{to: hosting_service.new, id: true}]", "5:40 config.structure: `import` must be an id"],
  ["import: [{to: hosting_service.kept, id: 5}]", "5:10 config.duplicate: hosting_service.kept is imported twice"],
  ["import: [{to: hosting_webhook.a, id: 5}]", "5:15 config.reference: No resource hosting_webhook.a is declared."],
])("rejects %s at its position", (text, said) => {
  expect(reported(read(`${text}\n`).diagnostics)).toContainEqual(expect.stringContaining(said));
});
