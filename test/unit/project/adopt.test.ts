/** Parts of an adoption: names, YAML blocks, plans, reads in bounded memory, and writes of all files or none. */
import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { PlanRecord } from "../../../src/core/api/index.ts";
import { kinds } from "../../../src/core/kinds/index.ts";
import { planOf } from "../../../src/core/kinds/service/steps.ts";
import { isError, isName, type JsonObject } from "../../../src/core/model/index.ts";
import { insertNested, parseDeclaration, printDocument } from "../../../src/fronts/yaml/index.ts";
import { declare, type Known } from "../../../src/project/adopt/declare.ts";
import { preferredName, readPairs, slug } from "../../../src/project/adopt/names.ts";
import { writeFiles } from "../../../src/project/adopt/write.ts";
import fc, { character } from "../../support/fc.ts";
import { quickFolder, temporaryFolder } from "../../support/folder.ts";
import { refuse } from "../../support/refusing-disk.ts";
import { kindOf, liveGrant, liveService, remote } from "../../support/subjects.ts";

const service = kindOf("hosting_service");

/** An account without declared or recorded resources. */
const NOTHING: Known = {
  found: new Map(),
  recorded: new Map(),
  declared: [],
  addresses: new Set(),
  waiting: new Set(),
  names: new Map(),
  clients: new Map(),
  language: { commentsOut: true, reserved: [], namesShared: false },
};

/** Returns the declaration that an adoption writes for these services, with one grant each. */
function declaredOf(...services: readonly JsonObject[]) {
  const live = services.map((over) => remote({ ...liveService, plan_id: 11, ...over }));
  const grants = live.map(({ id }) => remote({ ...liveGrant, id: `9${id}`, service_id: id }));
  const objects = new Map([
    ["hosting_service", live],
    ["hosting_grant", grants],
  ]);
  return declare({ objects, plans: [], unread: [] }, NOTHING, new Map());
}

describe("the file of a client account", () => {
  it.each([
    ["Con", "client-con"],
    ["NUL", "client-nul"],
    ["com1", "client-com1"],
    ["unassigned", "client-unassigned"],
    ["Acme", "acme"],
    ["Console.", "console"],
  ])("named %j is %s, which is no device on Windows", (name, file) => {
    const client = remote({
      id: "7",
      name,
      company_name: null,
      company_number: null,
      vat_number: null,
      currency: "USD",
    });
    const objects = new Map([["hosting_client_account", [client]]]);
    const { blocks } = declare({ objects, plans: [], unread: [] }, NOTHING, new Map());
    expect(blocks.map((block) => block.file)).toEqual([file]);
  });
});

describe("names", () => {
  it.each([
    ["www.acme.example", "www-acme-example"],
    ["WWW.Acme.Example", "www-acme-example"],
    ["1und1.example", "site-1und1-example"],
    ["пример.example", "xn--e1afmkfd-example".replace("--", "-")],
    ["${env.HOSTING_TOKEN}.example", "env-hosting_token-example"],
    ["a\n  plan_id: 1", "a-plan_id-1"],
    ["*/..\\..", "shared-start-1001"],
    ["__proto__", "proto"],
  ])("of %j", (domain, name) => {
    expect(preferredName(service, remote({ ...liveService, domain }))).toBe(name);
  });

  it("are valid names for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 300 }), (text) => {
        expect(slug(text) === "" || isName(slug(text))).toBe(true);
        expect(isName(preferredName(service, remote({ ...liveService, domain: text, plan: text })))).toBe(true);
      }),
    );
  });

  it("are read from CSV with quotes, a header and a byte order mark; an error names its line", () => {
    const csv = '\uFEFFservice id,client\r\n1001,"Acme, ""Ltd"""\r\n\r\n 1002 , beta \r\n';
    expect(readPairs(csv, "map.csv").map(({ key, value }) => [key, value])).toEqual([
      ["1001", 'Acme, "Ltd"'],
      ["1002", "beta"],
    ]);
    expect(() => readPairs("1001,a\n1002\n", "map.csv")).toThrow(/map\.csv, line 2: two columns/);
    expect(() => readPairs("1001,a\n1001,b\n", "map.csv")).toThrow(/line 2: 1001 is in the file twice/);
  });
});

describe("a declaration of an account", () => {
  it("is valid and has the values of the API, whatever they are", () => {
    const words = [
      "${env.X}",
      "$${env.X}",
      "a: b # c",
      "- x",
      "yes",
      "1e3",
      "'",
      "\u202e",
      "\u2028  b",
      "a\nb",
      "__proto__",
      "%{if}",
    ];
    const hostile = fc.oneof(fc.constantFrom(...words), fc.string({ unit: character, maxLength: 40 }));
    const account = kindOf("hosting_client_account");
    fc.assert(
      fc.property(fc.array(fc.record({ domain: hostile, plan: hostile, name: hostile }), { maxLength: 6 }), (given) => {
        const live = given.map((over, at) => remote({ ...liveService, plan_id: 11, ...over, id: String(1001 + at) }));
        const accounts = given.map(({ name, plan }, at) => remote({ id: String(at), name, company_name: plan }));
        const objects = new Map([
          ["hosting_service", live],
          [account.type, accounts],
        ]);
        const made = declare({ objects, plans: [], unread: [] }, NOTHING, new Map());
        const text = `project: acme\n${printDocument(made.blocks)}`;
        const { desired, diagnostics } = parseDeclaration([{ path: "hosting.yaml", text }], { kinds, env: {} });
        expect(diagnostics.filter(isError)).toEqual([]);
        const adopted = made.blocks.flatMap(({ adopts }) => adopts.map(({ address }) => address));
        expect(desired?.resources.map(({ address }) => address).toSorted()).toEqual(adopted.toSorted());
        const scope = { resource: () => undefined, env: () => "a secret" };
        const shown = new Set(given.flatMap((one) => Object.values(one)));
        for (const { config, evaluate } of desired?.resources ?? []) {
          for (const name of ["domain", "name", "company_name"]) {
            if (config[name] !== undefined) expect(shown).toContain(evaluate(name, scope));
          }
        }
      }),
    );
  });

  it("numbers equal names by id, leaves out a second service of one domain, and writes no `suspended`", () => {
    const made = declaredOf(
      { id: "1001", domain: "www.acme.example", suspended: true },
      { id: "1002", domain: "www-acme.example" },
      { id: "1003", domain: "www.acme.example" },
    );
    expect(made.blocks.map(({ name, body }) => [name, body.deletion_policy, "suspended" in body])).toEqual([
      ["www-acme-example", "prevent", false],
      ["www-acme-example-2", "prevent", false],
    ]);
    expect(made.left).toEqual([
      "service 1003: services 1001 and 1003 both use www.acme.example. Declare the domain once. Left out with it: 1 grant (dev@acme.example).",
    ]);
  });

  it.each<[what: string, live: JsonObject, id: number | undefined, candidates: number[]]>([
    ["the number that the API shows", { plan_id: 7 }, 7, []],
    ["a name that one plan has", { plan: "Solo" }, 1, [1]],
    ["of two plans of a name, the one of its price and cycle", { plan: "Twin", price: 900 }, 3, [2, 3]],
    [
      "of two plans of a name and price, neither",
      { plan: "Twin", price: 500, billing_cycle: "yearly" },
      undefined,
      [2, 3],
    ],
    ["without a name, the one of its price and cycle", { plan: null, price: 900 }, 3, [1, 2, 3]],
    ["of a name that is not in the list, none", { plan: "Legacy", price: 900 }, undefined, []],
  ])("has the plan_id %s", (_, live, id, candidates) => {
    const planRecord = (plan_id: number, name: string, price: number) =>
      ({ plan_id, name, price, currency: "USD", prices: {}, billing_cycle: "monthly" }) as unknown as PlanRecord;
    const plans = [planRecord(3, "Twin", 900), planRecord(2, "Twin", 500), planRecord(1, "Solo", 500)];
    const found = planOf({ currency: "USD", billing_cycle: "monthly", price: 500, ...live }, plans);
    expect([found.id, found.candidates.map(({ plan_id }) => plan_id)]).toEqual([id, candidates]);
  });
});

describe("new lines in an existing block", () => {
  const place = { section: "services", name: "www", nested: "grants" };
  const entries = { "new@acme.example": "view" };

  it.each([
    [
      "services:\n  www:\n    plan_id: 11 # eleven\n  other:\n    plan_id: 1\n",
      "plan_id: 11 # eleven\n    grants:\n      new@acme.example: view\n  other",
    ],
    [
      "services:\n  www:\n    grants:\n      a@b.example:\n        permission: view # v\n    plan_id: 11",
      "view # v\n      new@acme.example: view\n    plan_id: 11",
    ],
    [
      "---\nproject: a\n---\nservices:\n    www:\n        grants: # all\n            a@b.example: view",
      "a@b.example: view\n            new@acme.example: view\n",
    ],
  ])("follow the present lines: %j", (text, expected) => {
    const after = insertNested(text, place, entries) ?? "";
    expect(after).toContain(expected);
    const kept = text.split("\n");
    expect(after.split("\n").filter((line) => kept.includes(line))).toEqual(
      expect.arrayContaining(kept.filter((line) => line !== "")),
    );
  });

  it.each([
    "services: {www: {plan_id: 11}}",
    "services:\n  www: *site\n",
    "services:\n  www:\n    grants: {a@b.example: view}\n",
    "services:\n  other: {}\n",
  ])("are refused for %j", (text) => expect(insertNested(text, place, entries)).toBeUndefined());
});

describe("files", () => {
  const folder = async () => {
    const dir = await mkdtemp(quickFolder("adopt"));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    await writeFile(path.join(dir, "old.yaml"), "old\n");
    return dir;
  };
  const contents = async (dir: string) => {
    const names = (await readdir(dir)).toSorted();
    return Promise.all(names.map(async (name) => [name, await readFile(path.join(dir, name), "utf8")]));
  };

  it("are all written, and keep their modes", async () => {
    const dir = await folder();
    await chmod(path.join(dir, "old.yaml"), 0o640);
    const [old, fresh] = [path.join(dir, "old.yaml"), path.join(dir, "new.yaml")];
    await writeFiles(
      [
        { file: old, before: "old\n", text: "old\nmore\n" },
        { file: fresh, before: undefined, text: "new\n" },
      ],
      async () => undefined,
    );
    expect(await contents(dir)).toEqual([
      ["new.yaml", "new\n"],
      ["old.yaml", "old\nmore\n"],
    ]);
  });

  it.each<[why: string, text: string, before: string | undefined, fails: boolean]>([
    ["the state cannot be written", "new.yaml", undefined, true],
    ["another file has the name", "old.yaml", undefined, false],
    ["somebody has changed one meanwhile", "old.yaml", "older\n", false],
    ["a folder is missing and cannot be made", "old.yaml/new.yaml", undefined, false],
  ])("stay unchanged when %s", async (_, name, before, fails) => {
    const dir = await folder();
    const was = await contents(dir);
    const changes = [
      { file: path.join(dir, "first.yaml"), before: undefined, text: "first\n" },
      { file: path.join(dir, name), before, text: "text\n" },
    ];
    const then = async () => {
      if (fails) throw new Error("no space");
    };
    await expect(writeFiles(changes, then)).rejects.toThrow(fails ? "no space" : "No file was written");
    expect(await contents(dir)).toEqual(was);
  });

  it("are restored with their modes and links when a later file cannot be replaced", async () => {
    const [dir, other] = [await folder(), temporaryFolder()];
    const at = (name: string) => path.join(dir, name);
    await writeFile(path.join(other, "target.yaml"), "target\n", { mode: 0o640 });
    await symlink(path.join(other, "target.yaml"), at("link.yaml"));
    await writeFile(at("last.yaml"), "last\n");
    const changes = ["link", "last"].map((name) => {
      const [before, text] = [name === "link" ? "target\n" : "last\n", "text\n"];
      return { file: at(`${name}.yaml`), before, text };
    });
    const allow = refuse("renameSync", "last.yaml", "EIO");
    await expect(writeFiles(changes, async () => undefined)).rejects.toThrow("No file was written");
    const target = path.join(other, "target.yaml");
    expect(await readFile(target, "utf8")).toBe("target\n");
    expect((await stat(target)).mode & 0o777).toBe(0o640);
    expect(await readlink(at("link.yaml"))).toBe(target);
    allow();
    await writeFiles(changes, async () => undefined);
    expect(await readFile(target, "utf8")).toBe("text\n");
  });
});
