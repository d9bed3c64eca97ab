import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { signatureOf } from "../../../src/webhooks/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { listening } from "../../support/listening.ts";
import { answering, project, runIn } from "./harness.ts";

const SECRET = "whsec_of-the-subscription-0123456789";
const BODY = JSON.stringify({
  event: "service.suspended",
  data: { service: { id: 1003, domain: "www.acme.example" } },
  timestamp: "2026-11-22T08:00:00+00:00",
});
const env = { HOOK: SECRET, OLD: "whsec_the-one-before" };

describe("webhooks", () => {
  it("without a subcommand lists the subscriptions", async () => {
    const { sandbox, run } = await project();
    sandbox.control.create("webhooks", { url: "https://hooks.acme.example/x", events: ["invoice.paid"] });
    const { code, stdout } = await run(["webhooks"]);
    expect(code).toBe(0);
    expect(stdout).toContain("https://hooks.acme.example/x");
    expect((await run(["webhooks", "--json"])).json()).toHaveLength(1);
  });

  it.each([
    [["webhooks", "lisen"], 'Did you mean "listen"?'],
    [["webhooks", "remove"], "`hostform help webhooks`"],
    [["webhooks", "verify", "body"], "--signature"],
  ])("%j is rejected, and lists nothing", async (args, words) => {
    const { code, stdout, stderr } = await runIn(temporaryFolder(), args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(words);
  });
});

describe("webhooks verify", () => {
  const run = async (body: string | Uint8Array, signature: string, args: string[] = [], parts = {}) => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "body"), body);
    const line = ["webhooks", "verify", "body", "--signature", signature, "--secret-env", "HOOK", ...args];
    return runIn(dir, line, { env, ...parts });
  };

  it("reports a match with the secret's source and the event", async () => {
    const { code, stdout, stderr } = await run(BODY, signatureOf(BODY, SECRET).toUpperCase(), ["--secret-env", "OLD"]);
    expect(stderr).toBe("");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `The signature is valid, with the secret from the environment variable HOOK.
service.suspended of 2026-11-22T08:00:00+00:00: service 1003 (www.acme.example)
`,
    });
  });

  it("finds the matching secret of several, and reports it to programs", async () => {
    const ran = await run(BODY, signatureOf(BODY, env.OLD), ["--secret-env", "OLD", "--json"]);
    expect(ran.json()).toMatchObject({
      fits: true,
      secret_from: "the environment variable OLD",
      event: { event: "service.suspended", known: true, service_id: "1003", invoice_id: null },
    });
  });

  it("uses the exact bytes of a file and of standard input", async () => {
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0x00, 0x0d, 0x0a]);
    const ran = await run(bytes, signatureOf(bytes, SECRET));
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain("The body is not an event");
    const line = [
      "webhooks",
      "verify",
      "-",
      "--signature",
      signatureOf("\uFEFF{}\r\n", SECRET),
      "--secret-env",
      "HOOK",
    ];
    expect((await runIn(temporaryFolder(), line, { env, input: "\uFEFF{}\r\n" })).code).toBe(0);
  });

  it.each([
    ["what an editor added", `${BODY}\n`, signatureOf(BODY, SECRET), "final line break is left out"],
    ["what a parser made of it", JSON.stringify(JSON.parse(BODY), null, 2), signatureOf(BODY, SECRET), "re-serialised"],
    ["a prefix", BODY, `sha256=${signatureOf(BODY, SECRET)}`, "64 hexadecimal digits"],
    ["nothing near", BODY, "0".repeat(64), "each has its own"],
  ])("ends with 1 and names the reason: %s", async (_, body, signature, words) => {
    const ran = await run(body, signature);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 1, stdout: "" });
    expect(ran.stderr.replaceAll(/\s+/g, " ")).toContain(words);
    expect(ran.stderr).toContain("[webhooks.bad_signature]");
    for (const hidden of [SECRET, signatureOf(body, SECRET)]) expect(ran.stderr).not.toContain(hidden);
  });

  it("--json: prints a mismatch as an error", async () => {
    const ran = await run(BODY, "0".repeat(64), ["--json"]);
    expect(ran.json()).toMatchObject({
      errored: true,
      diagnostics: [{ summary: "The signature does not match the body" }],
    });
  });

  it.each([
    ["no secret", ["verify", "body", "--signature", "x"], "webhooks.secret"],
    ["no such file", ["verify", "none", "--signature", "x", "--secret-env", "HOOK"], "there is no such file or folder"],
    ["a folder", ["verify", ".", "--signature", "x", "--secret-env", "HOOK"], "it is a folder"],
    ["a file that never ends", ["verify", "/dev/zero", "--signature", "x", "--secret-env", "HOOK"], "too large"],
    [
      "a variable that anybody could guess",
      ["verify", "/dev/null", "--signature", "x", "--secret-env", "GUESS"],
      "8 characters",
    ],
    ["nothing on standard input", ["verify", "-", "--signature", "x", "--secret-env", "HOOK"], "is empty"],
  ])("refuses %s", async (_, args, words) => {
    const ran = await runIn(temporaryFolder(), ["webhooks", ...args], { env: { ...env, GUESS: "x" } });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toContain("Internal error");
  });
});

describe("signing secrets", () => {
  /** Verifies a body with the secrets from these options, in a folder with these files. */
  const verify = async (args: readonly string[], files: Readonly<Record<string, string>>, secret = SECRET) => {
    const dir = temporaryFolder();
    for (const [name, text] of Object.entries({ body: BODY, ...files })) {
      await writeFile(path.join(dir, name), text, { mode: 0o600 });
    }
    return runIn(dir, ["webhooks", "verify", "body", "--signature", signatureOf(BODY, secret), ...args], { env });
  };

  it("are read from files, one per line, with any line ending", async () => {
    const files = { one: `\uFEFF${env.OLD}\r\n\r\n${SECRET}\r\n` };
    expect((await verify(["--secret-file", "one"], files)).code).toBe(0);
    expect((await verify(["--secret-file", "one"], files, env.OLD)).code).toBe(0);
  });

  it.each([
    ["empty", "\n\n", "It is empty"],
    ["an env file", "HOOK_SECRET=whsec_x\n", "NAME=value"],
    ["an env file in small letters", "hook_secret = whsec_x\n", "NAME=value"],
    ["a YAML file", "secret: whsec_x0123456789\n", "several words"],
    ["JSON", '{\n  "secret": "whsec_x"\n}\n', "JSON"],
    ["JSON on one line", '{"secret":"whsec_x"}', "JSON"],
    ["secrets with comments", `# production\n${SECRET}\n`, "a comment"],
    ["a secret in quotes", `"${SECRET}"\n`, "quotes"],
    ["a secret that anybody could guess", "whsec_x\n", "8 characters"],
    ["a secret that is hidden", "whsec_********\n", "is a placeholder"],
    ["a placeholder", "<signing-secret>\n", "is a placeholder"],
    ["endless, nearly", "x".repeat(1_100_000), "too large"],
    ["in UTF-16", `${SECRET}\0`, "UTF-8"],
    ["something else", "line\n".repeat(30), "30 lines"],
  ])("are not read from a file that is %s", async (_, text, words) => {
    const ran = await verify(["--secret-file", "one"], { one: text });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toContain("whsec_x");
    expect(ran.stderr).not.toContain("readable by other users");
  });

  it.each([
    "whsec-abc-def",
    "12|abcdefghijklmnopqrstuvwxyz0123456789ABCD",
    `whsec_${"0a".repeat(20)}`,
    "agency_token_58911c_x",
  ])("are not repeated if one is passed in place of a variable's name: %s", async (secret) => {
    const lines = [
      ["webhooks", "verify", "body", "--signature", "0".repeat(64), "--secret-env", secret],
      [
        "webhooks",
        "listen",
        "--secret-env",
        "HOOK",
        "--forward-to",
        "http://127.0.0.1:9",
        "--forward-secret-env",
        secret,
      ],
      ["password", "hosting_service.www", "--password-env", secret],
      ["watch", "--listen", "0", "--secret-env", secret, "--json"],
      ["init", "--token-env", secret],
    ];
    for (const line of lines.slice(0, secret.startsWith("agency") ? 3 : undefined)) {
      const { code, stdout, stderr } = await runIn(temporaryFolder(), line, { env });
      expect(code, line[0]).toBe(1);
      expect(stdout + stderr).toContain("is not the name of an environment variable");
      expect(stdout + stderr).not.toContain(secret);
    }
  });

  const webhook = (more = "") => `project: test
webhooks:
  billing:
    url: https://hooks.acme.example/x
    events: [invoice.paid]
${more}`;

  it.each([
    ["the state", "", "the state, hosting_webhook.billing"],
    ["the file of its secret_output", "    secret_output: {file: hook.secret}\n", "the file hook.secret"],
    ["the line of its secret_output", "    secret_output: {env_file: {path: .env, name: HOOK}}\n", "HOOK in .env"],
  ])("are read from %s", async (_, more, place) => {
    const { sandbox, run, write, dir } = await project(webhook(more));
    await writeFile(path.join(dir, ".env"), "OTHER='a b'\n", { mode: 0o600 });
    expect((await run(["apply", "--auto-approve"])).code).toBe(0);
    const { secret = "" } = sandbox.control.list("webhooks")[0] ?? {};
    await write("body", BODY);
    const line = ["webhooks", "verify", "body", "--signature", signatureOf(BODY, secret)];
    const ran = await run([...line, "--webhook", "hosting_webhook.billing"]);
    expect(ran.stdout).toContain(`with the secret from ${place}.`);
    expect(ran.stdout + ran.stderr).not.toContain(secret);
  });

  it("are not read from an imported webhook, or from another kind", async () => {
    const { sandbox, run } = await project(webhook('    import: "201"\n'));
    sandbox.control.create("webhooks", { url: "https://hooks.acme.example/x", events: ["invoice.paid"] });
    const applied = await run(["apply", "--auto-approve"]);
    expect(applied.code, applied.stdout + applied.stderr).toBe(0);
    const line = ["webhooks", "verify", "-", "--signature", "0".repeat(64)];
    const ran = await run([...line, "--webhook", "hosting_webhook.billing"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("that was imported");
    const other = await run([...line, "--webhook", "hosting_service.www"]);
    expect(other.stderr).toContain("no resource hosting_service.www");
  });
});

describe("sandbox trigger, deliveries and redeliver", () => {
  /** Starts a receiver that returns these statuses in order. The last status repeats. */
  async function receiver(...statuses: number[]) {
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      bodies.push(Buffer.concat(chunks).toString());
      const status = statuses.length > 1 ? statuses.shift() : statuses[0];
      response.writeHead(status ?? 200).end();
    });
    const origin = await listening(server);
    return { bodies, url: `${origin}/` };
  }

  async function subscribed(...statuses: number[]) {
    const made = await project();
    const { bodies, url } = await receiver(...statuses);
    const api = { authorization: `Bearer ${made.sandbox.tokens.agency}`, "content-type": "application/json" };
    const events = ["invoice.paid", "service.suspended"];
    await fetch(`${made.sandbox.url}/api/v1/webhooks`, {
      method: "POST",
      headers: api,
      body: JSON.stringify({ url, events }),
    });
    made.sandbox.control.seedServices({ count: 2, plan_id: 11 });
    const parts = { env: { HOSTING_SANDBOX_CONTROL_URL: made.sandbox.controlUrl } };
    const run = (...args: string[]) => made.run(["sandbox", ...args], parts);
    return { ...made, bodies, url, run };
  }

  it("sends an event, lists its delivery, and sends it again", async () => {
    const { bodies, url, run } = await subscribed(204);
    const sent = await run("trigger", "service.suspended", "--service", "1003");
    expect(sent.stderr).toBe("");
    expect(sent.stdout).toMatch(/^ID +EVENT +WEBHOOK +TO +STATUS +ATTEMPTS +LAST ANSWER\n/);
    const row = new RegExp(`service\\.suspended +201 +${url} +delivered +1 +204`);
    expect(sent.stdout).toMatch(row);
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain("1003");

    const [first] = (await run("deliveries", "--json")).json();
    const again = await run("redeliver", String(first.id));
    expect(again.stdout).toMatch(row);
    expect(bodies[1]).toBe(bodies[0]);

    const listed = (await run("deliveries")).stdout.trimEnd().split("\n");
    expect(listed).toHaveLength(3);
    expect(Number.parseInt(listed[1] ?? "", 10), "newest first").toBeGreaterThan(first.id);
    const shown = (await run("deliveries", String(first.id))).stdout;
    expect(shown).toMatch(/status +delivered/);
    expect(shown).toMatch(/ATTEMPT +RESPONSE +ERROR\n.*204/);
    expect(shown).toContain('{"event":"service.suspended"');
  });

  it("reports that a rejected delivery is retried", async () => {
    const { run } = await subscribed(500);
    const sent = await run("trigger", "invoice.paid");
    expect(sent.stdout).toMatch(/pending +1 +500/);
    expect(sent.stderr).toContain("1 delivery will be tried again.");
    expect((await run("deliveries", "--json")).json()).toMatchObject([
      { status: "pending", attempts: [{ status: 500 }] },
    ]);
  });

  it("passes on the sandbox's rejections", async () => {
    const { run } = await subscribed(200);
    const none = await run("trigger", "service.expiring");
    expect(none.code).toBe(1);
    expect(none.stderr).toContain("The sandbox rejected the request: No webhook of the account agency subscribes");
    expect((await run("redeliver", "99")).stderr).toContain("99");
    expect((await run("deliveries")).stdout).toBe("No event has been sent.\n");
  });

  it.each<[why: string, args: string[], url: () => Promise<string | undefined>, words: string]>([
    ["no address", ["deliveries"], async () => undefined, "The control URL of a sandbox is missing"],
    ["another machine", ["deliveries"], async () => "http://sandbox.example/", "must be on this machine"],
    ["nobody there", ["deliveries"], async () => "http://127.0.0.1:9/", "No sandbox responds"],
    ["a page", ["deliveries"], () => answering(200, "text/html", "<p>hi"), "not the control port"],
    ["another program", ["deliveries"], () => answering(200, "application/json", "{}"), "is not the control port"],
    [
      "an unknown event",
      ["trigger", "invoice.piad"],
      async () => "http://127.0.0.1:9/",
      "Allowed choices are service.provisioned",
    ],
    ["an id that is none", ["redeliver", "x"], async () => "http://127.0.0.1:9/", "is not the id of a delivery"],
    ["a path for an id", ["deliveries", "../state"], async () => "http://127.0.0.1:9/", "is not the id"],
  ])("refuses %s", async (_, args, url, words) => {
    const ran = await runIn(temporaryFolder(), ["sandbox", ...args], {
      env: { HOSTING_SANDBOX_CONTROL_URL: await url() },
    });
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toContain("Internal error");
  });
});
