import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Figure, type Row, reaches, selectRows } from "../../../scripts/bench/row.ts";
import { ROWS } from "../../../scripts/bench/rows/index.ts";
import {
  formatAmount,
  formatTable,
  generatedPart,
  type Measured,
  parseTable,
  withGenerated,
  worseThan,
} from "../../../scripts/bench/table.ts";

const row = (name: string, quick = false): Row => ({
  name,
  about: name,
  ...(quick && { quick: true }),
  measure: () => Promise.resolve([]),
});
const names = (rows: readonly Row[]) => rows.map(({ name }) => name);

const cpu = (value: number, ratio: number, to = "calibration"): Figure => ({
  what: "processor time",
  value,
  unit: "s",
  ratio: { value: ratio, to },
});
const requests = (value: number): Figure => ({ what: "requests", value, unit: "requests" });
const plan = (...figures: readonly Figure[]): Measured => ({ name: "plan", about: "`plan` of 10,000", figures });
/** What the last table says of these figures. */
const lastOf = (...figures: readonly Figure[]) => parseTable(formatTable([plan(...figures)]));

describe("the rows to run", () => {
  const rows = [row("version", true), row("plan-10000", true), row("plan-slope"), row("planned")];

  it("are all without a name, those of a name, and those that begin with it", () => {
    expect(names(selectRows(rows, [], false))).toEqual(["version", "plan-10000", "plan-slope", "planned"]);
    expect(names(selectRows(rows, ["planned", "version"], false))).toEqual(["version", "planned"]);
    expect(names(selectRows(rows, ["plan"], false))).toEqual(["plan-10000", "plan-slope"]);
  });

  it("are the quick ones of these with --quick", () => {
    expect(names(selectRows(rows, [], true))).toEqual(["version", "plan-10000"]);
    expect(names(selectRows(rows, ["plan"], true))).toEqual(["plan-10000"]);
  });

  it("are refused with the names that there are when one is unknown", () => {
    expect(() => selectRows(rows, ["plan", "pln"], false)).toThrow(
      'The bench has no row "pln". Rows: version, plan-10000, plan-slope, planned.',
    );
  });

  it("have names of their own, and goals above nothing", () => {
    expect(new Set(names(ROWS)).size).toBe(ROWS.length);
    for (const { goals = {} } of ROWS) for (const { most } of Object.values(goals)) expect(most).toBeGreaterThan(0);
  });
});

describe("a goal", () => {
  it.each<[string, Figure, Parameters<typeof reaches>[1], boolean]>([
    ["in × is one of the ratio", cpu(9, 1.5), { most: 1.5, unit: "×" }, true],
    ["in × is missed by the ratio", cpu(0.1, 1.51), { most: 1.5, unit: "×" }, false],
    ["in seconds is one of the value", cpu(1.6, 1), { most: 1.5, unit: "s" }, false],
    [
      "in × of a figure without one is one of the value",
      { what: "a", value: 1.2, unit: "×" },
      { most: 1.1, unit: "×" },
      false,
    ],
  ])("%s", (_, figure, goal, expected) => {
    expect(reaches(figure, goal)).toBe(expected);
  });
});

describe("the table", () => {
  const rows: readonly Measured[] = [
    {
      name: "plan",
      about: "`plan` of 10,000",
      goals: { "processor time": { most: 1.5, unit: "s" } },
      figures: [cpu(1.4249, 3.1, "`node -e 0`"), { ...requests(1_003), note: "all GET" }],
    },
    { name: "ours", about: "with Terraform", skipped: "terraform is not on the PATH" },
  ];

  it("has a line for each figure, and says what was skipped", () => {
    expect(formatTable(rows)).toBe(
      [
        "| row | what | measured | ratio | goal |  | remark |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| `plan`: `plan` of 10,000 | processor time | 1.42 s | 3.1 × `node -e 0` | 1.5 s | ok |  |",
        "| `plan` | requests | 1,003 requests |  |  |  | all GET |",
        "| `ours`: with Terraform |  |  |  |  | skipped | terraform is not on the PATH |",
      ].join("\n"),
    );
  });

  it("is read back with three digits, without remarks", () => {
    expect([...parseTable(formatTable(rows))]).toEqual([
      ["plan: processor time", cpu(1.42, 3.1, "`node -e 0`")],
      ["plan: requests", requests(1_003)],
    ]);
  });

  it.each<[number, Figure["unit"], string]>([
    [0.004449, "×", "0.00445 ×"],
    [2_041.4, "ms", "2,041 ms"],
    [0, "refused", "0 refused"],
    [123.6, "MB", "124 MB"],
  ])("writes %d %s as %s", (value, unit, text) => {
    expect(formatAmount(value, unit)).toBe(text);
  });

  it("replaces the one before between its marks, and nothing else", () => {
    const page =
      "# Performance\n\n<!-- bench: written by `npm run bench -- --write` -->\nold\n<!-- bench: end -->\n\nMore.\n";
    const changed = withGenerated(page, "new");
    expect(changed).toBe(page.replace("\nold\n", "\n\nnew\n\n"));
    expect(generatedPart(changed)).toBe("new");
    expect(withGenerated(changed, "new")).toBe(changed);
    expect(() => generatedPart("# Performance\n")).toThrow("The page needs the lines <!-- bench: written by");
  });

  it("of the documentation has figures of rows that there are", () => {
    const page = readFileSync(new URL("../../../docs/performance.md", import.meta.url), "utf8");
    const figures = [...parseTable(generatedPart(page)).keys()];
    expect(figures).not.toEqual([]);
    for (const figure of figures) expect(names(ROWS)).toContain(figure.slice(0, figure.indexOf(":")));
  });
});

describe("a figure is worse than in the last table", () => {
  it("when it is more than a fifth above it", () => {
    expect(worseThan(lastOf(requests(100)), [plan(requests(120))])).toEqual([]);
    expect(worseThan(lastOf(requests(100)), [plan(requests(121))])).toEqual([
      { row: "plan", what: "requests", before: "100 requests", now: "121 requests" },
    ]);
    expect(worseThan(lastOf(requests(100)), [plan(requests(50))])).toEqual([]);
  });

  it("by its ratio where both have the same one: a slower machine makes nothing worse", () => {
    const last = lastOf(cpu(1, 3));
    expect(worseThan(last, [plan(cpu(5, 3.5))])).toEqual([]);
    expect(worseThan(last, [plan(cpu(0.9, 3.7))])).toEqual([
      { row: "plan", what: "processor time", before: "3 ×", now: "3.7 ×" },
    ]);
    expect(worseThan(last, [plan(cpu(2, 3, "`terraform_data`"))])).toMatchObject([{ before: "1 s", now: "2 s" }]);
  });

  it("unless the difference is a refused request or two", () => {
    const refused = (value: number): Figure => ({ what: "refused", value, unit: "refused" });
    expect(worseThan(lastOf(refused(0)), [plan(refused(2))])).toEqual([]);
    expect(worseThan(lastOf(refused(0)), [plan(refused(3))])).toMatchObject([
      { before: "0 refused", now: "3 refused" },
    ]);
  });

  it("only where the last table has it, in the same unit", () => {
    expect(worseThan(new Map(), [plan(requests(9))])).toEqual([]);
    expect(worseThan(lastOf(requests(1)), [plan({ ...requests(9), unit: "s" })])).toEqual([]);
    expect(worseThan(lastOf(requests(1)), [{ name: "plan", about: "", skipped: "no terraform" }])).toEqual([]);
  });
});
