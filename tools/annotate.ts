import codemaker from "codemaker";
import type { Attribute } from "../src/core/model/schema.ts";
import { isGivenSecret, type Shape } from "./shapes.ts";

/**
 * What the generators leave out of one file of bindings, from the schema: the descriptions of classes and of what is read
 * from them, marks of what is sensitive, write-only or deprecated, a warning where a secret is given as a literal text, and a
 * refusal of two blocks of one name (`src/constructs/binding-checks.ts`).
 *
 * @param text as the generator has written it
 * @param library the name of the namespace import of the library in it
 * @throws Error when something of the schema is not found where the generators used to write it
 */
export function annotate(text: string, library: string, shapes: ReadonlyMap<string, Shape>): string {
  return text
    .replace(/^(\* Represents a .*\n)(?=\*\/\nexport class (\w+))/gm, (line: string, _, name: string) =>
      [line, ...describedClass(shapes.get(name))].join(""),
    )
    .split(/^(?=export (?:class|interface) )/m)
    .map((part) => {
      const [, word, name = ""] = /^export (class|interface) (\w+)/.exec(part) ?? [];
      const shape = shapes.get(name);
      if (shape === undefined) return part;
      const whole = word === "class" && shape.schema !== undefined ? watched(part, name, library) : part;
      return Object.entries(shape.attributes).reduce((done, [attribute, of]) => {
        const edit = new Edit(done, `${name}.${attribute}`);
        if (word === "interface") return described(edit, attribute, of).text;
        // Objects within a resource are no constructs; `shapesOf` has seen to it that no secret is given in one.
        const warned = shape.schema !== undefined && isGivenSecret(of) ? guarded(edit, attribute, library) : edit;
        return read(warned, attribute, of).text;
      }, whole);
    })
    .join("");
}

/** A text that is changed at exactly one place at a time, so that no change is lost when a generator writes it again. */
class Edit {
  readonly text: string;
  readonly of: string;

  constructor(text: string, of: string) {
    this.text = text;
    this.of = of;
  }

  at(what: string, place: RegExp, insert: (...found: string[]) => string): Edit {
    const found = [...this.text.matchAll(new RegExp(place, "gm"))].length;
    if (found !== 1) throw new Error(`bindings: ${this.of}: ${what} is found ${found} times, in place of once`);
    return new Edit(this.text.replace(new RegExp(place, "m"), insert), this.of);
  }
}

/** The class: its description below the link to its page. */
const describedClass = (shape: Shape | undefined) =>
  shape?.schema === undefined ? [] : comment(["", ...shape.schema.description.split("\n")], "");

/** The property of a configuration: marks above the link to its page. */
function described(edit: Edit, name: string, attribute: Attribute): Edit {
  if (!attribute.required && !attribute.optional) return edit;
  const marked = marks(attribute);
  // Below the link of an `id` stands a guess at providers of another kind, which is left out.
  const link = new RegExp(
    String.raw`^(  \* Docs at Terraform Registry: \{@link \S+#${name} .*\n)(?:  \*\n  \* Please be aware .*\n  \* .*\n)?(?=  \*/$)`,
  );
  return edit.at("the link of its documentation", link, (line) =>
    [...(marked.length > 0 ? comment([...marked, ""], "  ") : []), line].join(""),
  );
}

/** What is read: the whole description; of what is computed it is the only one. A generator's own comment is kept. */
function read(edit: Edit, name: string, attribute: Attribute): Edit {
  const place = new RegExp(
    String.raw`^(  // ${name} - computed: .*\n(?:  private .*\n)?)(?:  /\*\*\n((?:  \* .*\n)+)  \*/\n)?(?=  public get )`,
  );
  return edit.at("its getter", place, (_, head, own = "") => {
    const marked = marks(attribute);
    const lines = [
      ...attribute.description.split("\n"),
      ...(marked.length > 0 ? ["", ...marked] : []),
      ...(own === "" ? [] : [""]),
    ];
    return `${head}  /**\n${comment(lines, "  ").join("")}${own}  */\n`;
  });
}

/** The constructor of what has a name in a stack; that of a provider is fixed. */
function watched(text: string, name: string, library: string): string {
  if (/^export class \w+ extends \w+\.TerraformProvider\b/.test(text)) return text;
  const base = /^ {4}super\(scope, id, \{\n(?: {6}.*\n)* {4}\}\);\n/;
  return new Edit(text, name).at("its constructor", base, (call) => `${call}    watchNames(${library}, this);\n`).text;
}

/** The two places where a secret is given: the constructor and the setter. */
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

/** Lines of a comment, as the generators indent them, each with its end of line. */
const comment = (lines: readonly string[], indent: string) =>
  lines.map((line) => `${indent}* ${line.replaceAll("*/", "* /")}`.trimEnd().concat("\n"));
