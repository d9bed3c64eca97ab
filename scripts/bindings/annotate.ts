import codemaker from "codemaker";
import { type Attribute, type Attributes, isNested, type Schema } from "../../src/core/model/schema.ts";
import type { Catalogue } from "../../src/fronts/terraform/catalogue.ts";

/** The meaning of a class or an interface of the bindings. */
export interface Shape {
  /** Schema of the resource or data source; absent for an object inside of one. */
  readonly schema?: Schema;
  readonly attributes: Attributes;
}

/**
 * Adds the parts of the schema that the generators leave out of a file of bindings: descriptions, marks of sensitive,
 * write-only and deprecated attributes, a warning about secrets in clear text, and a refusal of two blocks of one name
 * (`src/constructs/binding-checks.ts`).
 *
 * @param text output of the generator
 * @param library name of the namespace import of the library in it
 * @throws Error when the output has another form than before
 */
export function annotate(text: string, library: string, shapes: ReadonlyMap<string, Shape>): string {
  return text
    .replace(/^(\* Represents a .*\n)(?=\*\/\nexport class (\w+))/gm, (line: string, _, name: string) => {
      const schema = shapes.get(name)?.schema;
      return schema === undefined ? line : line + comment(["", ...schema.description.split("\n")], "");
    })
    .split(/^(?=export (?:class|interface) )/m)
    .map((part) => {
      const [, word, name = ""] = /^export (class|interface) (\w+)/.exec(part) ?? [];
      const shape = shapes.get(name);
      if (shape === undefined) return part;
      const whole = word === "class" && shape.schema !== undefined ? watched(part, name, library) : part;
      return Object.entries(shape.attributes).reduce((done, [attribute, of]) => {
        const edit = new Edit(done, `${name}.${attribute}`);
        if (word === "interface") return described(edit, attribute, of).text;
        const warned = shape.schema !== undefined && isGivenSecret(of) ? guarded(edit, attribute, library) : edit;
        return read(warned, attribute, of).text;
      }, whole);
    })
    .join("");
}

/** A text in which each edit must match exactly one place: no edit is lost when a generator changes its output. */
class Edit {
  readonly text: string;
  readonly of: string;

  constructor(text: string, of: string) {
    this.text = text;
    this.of = of;
  }

  at(what: string, place: RegExp, insert: (...found: string[]) => string): Edit {
    const found = [...this.text.matchAll(new RegExp(place, "gm"))].length;
    if (found !== 1) throw new Error(`bindings: ${this.of}: ${what} is found ${found} times, instead of once`);
    return new Edit(this.text.replace(new RegExp(place, "m"), insert), this.of);
  }
}

/** Adds marks above the link of a configuration's property, and a deprecation below it. */
function described(edit: Edit, name: string, attribute: Attribute): Edit {
  if (!attribute.required && !attribute.optional) return edit;
  const marked = marks(attribute);
  // The guess at other providers below the link of an `id` is dropped.
  const link = new RegExp(
    String.raw`^(  \* Docs at Terraform Registry: \{@link \S+#${name} .*\n)(?:  \*\n  \* Please be aware .*\n  \* .*\n)?(?=  \*/$)`,
  );
  return edit.at("the link of its documentation", link, (line) =>
    [
      marked.length > 0 ? comment([...marked, ""], "  ") : "",
      line,
      attribute.deprecated === undefined ? "" : comment(["", `@deprecated ${attribute.deprecated}`], "  "),
    ].join(""),
  );
}

/** Adds the description to a getter, before the generator's own comment. */
function read(edit: Edit, name: string, attribute: Attribute): Edit {
  const place = new RegExp(
    String.raw`^(  // ${name} - computed: .*\n(?:  private .*\n)?)(?:  /\*\*\n((?:  \* .*\n)+)  \*/\n)?(?=  public get )`,
  );
  return edit.at("its getter", place, (_, head, own = "") => {
    const marked = marks(attribute);
    const lines = [
      ...attribute.description.split("\n"),
      ...(marked.length > 0 ? ["", ...marked] : []),
      ...(attribute.deprecated === undefined ? [] : ["", `@deprecated ${attribute.deprecated}`]),
      ...(own === "" ? [] : [""]),
    ];
    return `${head}  /**\n${comment(lines, "  ")}${own}  */\n`;
  });
}

/** Adds the check of names to a constructor; a provider's name is fixed. */
function watched(text: string, name: string, library: string): string {
  if (/^export class \w+ extends \w+\.TerraformProvider\b/.test(text)) return text;
  const base = /^ {4}super\(scope, id, \{\n(?: {6}.*\n)* {4}\}\);\n/;
  return new Edit(text, name).at("its constructor", base, (call) => `${call}    watchNames(${library}, this);\n`).text;
}

/** Adds the warning to the constructor and to the setter of a secret. */
function guarded(edit: Edit, attribute: string, library: string): Edit {
  const name = codemaker.toCamelCase(attribute);
  const warning = (value: string) => `    warnOfClearText(${library}, this, "${name}", ${value});\n`;
  return edit
    .at("its place in the constructor", new RegExp(`^    this\\._${name} = config\\.${name};\n`), (line) =>
      [line, warning(`config.${name}`)].join(""),
    )
    .at("its setter", new RegExp(`^    this\\._${name} = value;\n`), (line) => [line, warning("value")].join(""));
}

function marks({ sensitive, writeOnly }: Attribute): string[] {
  if (writeOnly)
    return ["Write-only and sensitive: given from a variable, never as a literal text. It cannot be read."];
  return sensitive ? ["Sensitive."] : [];
}

/** Lines of a comment, as the generators indent them. */
const comment = (lines: readonly string[], indent: string) =>
  lines.map((line) => `${`${indent}* ${line.replaceAll("*/", "* /")}`.trimEnd()}\n`).join("");

/**
 * Names of the generated classes and interfaces: `Service`, `ServiceConfig`, `ServiceTimeouts`, …
 *
 * @throws Error for a declared secret inside an object, which is no construct that could carry a warning
 */
export function shapesOf({ provider, resources, dataSources, ephemeral }: Catalogue): ReadonlyMap<string, Shape> {
  const shapes = new Map<string, Shape>();
  const add = (name: string, schema: Schema) => {
    const shape = { schema, attributes: schema.attributes };
    shapes.set(name, shape).set(`${name}Config`, shape);
    addNested(shapes, name, schema.attributes);
  };
  const pascal = (type: string) => codemaker.toPascalCase(type);
  add("HostingProvider", provider);
  for (const [type, schema] of resources) add(pascal(type.replace(/^hosting_/, "")), schema);
  for (const [type, schema] of dataSources) add(pascal(`data_${type}`), schema);
  for (const [type, schema] of ephemeral) add(pascal(`ephemeral_${type}`), schema);
  return shapes;
}

function addNested(shapes: Map<string, Shape>, parent: string, attributes: Attributes): void {
  for (const [name, { type }] of Object.entries(attributes)) {
    if (!isNested(type)) continue;
    const given = Object.entries(type.attributes).find(([, attribute]) => isGivenSecret(attribute));
    if (given !== undefined) {
      throw new Error(
        `${parent}, ${name}.${given[0]}: the bindings cannot warn of a secret in clear text in an object`,
      );
    }
    const nested = `${parent}${codemaker.toPascalCase(name)}`;
    const shape = { attributes: type.attributes };
    shapes.set(nested, shape).set(`${nested}OutputReference`, shape);
    addNested(shapes, nested, type.attributes);
  }
}

/** A secret that a configuration declares, in contrast to one that the API returns. */
const isGivenSecret = ({ sensitive, writeOnly, required, optional }: Attribute): boolean =>
  Boolean((sensitive || writeOnly) && (required || optional));
