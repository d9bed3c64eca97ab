import { describe, expect, it } from "vitest";
import type { OutputState } from "../../../src/core/model/index.ts";
import { createFileStore } from "../../../src/core/record/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { project, type Ran, runIn } from "./harness.ts";

const SECRET = "canary of an output";

const RECORDED: Record<string, OutputState> = {
  site_id: { value: "1001", type: "string", sensitive: false },
  paid: { value: true, type: "bool", sensitive: false },
  price: { value: 12.5, type: "number", sensitive: false },
  events: { value: ["a", "b"], type: ["set", "string"], sensitive: false },
  note: { value: "\u001b[2Jtwo\nlines", type: "string", sensitive: false },
  secret: { value: SECRET, type: "string", sensitive: true },
};

/** Runs `output` in a folder whose state contains these outputs. */
async function output(args: readonly string[], outputs = RECORDED, terminal = false, env = {}): Promise<Ran> {
  const dir = temporaryFolder();
  const open = await createFileStore({ path: `${dir}/hosting.tfstate` }).open({
    write: true,
    command: "test",
    timeoutMs: 0,
  });
  await open.setOutputs(new Map(Object.entries(outputs)));
  await open.close();
  return runIn(dir, ["output", ...args], { terminal, env });
}

describe("output", () => {
  it("prints all outputs as Terraform does, and hides the sensitive ones", async () => {
    const { code, stdout, stderr } = await output([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(`events = toset([
  "a",
  "b",
])
note = <<EOT
\\u001b[2Jtwo
lines
EOT
paid = true
price = 12.5
secret = <sensitive>
site_id = "1001"
`);
  });

  it.each([
    [["site_id"], '"1001"\n'],
    [["secret"], `"${SECRET}"\n`],
    [["--json", "events"], '[\n  "a",\n  "b"\n]\n'],
    [["--json", "secret"], `"${SECRET}"\n`],
    [["--raw", "site_id"], "1001"],
    [["--raw", "price"], "12.5"],
    [["--raw", "paid"], "true"],
    [["--raw", "secret"], SECRET],
    [["--raw", "note"], "\u001b[2Jtwo\nlines"],
  ])("%j prints %j", async (args, expected) => {
    expect(await output(args)).toMatchObject({ code: 0, stdout: expected, stderr: "" });
  });

  it("prints no control character to a terminal", async () => {
    expect((await output(["--raw", "note"], RECORDED, true)).stdout).toBe("\\u001b[2Jtwo\nlines");
    expect((await output(["note"], RECORDED, true)).stdout).not.toContain("\u001b[2J");
    expect((await output(["--json"])).stdout).not.toContain("\u001b");
  });

  it("is escaped with the same JSON value if the raw text would be a command of a CI agent", async () => {
    const recorded = {
      ...RECORDED,
      command: { value: "::set-env name=A::b", type: "string" as const, sensitive: false },
    };
    const [raw, json] = [
      await output(["--raw", "command"], recorded, false, { TF_BUILD: "True" }),
      await output(["--json", "command"], recorded, false, { TF_BUILD: "True" }),
    ];
    expect(raw).toMatchObject({ code: 1, stdout: "" });
    expect(raw.stderr).toContain("Print it outside CI, or as JSON.");
    expect(json.json()).toBe("::set-env name=A::b");
    expect((await output(["--raw", "command"], recorded)).stdout).toBe("::set-env name=A::b");
  });

  it("prints all outputs as JSON in Terraform's format, including sensitive values", async () => {
    const { stdout, json } = await output(["--json"]);
    expect(json().secret).toEqual({ sensitive: true, type: "string", value: SECRET });
    expect(json().events).toEqual({ sensitive: false, type: ["set", "string"], value: ["a", "b"] });
    expect(stdout.indexOf('"sensitive"')).toBeLessThan(stdout.indexOf('"type"'));
  });

  it.each([
    [["site_di"], /The state has no output site_di. Did you mean "site_id"\?/],
    [["--raw"], /--raw requires the name of an output/],
    [["--raw", "--json", "site_id"], /cannot be combined/],
    [["--raw", "events"], /cannot be printed raw/],
  ])("%j is an error", async (args, expected) => {
    const { code, stdout, stderr } = await output(args);
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(expected);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it("prints a warning, and no error, without outputs", async () => {
    const dir = temporaryFolder();
    expect(await runIn(dir, ["output"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringMatching(/The state has no outputs/),
    });
    expect(await runIn(dir, ["output", "--quiet"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect((await runIn(dir, ["output", "--json"])).json()).toEqual({});
    expect(await runIn(dir, ["output", "site"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/The state has no outputs/),
    });
  });
});

const DECLARED = `project: test
webhooks:
  hook:
    url: https://hooks.acme.example/
    events: [invoice.paid, invoice.created]
outputs:
  id: \${hosting_webhook.hook.id}
  events: \${hosting_webhook.hook.events}
  signing:
    value: \${hosting_webhook.hook.secret}
    sensitive: true
`;

describe("outputs of a declaration", () => {
  it("are planned, recorded, printed and read", async () => {
    const made = await project(DECLARED);
    const planned = await made.run(["plan"]);
    expect(planned.stdout).toContain(`Changes to Outputs:
  + events  = [
      + "invoice.created",
      + "invoice.paid",
    ]
  + id      = (known after apply)
  + signing = (sensitive: hosting_webhook.hook.secret)
`);
    const applied = await made.run(["apply", "--auto-approve"]);
    const { code, stdout: id } = await made.run(["output", "--raw", "id"]);
    expect({ code, id }).toEqual({ code: 0, id: expect.stringMatching(/^\d+$/) });
    expect(applied.stdout.slice(applied.stdout.indexOf("\nOutputs:"))).toBe(`
Outputs:

events = toset([
  "invoice.created",
  "invoice.paid",
])
id = "${id}"
signing = <sensitive>
`);
    const secret = (await made.run(["output", "--raw", "signing"])).stdout;
    expect(secret.length).toBeGreaterThan(10);
    expect(applied.stdout + planned.stdout).not.toContain(secret);
    expect(JSON.parse(await made.read("hosting.tfstate")).outputs).toEqual({
      events: { value: ["invoice.created", "invoice.paid"], type: ["set", "string"] },
      id: { value: id, type: "string" },
      signing: { value: secret, type: "string", sensitive: true },
    });
    const again = await made.run(["plan", "--detailed-exitcode"]);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/No changes. Your account matches the declaration./),
    });
  });

  it("are a change of their own, without a request", async () => {
    const made = await project(DECLARED);
    await made.run(["apply", "--auto-approve"]);
    const serial = async () => JSON.parse(await made.read("hosting.tfstate")).serial as number;
    const before = await serial();
    await made.write("hosting.yaml", DECLARED.replace("id: $", "hook: $"));
    const planned = await made.run(["plan", "--detailed-exitcode"]);
    expect(planned.code).toBe(2);
    expect(planned.stdout).toMatch(/ {2}\+ hook = "\d+"\n {2}- id {3}= "\d+" -> null\n/);
    expect(planned.stdout).toContain("Applying this plan records the outputs.");
    expect(await made.run(["apply"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Cannot ask for approval/),
    });
    const sent = made.sandbox.control.requests().filter(({ method }) => method !== "GET").length;
    const applied = await made.run(["apply", "--auto-approve", "--json"]);
    expect(made.sandbox.control.requests().filter(({ method }) => method !== "GET")).toHaveLength(sent);
    const messages = applied.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(messages.filter(({ type }) => type === "outputs").map(({ outputs }) => Object.keys(outputs))).toEqual([
      ["events", "hook", "id", "signing"],
      ["events", "hook", "signing"],
    ]);
    expect(await serial()).toBe(before + 1);
    await made.run(["apply", "--auto-approve"]);
    expect(await serial()).toBe(before + 1);
    expect((await made.run(["plan"])).stdout).toContain("No changes.");
  });
});
