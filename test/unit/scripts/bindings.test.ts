import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { annotate } from "../../../scripts/generate/bindings/annotate.ts";
import { indexOf } from "../../../scripts/generate/bindings/index-of.ts";
import { LIBRARIES } from "../../../scripts/generate/bindings/libraries.ts";
import { type Shape, shapesOf } from "../../../scripts/generate/bindings/shapes.ts";
import { bindings } from "../../../scripts/generate/bindings.ts";
import { VERSION } from "../../../src/core/api/version.ts";
import type { Attribute, Schema } from "../../../src/core/model/schema.ts";
import { catalogue } from "../../../src/fronts/terraform/catalogue.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const schema = readFileSync(path.join(root, "schemas/provider.json"), "utf8");

describe.each(LIBRARIES)("the bindings for %s", (library) => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "bindings-test-"));
    for (const name of ["home", "tmp"]) mkdirSync(path.join(folder, name));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("are made of the schema alone, without terraform and without a trace in the user's home", async () => {
    vi.stubEnv("HOME", path.join(folder, "home"));
    vi.stubEnv("TMPDIR", path.join(folder, "tmp"));
    vi.stubEnv("PATH", "");
    vi.stubEnv("TERRAFORM_BINARY_NAME", "/nowhere/terraform");
    const made = await bindings(library, schema);
    vi.unstubAllEnvs();
    expect(readdirSync(path.join(folder, "home"))).toEqual([]);
    expect(readdirSync(path.join(folder, "tmp"))).toEqual([]);

    const committed = readdirSync(path.join(root, "src/constructs", library), { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => path.relative(path.join(root, "src/constructs"), path.join(file.parentPath, file.name)));
    expect([...made.keys()].sort()).toEqual(committed.sort());
    for (const [name, text] of made) {
      expect(text, name).toBe(readFileSync(path.join(root, "src/constructs", name), "utf8"));
    }

    const service = made.get(`${library}/lib/service/index.ts`);
    expect(service).toContain(`providerVersionConstraint: '~> ${VERSION.split(".").slice(0, 2).join(".")}'`);
    expect(service).not.toContain("providerVersion:");
  });
});

it("a generator that fails is reported with its words", async () => {
  await expect(bindings("cdktf", "{")).rejects.toThrow(/The bindings for cdktf cannot be made: [\s\S]*JSON/);
});

/** What the generators make of a resource `hosting_box` with one attribute, shortened to what is looked at. */
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

describe("what the generators leave out", () => {
  const word: Attribute = { type: "string", description: "A word.", optional: true };

  it("is the description of a class and of what is read from it", () => {
    const text = annotate(written("my_word", "myWord"), "cdktf", shapes("my_word", word));
    expect(text).toContain(
      "/**\n* Represents a {@link https://example/box hosting_box}\n*\n* A box.\n*\n* It holds * / things.\n*/\nexport class Box",
    );
    expect(text).toContain("  /**\n  * A word.\n  */\n  public get myWord() {");
    expect(text).not.toContain("warnOfClearText");
    expect(text).not.toContain("Sensitive");
  });

  it("is that something is deprecated: a tag in the configuration and at the getter", () => {
    const text = annotate(written("a", "a"), "cdktf", shapes("a", { ...word, deprecated: "Use b." }));
    expect(text).toContain("Box#a}\n  *\n  * @deprecated Use b.\n  */\n  readonly a?: string;");
    expect(text).toContain("  * A word.\n  *\n  * @deprecated Use b.\n  */\n  public get a() {");
  });

  it("is that something is secret, and a warning at both places where it is given", () => {
    const text = annotate(written("my_key", "myKey"), "cdktn", shapes("my_key", { ...word, sensitive: true }));
    expect(text).toContain("  * Sensitive.\n  *\n  * Docs at");
    expect(text).toContain("  * A word.\n  *\n  * Sensitive.\n  */\n  public get myKey() {");
    expect(text).toContain(
      '    this._myKey = config.myKey;\n    warnOfClearText(cdktn, this, "myKey", config.myKey);\n',
    );
    expect(text).toContain('    this._myKey = value;\n    warnOfClearText(cdktn, this, "myKey", value);\n');
  });

  it("is that a name is taken: each constructor of what has one says that it is there", () => {
    const text = annotate(written("a", "a"), "cdktn", shapes("a", word));
    expect(text).toContain(
      "      forEach: config.forEach\n    });\n    watchNames(cdktn, this);\n    this._a = config.a;",
    );
    const provider = written("a", "a").replace("cdktf.TerraformResource", "cdktf.TerraformProvider");
    expect(annotate(provider, "cdktf", shapes("a", word))).not.toContain("watchNames");
  });

  it("keeps what a generator says of a getter itself", () => {
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
  ])("is never lost when a generator writes in another way: %s", (_, before, after, complaint) => {
    const text = written("a", "a").replace(before, after);
    expect(() => annotate(text, "cdktf", shapes("a", { ...word, sensitive: true }))).toThrow(complaint);
  });

  it("cannot be a warning about a secret within an object, where there is no construct", () => {
    const key: Attribute = { ...word, sensitive: true };
    const box: Schema = {
      version: 0,
      description: "A box.",
      attributes: { lock: { ...word, type: { nesting: "single", attributes: { key } } } },
    };
    expect(() => shapesOf({ ...catalogue, resources: new Map([["hosting_box", box]]) })).toThrow("Box, lock.key");
  });
});

it("the index has what is made by hand, and the namespaces", () => {
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
