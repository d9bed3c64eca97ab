import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import fc from "fast-check";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { annotate, type Shape, shapesOf } from "../../../scripts/bindings/annotate.ts";
import { bindings, indexOf } from "../../../scripts/bindings/generator.ts";
import { bindingsOf, derived, LIBRARIES, patchBetween } from "../../../scripts/bindings/kept.ts";
import { outdated } from "../../../scripts/bindings/made.ts";
import { VERSION } from "../../../src/core/api/version.ts";
import type { Attribute, Schema } from "../../../src/core/model/schema.ts";
import { catalogue } from "../../../src/fronts/terraform/catalogue.ts";
import "../../support/fc.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const schema = readFileSync(path.join(root, "schemas/provider.json"), "utf8");

/** Only maintainers of the bindings install the generators. `npm run test:long generators` installs them. */
const installed = existsSync(path.join(root, "scripts/bindings/node_modules"));
const generators = installed || process.env.HOSTFORM_LONG !== undefined;
beforeAll(() => {
  if (generators && !installed)
    execFileSync("npm", ["ci"], { cwd: path.join(root, "scripts/bindings"), stdio: "ignore" });
}, 300_000);

describe.runIf(generators).each(LIBRARIES)("the bindings for %s, fresh from their generator,", (library) => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "bindings-test-"));
    for (const name of ["home", "tmp"]) mkdirSync(path.join(folder, name));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("come from the schema alone, without terraform and without a file in the user's home", async () => {
    vi.stubEnv("HOME", path.join(folder, "home"));
    vi.stubEnv("TMPDIR", path.join(folder, "tmp"));
    vi.stubEnv("PATH", "");
    vi.stubEnv("TERRAFORM_BINARY_NAME", "/nowhere/terraform");
    const made = await bindings(library, schema);
    vi.unstubAllEnvs();
    expect(readdirSync(path.join(folder, "home"))).toEqual([]);
    expect(readdirSync(path.join(folder, "tmp"))).toEqual([]);

    expect(new Map([...made].sort())).toEqual(new Map([...(await bindingsOf(library, root))].sort()));

    const service = made.get("lib/service/index.ts");
    expect(service).toContain(`providerVersionConstraint: '~> ${VERSION.split(".").slice(0, 2).join(".")}'`);
    expect(service).not.toContain("providerVersion:");
  });
});

it.runIf(generators)("a failed generator is reported with its output", async () => {
  await expect(bindings("cdktf", "{")).rejects.toThrow(/The bindings for cdktf cannot be made: [\s\S]*JSON/);
});

describe.each(LIBRARIES)("the bindings for %s", (library) => {
  it("cannot set attributes that only the API sets", async () => {
    const files = await bindingsOf(library, root);
    const folder = (name: string) => name.replaceAll("_", "-");
    const classes = [
      ...[...catalogue.resources].map(([name, of]) => [folder(name).replace("hosting-", ""), of] as const),
      ...[...catalogue.dataSources].map(([name, of]) => [`data-${folder(name)}`, of] as const),
    ];
    for (const [name, { attributes }] of classes) {
      const text = files.get(`lib/${name}/index.ts`) ?? "";
      for (const [attribute, { computed, optional, required }] of Object.entries(attributes)) {
        const camel = attribute.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
        expect(text, `${name} ${attribute}`).toContain(`public get ${camel}(`);
        if (!computed || optional || required) continue;
        expect(text, `${name} ${attribute}`).not.toMatch(new RegExp(`public set ${camel}\\(|readonly ${camel}\\??:`));
      }
    }
  });
});

describe("the bindings for cdktn", () => {
  it("equal the bindings for cdktf, except for the names of the two libraries", () => {
    const line = fc.constantFrom("", "a", "b", "import * as cdktf from 'cdktf';", "-- c", "+ d", "@@ -1 +1 @@", "\\ e");
    const text = fc.array(line, { minLength: 1 }).map((lines) => lines.join("\n"));
    const set = fc.uniqueArray(fc.tuple(fc.constantFrom("index.ts", "lib/a.ts", "lib/b.ts"), text), {
      selector: ([name]) => name,
    });
    fc.assert(
      fc.property(set, set, (kept, more) => {
        const cdktf = new Map(kept);
        const cdktn = new Map([...kept.map(([name]) => [name, "cdktn\n"] as const), ...more]);
        expect(derived(cdktf, patchBetween(cdktf, cdktn))).toEqual(cdktn);
      }),
      { examples: [[[], []]] },
    );
  });

  it("are rejected if the stored files were edited by hand", () => {
    const cdktf = new Map([["index.ts", "one\ntwo\nthree\n"]]);
    const patch = patchBetween(cdktf, new Map([["index.ts", "one\nnot two\nthree\n"]]));
    expect(() => derived(new Map([["index.ts", "one\n2\nthree\n"]]), patch)).toThrow(
      "bindings/cdktn.patch does not fit bindings/cdktf/index.ts. Run `npm run generate`.",
    );
  });
});

describe("the output of the generators is outdated", () => {
  let copy = "";
  beforeEach(() => {
    copy = mkdtempSync(path.join(tmpdir(), "bindings-made-"));
    const copied = ["schemas", "bindings", "src/core/api/version.ts", "src/fronts/terraform/wire/tfplugin6.gen.ts"];
    const tools = globSync("scripts/bindings/*.*", { cwd: root });
    for (const name of [...copied, ...tools]) cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  });
  afterEach(() => rmSync(copy, { recursive: true, force: true }));

  it.each([
    ["nothing", undefined, []],
    ["the provider's schema", "schemas/provider.json", ["bindings"]],
    ["the version", "src/core/api/version.ts", ["bindings"]],
    ["the protocol", "schemas/tfplugin6.proto", ["plugin messages"]],
    ["a generator's version", "scripts/bindings/package-lock.json", ["bindings", "plugin messages"]],
    ["what is added to the generated", "scripts/bindings/annotate.ts", ["bindings", "plugin messages"]],
    ["a binding, by hand", "bindings/cdktf/lib/service/index.ts", ["bindings"]],
    ["a binding for cdktn, by hand", "bindings/cdktn.patch", ["bindings"]],
    ["a message, by hand", "src/fronts/terraform/wire/tfplugin6.gen.ts", ["plugin messages"]],
    ["the sandbox's description", "schemas/openapi.yaml", []],
  ])("if this changed: %s", async (_, file, expected) => {
    if (file !== undefined) appendFileSync(path.join(copy, file), " ");
    expect(await outdated(copy)).toEqual(expected);
  });
});

/**
 * Returns the generated code of a resource `hosting_box` with one attribute, shortened to the parts that the tests
 * read.
 */
const written = (attribute: string, property: string) => `
export interface BoxConfig extends cdktf.TerraformMetaArguments {
  /**
  * A word.
  *
  * Docs at Terraform Registry: {@link https://example/box#${attribute} Box#${attribute}}
  */
  readonly ${property}?: string;
}

/**
* Represents a {@link https://example/box hosting_box}
*/
export class Box extends cdktf.TerraformResource {
  public constructor(scope: Construct, id: string, config: BoxConfig) {
    super(scope, id, {
      terraformResourceType: 'hosting_box',
      terraformGeneratorMetadata: {
        providerName: 'hosting',
      },
      forEach: config.forEach
    });
    this._${property} = config.${property};
  }

  // ${attribute} - computed: false, optional: true, required: false
  private _${property}?: string;
  public get ${property}() {
    return this.getStringAttribute('${attribute}');
  }
  public set ${property}(value: string) {
    this._${property} = value;
  }
  // Temporarily expose input value. Use with caution.
  public get ${property}Input() {
    return this._${property};
  }
}
`;

const shapes = (attribute: string, of: Attribute): ReadonlyMap<string, Shape> => {
  const box: Schema = { version: 0, description: "A box.\n\nIt holds */ things.", attributes: { [attribute]: of } };
  return new Map([
    ["Box", { schema: box, attributes: box.attributes }],
    ["BoxConfig", { schema: box, attributes: box.attributes }],
  ]);
};

describe("the texts that hostform adds to the generated bindings", () => {
  const word: Attribute = { type: "string", description: "A word.", optional: true };

  it("describe each class and its read-only attributes", () => {
    const text = annotate(written("my_word", "myWord"), "cdktf", shapes("my_word", word));
    expect(text).toContain(
      "/**\n* Represents a {@link https://example/box hosting_box}\n*\n* A box.\n*\n* It holds * / things.\n*/\nexport class Box",
    );
    expect(text).toContain("  /**\n  * A word.\n  */\n  public get myWord() {");
    expect(text).not.toContain("warnOfClearText");
    expect(text).not.toContain("Sensitive");
  });

  it("mark a secret, and warn at both places that set the secret", () => {
    const text = annotate(written("my_key", "myKey"), "cdktn", shapes("my_key", { ...word, sensitive: true }));
    expect(text).toContain("  * Sensitive.\n  *\n  * Docs at");
    expect(text).toContain("  * A word.\n  *\n  * Sensitive.\n  */\n  public get myKey() {");
    expect(text).toContain(
      '    this._myKey = config.myKey;\n    warnOfClearText(cdktn, this, "myKey", config.myKey);\n',
    );
    expect(text).toContain('    this._myKey = value;\n    warnOfClearText(cdktn, this, "myKey", value);\n');
  });

  it("check for a duplicate name in each constructor of a named block", () => {
    const text = annotate(written("a", "a"), "cdktn", shapes("a", word));
    expect(text).toContain(
      "      forEach: config.forEach\n    });\n    watchNames(cdktn, this);\n    this._a = config.a;",
    );
    const provider = written("a", "a").replace("cdktf.TerraformResource", "cdktf.TerraformProvider");
    expect(annotate(provider, "cdktf", shapes("a", word))).not.toContain("watchNames");
  });

  it("keep a generator's own comment on a getter", () => {
    const own = "  /**\n  * @deprecated Write-only: it reads as null.\n  */\n  public get a() {";
    const text = written("a", "a").replace("  public get a() {", own);
    expect(annotate(text, "cdktn", shapes("a", { ...word, sensitive: true, writeOnly: true }))).toContain(
      "It cannot be read.\n  *\n  * @deprecated Write-only: it reads as null.\n  */\n  public get a() {",
    );
  });

  it.each([
    ["the getter", "  // a - computed: false", "  // b - computed: false", "Box.a: its getter is found 0 times"],
    ["the link", "box#a Box#a", "box#b Box#b", "BoxConfig.a: the link of its documentation is found 0 times"],
    ["the setter", "this._a = value;", "this.store(value);", "Box.a: its setter is found 0 times"],
    ["the base", "super(scope, id, {", "super(scope, id, conf, {", "Box: its constructor is found 0 times"],
    ["the constructor", "this._a = config.a;", "this.init(config);", "Box.a: its place in the constructor is found 0"],
  ])("cause an error if a generator changes its format: %s", (_, before, after, complaint) => {
    const text = written("a", "a").replace(before, after);
    expect(() => annotate(text, "cdktf", shapes("a", { ...word, sensitive: true }))).toThrow(complaint);
  });

  it("cannot warn about a secret within an object, which has no construct", () => {
    const key: Attribute = { ...word, sensitive: true };
    const box: Schema = {
      version: 0,
      description: "A box.",
      attributes: { lock: { ...word, type: { nesting: "single", attributes: { key } } } },
    };
    expect(() => shapesOf({ ...catalogue, resources: new Map([["hosting_box", box]]) })).toThrow("Box, lock.key");
  });
});

it("the index exports the hand-written constructs and the namespaces", () => {
  const text = [
    "export interface BoxConfig {}",
    "export interface BoxLid {}",
    "export function boxLidToTerraform() {}",
    "export class BoxLidOutputReference {}",
    "export class BoxItemsList {}",
    "export class Box {}",
  ].join("\n");
  const files = new Map([
    ["lib/box/index.ts", text],
    ["lib/index.ts", 'export * as box from "./box/index.ts";'],
  ]);
  expect(indexOf(files)).toBe(
    'export { type BoxConfig, type BoxLid, Box } from "./lib/box/index.ts";\nexport * from "./lib/index.ts";\n',
  );
});
