import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { LONG } from "../reliability/support/long.ts";
import { temporaryFolder } from "../support/folder.ts";
import { answer } from "./support.ts";

const MIB = 1024 * 1024;
const HEAD = "project: hostile\n";
const SERVICE = "{plan_id: 11, currency: USD, domain: www.acme.example}";
/** Bytes of a hostile text: a 64th of the largest file. `npm run test:long hostile` uses nearly the largest file. */
const MUCH = LONG ? MIB - 1000 : MIB / 64;
const filled = (head: string, fill: string, size = MUCH) =>
  head + fill.repeat(Math.floor((size - head.length) / fill.length));

/** Ten levels of ten aliases each: 10,000 million values in 400 bytes. */
const LAUGHS = `x-0: &l0 [lol]\n${Array.from({ length: 10 }, (_, i) => `x-${i + 1}: &l${i + 1} [${`*l${i},`.repeat(10)}]\n`).join("")}`;
const MERGES = `x-0: &m0 {a: 1}\n${Array.from({ length: 20 }, (_, i) => `x-${i + 1}: &m${i + 1} {<<: [*m${i}, *m${i}], k${i}: 1}\n`).join("")}`;

/** Bytes of a declaration, and a text of its output if the test checks one. */
const CORPUS: readonly (readonly [why: string, bytes: string | Uint8Array, says?: string | RegExp])[] = [
  ["nothing at all", ""],
  ["only a comment", "# nothing\n"],
  ["only a mark of byte order", "\ufeff"],
  ["a mark of byte order before a declaration", `\ufeff${HEAD}`],
  ["a mark of byte order in the middle", `${HEAD}\ufeffservices: {}\n`],
  ["NUL", `${HEAD}services:\n  a\u0000b: ${SERVICE}\n`],
  ["NUL as an escape", `${HEAD}services:\n  "a\\0b": ${SERVICE}\n`],
  ["NUL in a value", `${HEAD}services:\n  a: {plan_id: 11, currency: USD, domain: "a\\0.example"}\n`],
  ["every control character", Uint8Array.from({ length: 0x20 }, (_, i) => i)],
  ["every byte", Uint8Array.from({ length: 256 }, (_, i) => i), "UTF-8"],
  ["an overlong encoding", Uint8Array.from([...Buffer.from(HEAD), 0xc0, 0xaf]), "UTF-8"],
  ["half a character at the end", Uint8Array.from([...Buffer.from(HEAD), 0xe2, 0x82]), "UTF-8"],
  ["a surrogate in UTF-8", Uint8Array.from([...Buffer.from(HEAD), 0xed, 0xa0, 0x80]), "UTF-8"],
  ["UTF-16, little end first", Buffer.from(`\ufeff${HEAD}`, "utf16le"), "UTF-16"],
  ["UTF-16, big end first", Buffer.from(`\ufeff${HEAD}`, "utf16le").swap16(), "UTF-16"],
  [
    "a picture",
    Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    ),
    "UTF-8",
  ],
  ["carriage returns alone", HEAD.replaceAll("\n", "\r")],
  ["line separators of Unicode", `project: hostile\u2028services: {}\u0085webhooks: {}\n`],

  ["an escape sequence as a name", `${HEAD}services:\n  "\\e[2J\\e]0;owned\\a": ${SERVICE}\n`],
  [
    "an escape sequence as a value",
    `${HEAD}services:\n  a: {plan_id: 11, currency: "\\e[31mUSD", domain: "\\x9b2J.example"}\n`,
  ],
  ["an escape sequence as a key", `${HEAD}"\\e[2J": 1\n`],
  ["a name written from right to left", `${HEAD}services:\n  "a\\u202eb": ${SERVICE}\n`],
  ["a raw escape sequence", `${HEAD}services:\n  \u001b[2Jx: ${SERVICE}\n`],
  ["half a surrogate pair", `${HEAD}services:\n  "\\ud800": ${SERVICE}\n`],

  ["a thousand million laughs", `${HEAD}${LAUGHS}`, /too_large|larger/],
  ["laughs where services stand", `${HEAD}${LAUGHS}services: *l10\n`],
  ["merges of merges", `${HEAD}${MERGES}services:\n  a:\n    <<: *m20\n`],
  ["an alias of itself", `${HEAD}services: &a\n  b: *a\n`],
  ["two aliases of each other", `${HEAD}x-a: &a {b: &b {a: *a}}\nx-b: *b\n`],
  ["a merge of itself", `${HEAD}services:\n  a: &a\n    <<: *a\n    plan_id: 11\n`],
  ["a merge of a list", `${HEAD}services:\n  a:\n    <<: [1, 2]\n`],
  ["a merge of a text", `${HEAD}services:\n  a:\n    <<: text\n`],
  ["a merge of an alias that there is not", `${HEAD}services:\n  a:\n    <<: *nowhere\n`],
  ["merge as a name", `${HEAD}services:\n  <<: ${SERVICE}\n`],
  ["many anchors on one value", filled(`${HEAD}x-a: `, "&a ", 100_000)],
  ["an anchor of the length of the file", `${HEAD}x-a: &${"a".repeat(500_000)} 1\n`],

  ["lists in lists", `${HEAD}x-a: ${"[".repeat(100_000)}`],
  ["maps in maps", `${HEAD}x-a: ${"{a: ".repeat(100_000)}`],
  ["maps in maps, by indentation", Array.from({ length: 1000 }, (_, i) => `${" ".repeat(i)}a:\n`).join("")],
  ["lists in lists, in one line", `${HEAD}x-a:\n${"- ".repeat(200_000)}`],
  ["explicit keys in keys", `${HEAD}${"? ".repeat(50_000)}a\n`],
  ["a huge key", `${HEAD}? ${"k".repeat(900_000)}\n: 1\n`],
  ["a huge name", `${HEAD}services:\n  ${"n".repeat(900_000)}: ${SERVICE}\n`],
  ["a huge value", `${HEAD}services:\n  a: {plan_id: 11, currency: ${"c".repeat(900_000)}, domain: a.example}\n`],
  ["a huge number", `${HEAD}services:\n  a: {plan_id: ${"9".repeat(900_000)}, currency: USD, domain: a.example}\n`],
  ["a huge line of spaces", `${HEAD}${" ".repeat(900_000)}x: 1\n`],
  ["a huge comment", `${HEAD}#${"c".repeat(900_000)}\n`],
  ["a list as a key", `${HEAD}[a, b]: 1\n`],
  ["a map as a key", `${HEAD}{a: b}: 1\n`],
  ["null as a key", `${HEAD}~: 1\nnull: 2\n`],
  ["many documents", filled(HEAD, "---\n", 100_000)],
  ["many keys alike", filled(`${HEAD}services:\n`, `  a: ${SERVICE}\n`)],
  ["many keys unknown", filled(`${HEAD}`, "a: 1\nb: 2\n")],
  [
    "many services",
    filled(`${HEAD}services:\n`, `  a: ${SERVICE}\n`).replace(
      / {2}a:/g,
      (() => {
        let i = 0;
        return () => `  s${i++}:`;
      })(),
    ),
  ],
  ["more than 16 mebibytes", filled(HEAD, "# x\n", 17 * MIB), "larger than 16 MiB"],

  [
    "names of prototypes",
    `${HEAD}services:\n  __proto__: ${SERVICE}\n  constructor: ${SERVICE}\n  hasOwnProperty: ${SERVICE}\n`,
  ],
  ["names of prototypes as keys", `${HEAD}__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 1}}\n`],
  [
    "names of prototypes as attributes",
    `${HEAD}services:\n  a: {__proto__: {polluted: 1}, plan_id: 11, currency: USD, domain: a.example}\n`,
  ],
  [
    "names of prototypes in a free map",
    `${HEAD}migration_requests:\n  a: {domain: a.example, questions: {__proto__: {polluted: 1}, constructor: "1"}}\n`,
  ],
  ["names of prototypes by merge", `x-a: &a {__proto__: {polluted: 1}}\n${HEAD}services:\n  a: {<<: *a}\n`],
  [
    "names of prototypes as providers",
    `${HEAD}providers:\n  __proto__: {token_env: A}\nservices:\n  a: {provider: constructor, plan_id: 11, currency: USD, domain: a.example}\n`,
  ],
  [
    "names of prototypes in references",
    `${HEAD}services:\n  a: {plan_id: 11, currency: USD, domain: "\${hosting_service.a.__proto__.polluted}"}\n`,
  ],
  [
    "names of prototypes as variables",
    `${HEAD}services:\n  a: {plan_id: 11, currency: USD, domain: "\${env.__proto__}\${env.constructor}"}\n`,
  ],

  ["a tag that makes a function", `${HEAD}x-a: !!js/function "() => process.exit(9)"\n`],
  ["a tag of another language", `${HEAD}services: !!python/object/apply:os.system ["touch /tmp/owned"]\n`],
  ["a tag of bytes", `${HEAD}services:\n  a: {plan_id: 11, currency: USD, domain: !!binary aGVsbG8=}\n`],
  ["a tag of a set", `${HEAD}services: !!set {a, b}\n`],
  ["a tag of a date", `${HEAD}services:\n  a: {plan_id: !!timestamp 2026-01-01, currency: USD, domain: a.example}\n`],
  ["a handle of the file's own", `%TAG ! tag:evil.example,2026:\n---\n${HEAD}x-a: !x 1\n`],
  ["a directive that there is not", `%EVIL 1\n---\n${HEAD}`],
  [
    "YAML 1.1, where `no` is false",
    `%YAML 1.1\n---\n${HEAD}services:\n  a: {plan_id: 011, currency: no, domain: 1:30}\n`,
  ],
  [
    "numbers that are none",
    `${HEAD}services:\n  a: {plan_id: .nan, currency: USD, domain: a.example}\n  b: {plan_id: -.inf, currency: USD, domain: b.example}\n`,
  ],
  [
    "numbers that lose digits",
    `${HEAD}services:\n  a: {plan_id: 9007199254740993, currency: USD, domain: a.example}\n  b: {plan_id: 1e400, currency: USD, domain: b.example}\n`,
  ],
  [
    "an expression that is not closed",
    `${HEAD}services:\n  a: {plan_id: 11, currency: USD, domain: "\${${"${".repeat(1000)}"}\n`,
  ],
  [
    "an expression with quotes in it",
    `${HEAD}services:\n  a: {plan_id: 11, currency: USD, domain: '\${hosting_grant.a["\\"]}"].id}'}\n`,
  ],
  [
    "a service of itself",
    `${HEAD}services:\n  a: {plan_id: 11, currency: USD, domain: "\${hosting_service.a.domain}"}\n`,
  ],
  [
    "an e-mail address with a path",
    `${HEAD}services:\n  a:\n    plan_id: 11\n    currency: USD\n    domain: a.example\n    grants:\n      "../../x@acme.example": view\n      "a\\r\\nX: y@acme.example": view\n`,
  ],
  ["a base URL with a password", `${HEAD}providers:\n  default: {base_url: "https://user:hunter22@evil.example"}\n`],
  ["a base URL that is not one", `${HEAD}providers:\n  default: {base_url: "javascript:alert(1)"}\n`],
  [
    "a token file that is a device",
    `${HEAD}providers:\n  default: {token_file: /dev/null}\nservices:\n  a: ${SERVICE}\n`,
  ],
];

describe("a hostile declaration is answered", () => {
  it.each(CORPUS.map(([why, bytes, says]) => ({ why, bytes, says })))(
    "$why",
    { timeout: 60_000 },
    async ({ why, bytes, says }) => {
      const dir = temporaryFolder();
      await writeFile(path.join(dir, "hosting.yaml"), bytes);
      const { text } = await answer(dir, ["validate"], {}, why);
      if (says !== undefined) expect(text).toMatch(says);
      await answer(dir, ["validate", "--json"], {}, why);
      // hostform plans a valid declaration. Nobody listens at this address.
      const env = { HOSTING_BASE_URL: "http://127.0.0.1:9", HOSTING_TOKEN: "token-of-nobody" };
      await answer(dir, ["plan"], env, why);
    },
  );

  it("a folder in place of a file, a link to itself, and a link to nowhere", async () => {
    for (const make of [
      (file: string) => mkdir(file),
      (file: string) => symlink("hosting.yaml", file),
      (file: string) => symlink("/nowhere/at/all", file),
    ]) {
      const dir = temporaryFolder();
      await make(path.join(dir, "hosting.yaml"));
      expect((await answer(dir, ["validate"])).code).toBe(1);
    }
  });

  it("a file that never ends", async () => {
    const dir = temporaryFolder();
    await symlink("/dev/zero", path.join(dir, "hosting.yaml"));
    expect((await answer(dir, ["validate"])).text).toContain("outside the project");
    expect((await answer(dir, ["validate", "-f", "hosting.yaml"])).text).toContain("larger than 16 MiB");
  });

  it("names of files that hold escape sequences", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "\u001b[2J\u202e.hosting.yaml"), "services: [");
    await answer(dir, ["validate"]);
    await answer(dir, ["validate", "-f", "\u001b]0;x\u0007.yaml"]);
    await answer(dir, ["plan", "--out", "\u001b[2J/x"]);
    await answer(dir, ["apply", "\u001b[2J.plan"]);
  });

  it("arguments that hold escape sequences", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "hosting.yaml"), HEAD);
    const env = { HOSTING_BASE_URL: "http://127.0.0.1:9", HOSTING_TOKEN: "token-of-nobody" };
    const evil = "hosting_service.\u001b[2J\u202e";
    for (const args of [
      ["\u001b[2J"],
      ["plan", "--\u001b[2J"],
      ["plan", "--target", evil],
      ["plan", "--reorder", evil],
      ["state", "show", evil],
      ["state", "rm", evil],
      ["state", "mv", evil, `${evil}x`],
      ["import", evil, "\u001b[2J"],
      ["services", "../../\u001b[2J"],
      ["sso", evil],
      ["plan", "--max-spend", "\u001b[2J=1"],
      ["plan", "--format", "\u001b[2J"],
    ])
      await answer(dir, args, env);
  });
});
