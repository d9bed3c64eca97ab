/** Each command has a schema of its JSON. The support module checks each document that a suite prints with `--json`. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { nameOf } from "../../scripts/generate/output-schema.ts";
import type { CliCommand } from "../../src/cli/command.ts";
import { buildProgram } from "../../src/cli/program.ts";
import type { GuardedIo } from "../../src/cli/terminal.ts";
import { ROOT } from "../support/built-once.ts";
import { checkOutput, DEFINITIONS, definitionFor, mistakesIn } from "../support/output-schema.ts";

/** Commands without a document, each with the reason. */
const NONE: Readonly<Record<string, string>> = {
  completion: "prints a script",
  "fleet run": "prints its progress on standard error; `fleet status --recorded` prints the results",
  help: "prints text",
  mcp: "answers in the Model Context Protocol",
  "state pull": "prints the state file unchanged",
};

const text = readFileSync(path.join(ROOT, "schemas/output.schema.json"), "utf8");
const program = buildProgram({ columns: undefined } as GuardedIo);

/** Returns the commands that a user can run. A group without an action needs a subcommand. */
function commandsIn(group: CliCommand): string[] {
  const { _actionHandler: action } = group as unknown as { readonly _actionHandler?: unknown };
  return [...(action ? [group.path] : []), ...(group.commands as CliCommand[]).flatMap(commandsIn)];
}

describe("schemas/output.schema.json", () => {
  it("has one definition for each command, and none for a command that does not exist", () => {
    const commands = commandsIn(program).filter((name) => name !== "");
    expect(commands).toEqual(expect.arrayContaining(["plan", "state list", "webhooks", "webhooks listen"]));
    const documented = commands.filter((name) => !(name in NONE));
    expect(documented.filter((name) => !DEFINITIONS.has(nameOf(name)))).toEqual([]);
    expect(Object.keys(NONE).filter((name) => !commands.includes(name) || DEFINITIONS.has(nameOf(name)))).toEqual([]);
    const names = [...DEFINITIONS].filter((name) => /^[a-z-]+$/.test(name));
    expect(names.sort()).toEqual([...documented.map(nameOf), "error"].sort());
  });

  it("is valid, and allows further fields, which a minor version may add", () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false });
    expect(() => ajv.compile(JSON.parse(text))).not.toThrow();
    expect(text).not.toContain('"additionalProperties": false');
  });

  it("refuses an unknown field, a missing field and a wrong type in the tests", () => {
    const document = { format_version: "1.0", changed: ["a.yaml"] };
    expect(mistakesIn("fmt", document)).toEqual([]);
    for (const wrong of [{ ...document, more: 1 }, { changed: [] }, { ...document, changed: "a.yaml" }])
      expect(mistakesIn("fmt", wrong)).not.toEqual([]);
    expect(mistakesIn("none", document)).toEqual(["no schema for none"]);
    expect(() => checkOutput(["fmt", "--json"], '{"more": 1}\n')).toThrow("does not match its schema");
    expect(definitionFor(["--json", "state", "list"])).toBe("state-list");
  });
});
