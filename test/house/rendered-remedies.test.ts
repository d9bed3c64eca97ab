/** Parses every action of a remedy in every language. The texts of the core contain no commands and no snippets. */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { buildProgram } from "../../src/cli/program.ts";
import type { GuardedIo } from "../../src/cli/terminal.ts";
import { kinds } from "../../src/core/kinds/index.ts";
import type { Advice, Json, RemedyAction, RemedyText } from "../../src/core/model/index.ts";
import { stackRemedies } from "../../src/fronts/stacks/remedies.ts";
import { terraformRemedies } from "../../src/fronts/terraform/remedies.ts";
import { yamlRemedies } from "../../src/fronts/yaml/remedies.ts";
import fc from "../support/fc.ts";
import { itWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";

const src = path.resolve(import.meta.dirname, "../../src");

/**
 * Texts with characters that are special in one of the languages. No text contains a backtick, because backticks
 * delimit snippets.
 */
const text = fc.string({
  unit: fc.constantFrom("a", "B", "1", " ", "'", '"', "\\", "${", "%{", "\n", "\t", "#", ":", "é", "{", "}", "-"),
  minLength: 1,
  maxLength: 12,
});
const value: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.record({ name: text, at: fc.integer() }),
);
const none = fc.constant({});
const when = fc.option(fc.constant({ when: "it was renamed" }), { nil: {} });

const ADVICE: readonly Advice[] = [
  "new_plan",
  "plan_file",
  "name_plan",
  "name_report",
  "name_file",
  "choose_environment",
  "one_state",
  "copy_state",
  "push_state",
  "push_kept",
  "join_project",
  "decrypt_state",
  "trust_author",
  "stack_output",
  "stack_app",
  "stack_folder",
  "synthesize",
  "synthesize_elsewhere",
  "name_stack",
  "apply_first",
  "own_arguments",
  "give_variable",
  "stray_variable",
  "adopt_folder",
  "clients_file",
  "export",
];

/** One arbitrary for each action. The compiler rejects a new action without an arbitrary. */
const ACTIONS: { readonly [action in RemedyAction["do"]]: fc.Arbitrary<object> } = {
  import: fc.record({ id: text, forgetFirst: fc.constant(true as const) }, { requiredKeys: [] }),
  recover: fc.constantFrom({ providers: ["default"] }, { providers: ["beta", "o'gamma"] }),
  restore_state: fc.record({ backup: text }),
  move: fc.record(
    { from: text, occupied: fc.constant(true as const), removed: fc.constant(true as const) },
    { requiredKeys: ["from"] },
  ),
  forget: fc.record(
    { address: text, id: text, why: fc.constantFrom("import", "restore", "replace") },
    { requiredKeys: [] },
  ),
  reorder: fc.record({ replayed: fc.constant(true) }, { requiredKeys: [] }),
  renew: none,
  order_anyway: none,
  resolve: fc.record(
    { as: fc.constantFrom("absent", "forced"), object: text, removing: fc.constant(true) },
    { requiredKeys: [] },
  ),
  redeclare: fc.record({ attribute: fc.constant("term"), value, paid: fc.constantFrom(true, false, "once") }),
  follow: fc.record({ attribute: fc.constant("term"), value }, { requiredKeys: ["attribute"] }),
  correct_import: fc.record({ attribute: fc.constant("term"), value }),
  set: fc.record(
    { attribute: fc.constant("term"), value, example: fc.constant(true) },
    { requiredKeys: ["attribute"] },
  ),
  use_provider: fc.record({ provider: fc.constantFrom("default", "beta") }),
  name_project: none,
  release: fc.record({
    policies: fc.constantFrom(["forget"], ["forget", "suspend"]),
    to: fc.constantFrom("remove", "destroy"),
  }),
  map_status: fc.record({
    provider: fc.constantFrom("default", "beta"),
    word: text,
    phases: fc.constantFrom(["live"], ["live", "suspended"], ["suspended", "live"]),
  }),
  allow: fc.record({
    limits: fc.constantFrom(
      [{ limit: "orders", amount: 2 }],
      [{ limit: "spend", currency: "USD", amount: 9 }, { limit: "unknown_prices" }],
      [{ limit: "removals" }],
      [{ limit: "insecure_http" }],
      [{ limit: "older_state" }],
    ),
  }),
  apply_again: none,
  see: fc.record({
    what: fc.constantFrom("plans", "services", "addresses", "recorded", "pending", "requests", "sandbox", "swap"),
  }),
  advise: fc.record({
    on: fc.constantFrom(...ADVICE),
    name: fc.constantFrom("www", "a b"),
    other: fc.constant("shop"),
  }),
  wake: fc.record({ pid: fc.constantFrom(0, 4113) }),
  wait_for_lock: none,
  unlock: fc.record({ id: fc.constant("0f-1") }, { requiredKeys: [] }),
  encrypt_state: none,
  name_state: none,
  report_shape: none,
};
const action = fc
  .oneof(...Object.entries(ACTIONS).map(([name, more]) => more.map((fields) => ({ do: name, ...fields }))))
  .chain((one) => when.map((condition) => ({ ...one, ...condition }) as RemedyAction));

const ADDRESS = `hosting_grant.acme["o'brien@acme.example"]`;
const snippetsOf = (rendered: string) => [...rendered.matchAll(/`([^`]+)`/g)].map(([, snippet = ""]) => snippet);
const rendered = (remedies: RemedyText, one: RemedyAction) => remedies({ remedies: [one], address: ADDRESS }) ?? "";

const program = buildProgram({ columns: undefined } as GuardedIo);

/** Returns the words of a command line, as bash, ksh and zsh parse them. */
const wordsOf = (line: string): string[] =>
  (line.match(/(?:\$?'[^']*'|\\'|[^\s'])+/g) ?? []).map((word) =>
    word.replace(/\$'([^']*)'|'([^']*)'|\\(')/g, (_, bytes, quoted, escaped) =>
      bytes === undefined ? (quoted ?? escaped) : decodeURIComponent(bytes.replace(/%/g, "%25").replaceAll("\\x", "%")),
    ),
  );

/** Returns the unknown commands and options of a hostform command line. */
function unknownIn(line: string): string[] {
  const [, ...words] = wordsOf(line);
  let command = program;
  let at = 0;
  for (let next = command; next !== undefined; at += 1) {
    command = next;
    next = command.commands.find((one) => one.name() === words[at]) as typeof program;
  }
  if (command === program) return [line];
  const options = [...command.options, ...program.options];
  const known = new Set(options.flatMap(({ short, long }) => [short, long]));
  // A value of an option may begin with a hyphen, but has another form than an option.
  return words.slice(at - 1).filter((word) => /^--?[a-z]+/.test(word) && !known.has(word) && !/['"\n ]/.test(word));
}

describe("every action", () => {
  it.each([
    ["a declaration in YAML", yamlRemedies],
    ["a stack", stackRemedies("--stack out")],
  ])("of %s says something, with commands that there are", (_, remedies) => {
    fc.assert(
      fc.property(action, (one) => {
        const said = rendered(remedies, one);
        expect(said).toMatch(/^(?:If .*: )?\S.*[.`]$/s);
        for (const snippet of snippetsOf(said)) if (/^hostform /.test(snippet)) expect(unknownIn(snippet)).toEqual([]);
      }),
    );
  });

  it("for a stack names the stack in its commands", () => {
    for (const one of fc.sample(action, 200))
      for (const snippet of snippetsOf(rendered(stackRemedies("--stack out"), one)))
        if (/^hostform (?!doctor|sandbox)/.test(snippet)) expect(snippet).toMatch(/ --stack out$/);
  });

  it("quotes an address and an id for a shell", () => {
    fc.assert(
      fc.property(text, (id) => {
        const [command = ""] = snippetsOf(rendered(yamlRemedies, { do: "import", id, when: "it is" }));
        expect(wordsOf(command)).toEqual(["hostform", "import", ADDRESS, id]);
      }),
    );
  });
});

describe("commands that change the state", () => {
  const AT = { remedies: [] as RemedyAction[], address: ADDRESS };
  const says = (remedies: RemedyText, one: RemedyAction) => remedies({ ...AT, remedies: [one] }) ?? "";

  /**
   * Returns true for actions that no declaration supports: a block has one entry, and no block repairs or swaps
   * entries.
   */
  const needsCommand = (one: RemedyAction) =>
    (one.do === "import" && one.forgetFirst === true) ||
    (one.do === "move" && one.occupied === true && one.removed !== true) ||
    (one.do === "forget" && (one.why === "restore" || one.why === "replace")) ||
    (one.do === "see" && (one.what === "recorded" || one.what === "swap"));
  const fronts: readonly (readonly [string, RemedyText])[] = [
    ["YAML", yamlRemedies],
    ["a stack", stackRemedies("--stack out")],
    ...[...kinds.values()].map((kind) => [`Terraform (${kind.type})`, terraformRemedies(kind)] as const),
  ];

  it.each(fronts)("occur in remedies of %s only if no declaration has the same effect", (front, remedies) => {
    // A `removed` block of a stack names no instance.
    const address = front === "a stack" ? "hosting_service.acme" : ADDRESS;
    fc.assert(
      fc.property(action, (one) => {
        const { address: _, ...alone } = one as RemedyAction & { address?: string };
        const said = remedies({ remedies: [alone], address }) ?? "";
        if (!needsCommand(one)) expect(said).not.toMatch(/state (?:rm|mv)\b/);
      }),
    );
  });

  it.each([
    [{ do: "move", from: "hosting_service.a" }, { moved: [{ from: "hosting_service.a", to: ADDRESS }] }],
    [{ do: "forget" }, { removed: [{ from: ADDRESS, destroy: false }] }],
    [{ do: "forget", why: "import" }, { removed: [{ from: ADDRESS, destroy: false }] }],
  ] as const)("are replaced by a declaration in YAML: %j", (one, expected) => {
    const [snippet = ""] = snippetsOf(says(yamlRemedies, one));
    expect(parseDocument(snippet).toJS()).toEqual(expected);
  });

  it.each([
    [{ do: "move", from: "hosting_service.b" }, { moved: [{ from: "hosting_service.b", to: "hosting_service.a" }] }],
    [{ do: "forget" }, { removed: [{ from: "hosting_service.a", lifecycle: [{ destroy: false }] }] }],
  ] as const)("are replaced by a block of a stack: %j", (one, expected) => {
    const said = stackRemedies("--stack out")({ remedies: [one], address: "hosting_service.a" }) ?? "";
    expect(JSON.parse(`{${snippetsOf(said)[0]}}`)).toEqual(expected);
  });

  it("never order a paid object again if it exists once", () => {
    for (const [, remedies] of fronts)
      expect(says(remedies, { do: "redeclare", attribute: "years", value: 1, paid: "once" })).toMatch(
        /^(?:Restore .*|Set the old value back)\.$/,
      );
  });
});

describe("a value", () => {
  it("has the same meaning in YAML", () => {
    fc.assert(
      fc.property(value, (given) => {
        const [snippet = ""] = snippetsOf(rendered(yamlRemedies, { do: "set", attribute: "term", value: given }));
        const document = parseDocument(snippet);
        expect(document.errors).toEqual([]);
        // A declaration contains `$${` for the text `${`.
        expect(JSON.stringify(document.toJS()).replaceAll("$${", "${")).toBe(JSON.stringify({ term: given }));
      }),
    );
  });

  it("has the same meaning in a synthesized stack", () => {
    fc.assert(
      fc.property(value, (given) => {
        const [snippet = ""] = snippetsOf(rendered(stackRemedies(""), { do: "set", attribute: "term", value: given }));
        const undoubled = snippet.replace(/([$%])\1\{/g, "$1{");
        expect(JSON.stringify(JSON.parse(`{${undoubled}}`))).toBe(JSON.stringify({ term: given }));
      }),
    );
  });

  itWith(TERRAFORM)("is HCL to Terraform itself, as is every block", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "hostform-rendered-"));
    try {
      const samples = [...kinds.values()].flatMap((kind, seed) =>
        fc.sample(action, { numRuns: 200, seed }).flatMap((one) => snippetsOf(rendered(terraformRemedies(kind), one))),
      );
      const hcl = [...new Set(samples)].filter((one) => /^(?:[a-z_]+ = \S|import \{)/.test(one));
      expect(hcl.length).toBeGreaterThan(20);
      for (const [index, snippet] of hcl.entries()) writeFileSync(path.join(folder, `s${index}.tf`), `${snippet}\n`);
      const { stderr, status } = spawnSync("terraform", ["fmt", "-no-color", "-write=false", "-list=false", folder], {
        encoding: "utf8",
      });
      expect(stderr.match(/^Error: .*(?:\n.*){4}/gm) ?? []).toEqual([]);
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("for Terraform names only the hostform commands for the sandbox and for pending creates", () => {
    for (const kind of kinds.values())
      for (const one of fc.sample(action, 60))
        for (const snippet of snippetsOf(rendered(terraformRemedies(kind), one)))
          expect(snippet).not.toMatch(/^(?:hostform (?!sandbox|resolve)|--(?!adopt|absent))|^[a-z_]+: /);
  });
});

describe("the core, the project and the reports", () => {
  const verbs = program.commands.map((command) => command.name()).join("|");
  const SPEAKS = new RegExp(
    String.raw`\bhostform (?:${verbs})\b|(?<![\w-])--[a-z]|\bterraform (?:apply|import|init|plan|state|taint|untaint)\b`,
  );
  /** Matches a line of YAML between backticks, in a string or escaped in a template. */
  const YAML = /\\`[a-z_]+: [^`]|["'][^"'\n]*(?<!\\)`[a-z_]+: [^`]/;
  /**
   * Descriptions of kinds are documentation: the reference pages, the YAML schema and the Terraform schema (`hcl`)
   * show them. They contain commands and snippets, but no remedy uses them.
   */
  const DOCUMENTATION =
    /^core\/kinds\/(?:attribute|common|.*description|provider-settings|secret-output|domain|webhook|.*\/index)\.ts$/;
  /** Lines that are not remedies: names of formats, hashed texts, options of git, titles of pages and a command of Amazon's program. */
  const NO_COMMAND =
    /`hostform (?:account|journal)|"hostform state key"|const FORM|\bgit\b|rev-parse|ls-tree|aws configure|(?:"|`|### )hostform (?:plan|state)(?:"|: \$|\\n)/;

  it("contain no command, no flag and no declaration snippet in a text", () => {
    const found = globSync("{core,project,report}/**/*.ts", { cwd: src })
      .filter((file) => !DOCUMENTATION.test(file) && file !== "report/page.ts")
      .flatMap((file) =>
        readFileSync(path.join(src, file), "utf8")
          .split("\n")
          .map((line, index) => ({ place: `${file}:${index + 1}`, line }))
          .filter(({ line }) => !/^\s*(?:\/\*|\*|\/\/)/.test(line) && !NO_COMMAND.test(line))
          .filter(
            ({ line }) => SPEAKS.test(line.replace(/\s\/\/ .*$/, "")) || (file.startsWith("core") && YAML.test(line)),
          ),
      );
    expect(found.map(({ place, line }) => `${place} ${line.trim()}`)).toEqual([]);
  });
});
