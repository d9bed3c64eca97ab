/** Edits of one file: the text before and after, and the rule that all other bytes stay. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FileEdit, type KeyPath } from "../../../../src/fronts/yaml/index.ts";

const edited = (text: string, change: (edit: FileEdit) => void): string => {
  const edit = new FileEdit({ path: "hosting.yaml", text });
  change(edit);
  return edit.result();
};
const found = (edit: FileEdit, ...keys: string[]): KeyPath => {
  const path = edit.find(...keys);
  if (path === undefined) throw new Error(`no ${keys.join(".")}`);
  return path;
};
const set =
  (value: unknown, ...keys: string[]) =>
  (edit: FileEdit) =>
    edit.set(found(edit, ...keys), value as never);
const add =
  (content: object, ...keys: string[]) =>
  (edit: FileEdit) =>
    edit.add(found(edit, ...keys), content as never);
const remove =
  (...all: string[][]) =>
  (edit: FileEdit) => {
    for (const keys of all) edit.remove(found(edit, ...keys));
  };
const drop =
  (...dropped: string[]) =>
  (edit: FileEdit) =>
    edit.dropItems("removed", "from", (address) => dropped.includes(address));
const removed = (edit: FileEdit) =>
  edit.addItems(found(edit, "services"), "removed", [{ from: "a.b", destroy: false }]);

describe("an edit of a file", () => {
  it.each<[reason: string, before: string, change: (edit: FileEdit) => void, after: string]>([
    [
      "a value keeps its comment",
      "a:\n  b:\n    c: no # why\n",
      set(true, "a", "b", "c"),
      "a:\n  b:\n    c: true # why\n",
    ],
    ["a quoted value", "a:\n  b: 'x'   # why\n", set("yes", "a", "b"), "a:\n  b: yes   # why\n"],
    ["a value of a flow map", "a: { b: 1, c: 2 }\n", set(3, "a", "b"), "a: { b: 3, c: 2 }\n"],
    ["a value of JSON", '{"a": {"b": 1}}', set("x", "a", "b"), '{"a": {"b": "x"}}'],
    ["an added line", "a:\n  b: 1 # one\n# end\n", add({ c: 2 }, "a"), "a:\n  b: 1 # one\n  c: 2\n# end\n"],
    ["an added line without a last line end", "a:\n  b: 1", add({ c: 2 }, "a"), "a:\n  b: 1\n  c: 2\n"],
    ["an added line with CRLF", "a:\r\n  b: 1\r\n", add({ c: 2 }, "a"), "a:\r\n  b: 1\r\n  c: 2\r\n"],
    [
      "an added line below a nested map",
      "a:\n  b:\n    x: 1\n\nd: 1\n",
      add({ c: 2 }, "a"),
      "a:\n  b:\n    x: 1\n  c: 2\n\nd: 1\n",
    ],
    [
      "an item of a list",
      "removed:\n  - from: a.b\n    destroy: false\n  - { from: a.c, destroy: false }\nd: 1\n",
      drop("a.b"),
      "removed:\n  - { from: a.c, destroy: false }\nd: 1\n",
    ],
    [
      "an item of a flow list",
      "removed: [{ from: a.b }, { from: a.c, destroy: false }] # x\n",
      drop("a.b"),
      "removed: [{ from: a.c, destroy: false }] # x\n",
    ],
    ["all items of a list at the end", "d: 1\n\nremoved:\n  - { from: a.b }\n", drop("a.b"), "d: 1\n"],
    ["all items of a list with CRLF", "d: 1\r\n\r\nremoved:\r\n  - { from: a.b }\r\n", drop("a.b"), "d: 1\r\n"],
    [
      "two neighbours with the text between them",
      "a:\n  b: 1\n\n  # Between.\n\n  c: 2\n  # Above d.\n  d: 3\n",
      (edit) => {
        remove(["a", "b"], ["a", "c"])(edit);
        edit.removeBetween(found(edit, "a", "b"), found(edit, "a", "c"));
      },
      "a:\n  # Above d.\n  d: 3\n",
    ],
    ["an entry of a flow map", "a: { b: 1 } # x\n", add({ c: 2 }, "a"), "a: { b: 1, c: 2 } # x\n"],
    ["an entry of JSON", '{"a": {"b": 1}}', add({ c: 2 }, "a"), '{"a": {"b": 1, "c":2}}'],
    ["an entry of an empty section", "a:\nd: 1\n", add({ c: 2 }, "a"), "a:\n  c: 2\nd: 1\n"],
    [
      "a block in the style of the block above",
      "a:\n  b: { x: 1 }\n",
      add({ c: { x: 2 } }, "a"),
      "a:\n  b: { x: 1 }\n  c: { x: 2 }\n",
    ],
    [
      "a removed block with its comment",
      "a:\n  # of b\n  b:\n    x: 1\n\n  # of c\n  c: 1 # x\n",
      remove(["a", "b"]),
      "a:\n\n  # of c\n  c: 1 # x\n",
    ],
    [
      "a removed block between blank lines",
      "a:\n  # of b\n  b: 1\n\n  c: 1\n\n  d: 1\n",
      remove(["a", "c"]),
      "a:\n  # of b\n  b: 1\n\n  d: 1\n",
    ],
    [
      "a comment behind the line above stays",
      "a:\n  b: 1  # of b\n  c: 1\n",
      remove(["a", "c"]),
      "a:\n  b: 1  # of b\n",
    ],
    ["the last entry removes its section", "a:\n  b: 1\nd: 1\n", remove(["a", "b"]), "d: 1\n"],
    ["an anchor of x- keeps its key", "x-a:\n  b: 1\nd: 1\n", remove(["x-a", "b"]), "x-a:\nd: 1\n"],
    ["first and second of a flow map", "a: {b: 1, c: 2, d: 3}\n", remove(["a", "b"], ["a", "c"]), "a: {d: 3}\n"],
    ["second and third of a flow map", "a: {b: 1, c: 2, d: 3}\n", remove(["a", "c"], ["a", "d"]), "a: {b: 1}\n"],
    [
      "a new list in the document of the block",
      "services:\n  a: {}\n---\nx: 1\n",
      removed,
      "services:\n  a: {}\n\nremoved:\n  - from: a.b\n    destroy: false\n---\nx: 1\n",
    ],
    [
      "an item of a list",
      "services:\n  a: {}\nremoved:\n- from: c.d\n  destroy: true\nx: 1\n",
      removed,
      "services:\n  a: {}\nremoved:\n- from: c.d\n  destroy: true\n- from: a.b\n  destroy: false\nx: 1\n",
    ],
    [
      "an item of a flow list",
      "services: {}\nremoved: [{ from: c.d, destroy: true }]\n",
      removed,
      "services: {}\nremoved: [{ from: c.d, destroy: true }, { from: a.b, destroy: false }]\n",
    ],
    [
      "references in strings, but not in comments",
      "moved: [{ from: k.a, to: k.b }]\nx: # k.a\n  y: ${k.a.id} # k.a\n  z: [k.a, k.a-b]\n",
      (edit) => edit.replaceAll(/\bk\.a(?![\w-])/g, "k.c", ["moved"]),
      "moved: [{ from: k.a, to: k.b }]\nx: # k.a\n  y: ${k.c.id} # k.a\n  z: [k.c, k.a-b]\n",
    ],
  ])("%s", (_, before, change, after) => expect(edited(before, change)).toBe(after));

  it.each<[reason: string, text: string, change: (edit: FileEdit) => void, words: string]>([
    ["an expression", "a:\n  b: ${var.x}\n", set(1, "a", "b"), "the value is an expression"],
    ["an alias", "x: &x 1\na:\n  b: *x\n", set(1, "a", "b"), "has an anchor or is an alias"],
    ["an anchor", "a:\n  b: &x 1\nc: *x\n", set(1, "a", "b"), "has an anchor or is an alias"],
    ["an alias of a block", "x: &x {c: 1}\na: *x\n", add({ d: 1 }, "a"), "has an anchor or is an alias"],
  ])("rejects %s with its line", (_, text, change, words) => {
    expect(() => edited(text, change)).toThrow(words);
  });

  it("changes only the lines of its entry", () => {
    const key = fc.stringMatching(/^[a-z]{1,6}$/);
    const scalar = fc.oneof(fc.integer().map(String), fc.constantFrom("'q: 1'", '"d#"', "plain word", "~"));
    const comment = fc.constantFrom("", " # note", "   # two  ");
    const block = fc.record({
      body: fc.dictionary(key, fc.tuple(scalar, comment), { minKeys: 1 }),
      blank: fc.boolean(),
    });
    const eol = fc.constantFrom("\n", "\r\n");
    fc.assert(
      fc.property(fc.dictionary(key, block, { minKeys: 2, maxKeys: 5 }), eol, fc.nat(), (blocks, end, nth) => {
        const names = Object.keys(blocks);
        const texts = names.map((name) => {
          const { body = {}, blank } = blocks[name] ?? {};
          const lines = Object.entries(body).map(([of, [value, note]]) => `    ${of}: ${value}${note}${end}`);
          return `  ${name}:${end}${lines.join("")}${blank ? `  # about the next${end}${end}` : ""}`;
        });
        const at = nth % names.length;
        const text = `services:${end}${texts.join("")}`;
        const after = edited(text, add({ suspended: true }, "services", names[at] ?? ""));
        const line = `    suspended: true${end}`;
        expect(after.length).toBe(text.length + line.length);
        expect(after.replace(line, "")).toBe(text);
        const without = edited(text, remove(["services", names[at] ?? ""]));
        for (const [i, one] of texts.entries()) if (i !== at) expect(without).toContain(one.trimEnd());
      }),
    );
  });
});
