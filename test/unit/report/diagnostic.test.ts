import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../../src/core/model/index.ts";
import { snippetLines } from "../../../src/report/diagnostics.ts";
import { diagnosticJson, renderDiagnostics } from "../../../src/report/index.ts";
import { paint, widthOf } from "../../../src/report/text-style.ts";
import fc from "../../support/fc.ts";
import { fixOf } from "../../support/remedies.ts";
import { at, diagnostic, plain } from "./builders.ts";

const golden = (name: string) => `../../golden/report/${name}.txt`;

const located = diagnostic({
  detail:
    "term is 5. The API sells services for 1, 3, 6, 12, 24 or 36 months, and each term has a prepay discount of its own.",
  remedies: ["Give one of 1, 3, 6, 12, 24, 36."],
  address: "hosting_service.acme",
  attribute: ["term"],
  range: at("    term: 5", "5"),
});

const warning = (address: string): Diagnostic => ({
  severity: "warning",
  code: "plan.unread",
  summary: "The grants could not be read",
  detail: "The token may not see who else has access.",
  address,
});

const cases: readonly { name: string; why: string; diagnostics: readonly Diagnostic[]; width?: number }[] = [
  { name: "diagnostic-located", why: "place, caret, wrapped prose, fix", diagnostics: [located], width: 72 },
  {
    name: "diagnostic-bare",
    why: "without a place there is none to show; without a width nothing is wrapped",
    diagnostics: [
      diagnostic({
        code: "api.unreachable",
        summary: "The API at https://api.example could not be reached",
        detail: `connect ECONNREFUSED 127.0.0.1:9. ${"Long sentences stay on one line when piped. ".repeat(3)}`.trim(),
      }),
    ],
  },
  {
    name: "diagnostic-many",
    why: "equal warnings are shown once, before the errors; the count is at the end",
    diagnostics: [
      located,
      ...["a", "b", "c", "d", "e", "f", "g"].map((name) => warning(`hosting_service.${name}`)),
      diagnostic({
        code: "config.unknown_key",
        summary: "`plan` is not known here",
        range: at("    plan: 101", "plan", 9),
      }),
      diagnostic({ summary: "no place", address: "hosting_domain.x", attribute: ["registrant_contact", "email"] }),
    ],
    width: 80,
  },
];

describe("renderDiagnostics", () => {
  it.each(cases)("$name: $why", async ({ name, diagnostics, width }) => {
    const text = renderDiagnostics(diagnostics, {
      remedies: fixOf,
      color: false,
      ...(width !== undefined && { width }),
    });
    await expect(text).toMatchFileSnapshot(golden(name));
  });

  it("shows the same mistake of eighty resources once, with their number and the first three places", () => {
    const eighty = Array.from({ length: 80 }, (_, at) => ({ ...located, address: `hosting_service.s${at}` }));
    const shown = renderDiagnostics(eighty, plain);
    expect(shown.match(/^Error: .*\(80 times\)$/gm)).toHaveLength(1);
    expect(shown.match(/hosting_service\.s\d+/g)).toEqual([
      "hosting_service.s0",
      "hosting_service.s1",
      "hosting_service.s2",
    ]);
    expect(shown).toContain("and in 77 more places");
    expect(shown).toContain("80 errors.");
  });

  it("shows what is alike but for the resource once: its address, its id, the path of its request", () => {
    const prevented = (at: number): Diagnostic => ({
      ...diagnostic({
        code: "plan.prevented",
        summary: `hosting_service.s${at} (service ${1000 + at}) cannot be removed`,
      }),
      detail: `POST /api/v1/services/${1000 + at}/grants. The server says: no.`,
      remedies: [`Put hosting_service.s${at} back.`],
      address: `hosting_service.s${at}`,
      object: String(1000 + at),
    });
    const show = (many: number) =>
      renderDiagnostics(
        Array.from({ length: many }, (_, at) => prevented(at)),
        plain,
      );
    expect(show(80)).toMatch(
      /^Error: hosting_service\.s0 \(service 1000\) cannot be removed \[plan\.prevented\] \(and 79 like it\)\n {2}in hosting_service\.s0\n/,
    );
    expect(show(80)).toContain("Fix: Put hosting_service.s0 back. Likewise for the others.");
    expect(show(80).match(/^Error:/gm)).toHaveLength(1);
    // With three diagnostics, each prints its own fix.
    expect(show(3).match(/^Fix: Put hosting_service\.s\d back\.$/gm)).toHaveLength(3);
    const other = { ...prevented(80), detail: "The server says: never." };
    expect(renderDiagnostics([...Array.from({ length: 8 }, (_, at) => prevented(at)), other], plain)).toContain(
      "The server says: never.",
    );
  });

  it("keeps several mistakes in one resource apart, each with its fix", () => {
    const fields = ["phone", "city", "country", "last_name", "postcode"];
    const mistakes = fields.map((name) =>
      diagnostic({ summary: `The contact.${name} field is required`, address: "hosting_domain.acme" }),
    );
    const text = renderDiagnostics(mistakes, { color: false, remedies: fixOf });
    for (const name of fields) expect(text).toContain(`The contact.${name} field is required`);
    expect(text).not.toContain("like it");
  });

  it("shows the same of many sites once, whatever their domains", () => {
    const found = ["a", "b", "c", "d", "e"].map((name, at) =>
      diagnostic({
        code: "plan.exists",
        summary: `hosting_service.${name} already exists as service 100${at} (www.${name}.example)`,
        address: `hosting_service.${name}`,
        object: `100${at}`,
        remedies: [{ do: "import", id: `100${at}` }],
      }),
    );
    const text = renderDiagnostics(found, { color: false, remedies: fixOf });
    expect(text).toMatch(/^Error: hosting_service\.a already exists .* \(and 4 like it\)$/m);
    expect(text.match(/^Error:/gm)).toHaveLength(1);
    expect(text).toContain("Likewise for the others.");
  });

  it("counts what another one caused under its cause, over any number of steps, and not in the sum", () => {
    const missing = diagnostic({ code: "state.missing", summary: "No state", remedies: ["Put it here."] });
    const sites = Array.from({ length: 5 }, (_, at) => `hosting_service.s${at}`);
    const exists = sites.map((address) =>
      diagnostic({ code: "plan.exists", summary: `${address} exists`, address, because: "state.missing" }),
    );
    const skipped = sites.map((because, at) =>
      diagnostic({
        severity: "warning",
        code: "apply.skipped",
        summary: "Skipped",
        address: `hosting_grant.s${at}["a@x"]`,
        because,
      }),
    );
    expect(renderDiagnostics([...skipped, ...exists, missing], { color: false, remedies: fixOf })).toBe(
      [
        "Error: No state [state.missing]",
        "",
        'This causes 5 skipped changes [apply.skipped]: hosting_grant.s0["a@x"], hosting_grant.s1["a@x"], hosting_grant.s2["a@x"] and 2 more.',
        "This causes 5 errors [plan.exists]: hosting_service.s0, hosting_service.s1, hosting_service.s2 and 2 more.",
        "",
        "Fix: Put it here.",
        "",
      ].join("\n"),
    );
  });

  it("shows each of a circle of causes, and what names a cause that is not there", () => {
    const [a, b] = ["hosting_service.a", "hosting_service.b"];
    const circle = [
      diagnostic({ summary: "first", address: a, because: b }),
      diagnostic({ summary: "second", address: b, because: a }),
      diagnostic({ summary: "third", because: "hosting_service.gone" }),
    ];
    const text = renderDiagnostics(circle, { color: false, remedies: fixOf });
    expect(text).toContain("third");
    expect(text).toMatch(/first|second/);
  });
});

describe("snippetLines", () => {
  const draw = (text: string, marked: string, width?: number) =>
    snippetLines(at(text, marked), { color: false, ...(width !== undefined && { width }) }, paint(false));

  it("puts the caret under the marked part after tabs, which are expanded", () => {
    expect(draw("\tterm:\t5", "5")).toEqual(["  12 |     term:   5", "     |             ^"]);
  });

  it("measures wide characters, in front of the caret and under it", () => {
    expect(draw("  name: 日本 x", "x")).toEqual(["  12 |   name: 日本 x", "     |              ^"]);
    expect(draw("  名前: 1", "名前")).toEqual(["  12 |   名前: 1", "     |   ^^^^"]);
  });

  it("cuts a long line so that the marked part stays in view", () => {
    const [source = "", caret = ""] = draw(`${"a: 1, ".repeat(40)}HERE${", b: 2".repeat(40)}`, "HERE", 60);
    expect(source.length).toBeLessThanOrEqual(60);
    expect(source.slice(caret.indexOf("^"))).toMatch(/^HERE/);
    expect(source).toMatch(/\| ….*….?$/);
  });

  it("underlines to the end of the line when the range goes on, and one column when it is empty", () => {
    const range = { ...at("  a: [1,", "[1,"), endLine: 14, endColumn: 2 };
    expect(snippetLines(range, { color: false }, paint(false))[1]).toBe("     |      ^^^");
    expect(snippetLines({ ...range, endLine: 12, endColumn: range.column }, { color: false }, paint(false))[1]).toBe(
      "     |      ^",
    );
  });

  it("fits the width and keeps a caret, whatever the line and the columns", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 120 }),
        fc.nat(200),
        fc.nat(200),
        fc.integer({ min: 30, max: 90 }),
        (text, column, length, width) => {
          const range = { file: "f", line: 3, column: column + 1, endLine: 3, endColumn: column + 1 + length, text };
          const [source = "", caret = ""] = snippetLines(range, { color: false, width }, paint(false));
          expect(widthOf(source)).toBeLessThanOrEqual(width);
          expect(widthOf(caret)).toBeLessThanOrEqual(width + 1);
          expect(caret).toContain("^");
        },
      ),
    );
  });
});

describe("diagnosticJson", () => {
  it("has Terraform's fields, with place and snippet, and ours", () => {
    expect(diagnosticJson(located, fixOf)).toEqual({
      severity: "error",
      code: "config.invalid_value",
      summary: "term is not one of the allowed terms",
      detail: located.detail,
      fix: fixOf(located),
      address: "hosting_service.acme",
      attribute: "term",
      range: { filename: "hosting.yaml", start: { line: 12, column: 11 }, end: { line: 12, column: 12 } },
      snippet: {
        context: null,
        code: "    term: 5",
        start_line: 12,
        highlight_start_offset: 10,
        highlight_end_offset: 11,
        values: [],
      },
    });
  });

  it("leaves out what is not known, except detail, which readers of Terraform's expect", () => {
    expect(diagnosticJson(diagnostic({ attribute: [] }), fixOf)).toEqual({
      severity: "error",
      code: "config.invalid_value",
      summary: "term is not one of the allowed terms",
      detail: "",
    });
  });
});
