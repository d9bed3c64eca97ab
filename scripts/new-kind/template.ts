/** The forms of a new kind's name. */
export interface KindNames {
  /** `mail-box` */
  readonly file: string;
  /** `mailBox` */
  readonly variable: string;
  /** `hosting_mail_box` */
  readonly type: string;
  /** `mail_boxes` */
  readonly section: string;
  /** `mail box` */
  readonly noun: string;
}

/** The forms of a kebab-case noun; undefined when it is not one. */
export function namesOf(name: string): KindNames | undefined {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) return undefined;
  const snake = name.replaceAll("-", "_");
  return {
    file: name,
    variable: name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    type: `hosting_${snake}`,
    section: plural(snake),
    noun: name.replaceAll("-", " "),
  };
}

function plural(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
}

/** The source of a new kind: complete in form, refusing to create anything until its request is written. */
export function kindFile({ variable, type, section, noun }: KindNames): string {
  return `import { z } from "zod";
import { fail } from "../model/index.ts";
import { attribute, createdAtAttribute, deletionPolicy, idAttribute } from "./attribute.ts";
import type { Kind } from "./kind.ts";

const attributes = z.strictObject({
  id: idAttribute("${noun}"),
  name: attribute(z.string().min(1), { description: "Name of the ${noun}.", change: "immutable", example: "example" }),
  deletion_policy: deletionPolicy(),
  created_at: createdAtAttribute(),
});

/** See kind.ts for the contract, client-account.ts for a simple kind and service/ for one with all there is. */
export const ${variable}: Kind = {
  type: "${type}",
  section: "${section}",
  noun: "${noun}",
  // Reports describe a ${noun} by these words; \`site\`, \`ordered\`, \`access\` and \`integration\` say what a change means to people.
  words: { name: "name" },
  summary: "A ${noun}.",
  description: "What it is, what the API can do with it, what a change and the removal of its block mean.",
  example: \`${section}:
  example:
    name: example\`,
  attributes,
  schemaVersion: 0,
  // keyed: the create takes an Idempotency-Key; listable: the collection shows whether it happened; blind: nothing does.
  creation: "listable",
  // delete: needs \`remove\`; policy: deletion_policy decides.
  removal: "policy",
  naturalKey: ({ name }) => (typeof name === "string" ? name : undefined),
  create: () => fail("internal", "${type} does not say yet which request creates it"),
  created: () => ({ id: null, attributes: {}, invoice: null }),
  // isNamedBy: events of the API that make \`watch\` read it. quote: the price of an order, for what is paid.
};
`;
}

/** The examples of the kind's page for Terraform: file name -> text. Without them no pages can be generated. */
export function exampleFiles({ type, noun }: KindNames): Readonly<Record<string, string>> {
  return {
    "resource.tf": `resource "${type}" "example" {\n  name = "example"\n}\n`,
    "import-by-string-id.tf": `import {\n  to = ${type}.example\n  id = "601"\n}\n`,
    "import.sh": `# By the id of the ${noun}.\nterraform import ${type}.example 601\n`,
  };
}

/** Where a new kind is written by hand: the place, and what belongs there. The last five are for endpoints that are new. */
export function placesOf({ file, type }: KindNames): readonly (readonly [place: string, what: string])[] {
  return [
    [`src/core/kinds/${file}.ts`, "the attributes, how it is listed, and the request that creates it"],
    [`test/conformance/samples/${type}.ts`, "a sample; the conformance suite fails until it is there"],
    [`examples/resources/${type}`, "what its page for Terraform shows; the tests apply and import it"],
    [
      "src/core/api/endpoints.ts",
      "a row for each: method, path, ability, what may be repeated, the record in its answer",
    ],
    ["src/core/api/records.ts", "the record, and how it is recognised and read"],
    ["src/core/api/client.ts", "the methods of HostingClient, and those that only read in Reader"],
    ["schemas/openapi.yaml", "the paths and their schemas, from the specification"],
    ["src/sandbox", "a name in operations.ts and the endpoint in routes; it imports nothing of the rest"],
  ];
}
