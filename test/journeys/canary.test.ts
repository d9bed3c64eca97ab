import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

/** Unique secrets, in characters that JSON, URLs, HTML and shells escape. */
const GIVEN = 'Canary "given" & <pass>/word+1';
const VARIABLE = "canary-from-variable\\with-backslash";
const FROM_FILE = "canary-from-file-0123456789";
const FROM_COMMAND = "canary-from-command-9876543210";
const STATE_KEY = Buffer.from("canary-key-of-the-state-32-bytes").toString("base64");
const PG_PASSWORD = "canary-of-postgres";
const HTTP_PASSWORD = "canary-of-the-http-backend";

const declaration = (version: number, more: object = {}) => ({
  project: "canary",
  services: {
    www: {
      plan_id: 11,
      currency: "USD",
      domain: "www.acme.example",
      deletion_policy: "forget",
      password: "${env.WWW_PASSWORD}",
      password_version: version,
    },
    shop: {
      plan_id: 11,
      currency: "USD",
      domain: "shop.acme.example",
      deletion_policy: "forget",
      password: { file: "shop.password" },
      password_version: version,
    },
    blog: {
      plan_id: 11,
      currency: "USD",
      domain: "blog.acme.example",
      deletion_policy: "forget",
      password: { command: ["vault", "read", "blog"] },
      password_version: version,
    },
    vps: { plan_id: 31, currency: "USD", deletion_policy: "forget", password_version: version },
  },
  webhooks: {
    kept: { url: "https://hooks.acme.example/kept", events: ["invoice.paid"] },
    written: {
      url: "https://hooks.acme.example/written",
      events: ["invoice.paid"],
      secret_output: { file: "hook.secret" },
    },
  },
  migration_requests: {
    move: {
      domain: "old.acme.example",
      questions: { source: "cpanel", callback_key: "${hosting_webhook.kept.secret}" },
      deletion_policy: "forget",
    },
  },
  outputs: {
    kept: "${hosting_webhook.kept.id}",
    signing: { value: ["${hosting_webhook.kept.secret}"], sensitive: true },
  },
  ...more,
});

/** Files that may hold a secret, because hostform reads it there or writes it there. */
const SECRET_FILES = ["shop.password", "hook.secret", ".hook.secret.hostform.tmp", "given.password"];
/** The state, its backup, its journal, and their temporary files. */
const STATE_FILE = /^\.?hosting\.tfstate(?:\.backup|\.journal|\.(?:[0-9a-f-]{36}|link)\.tmp)?$/;

/** A canary and the forms in which documents of hostform write it. */
function formsOf(secret: string): string[] {
  const inner = (text: string) => JSON.stringify(text).slice(1, -1);
  const html = secret.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);
  return [...new Set([secret, inner(secret), html])];
}

function hits(text: string, canaries: readonly string[]): string[] {
  return canaries.filter((secret) => formsOf(secret).some((form) => text.includes(form)));
}

/** Name -> bytes as text of each file in the project's folder. */
async function files(project: Project): Promise<Map<string, string>> {
  const names = await readdir(project.dir, { recursive: true, withFileTypes: true });
  const found = new Map<string, string>();
  for (const entry of names) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    found.set(path.relative(project.dir, file), await readFile(file, "latin1").catch(() => ""));
  }
  return found;
}

interface Watched {
  readonly project: Project;
  /** Every captured text, with its source. */
  readonly seen: [where: string, text: string][];
  run(...args: string[]): Promise<string>;
}

/** A project that captures its whole output, and its files on disk at each request. */
async function watched(env: Record<string, string> = {}): Promise<Watched> {
  const project = await startProject({
    declare: declaration(1),
    env: {
      WWW_PASSWORD: VARIABLE,
      GIVEN_PASSWORD: GIVEN,
      PGPASSWORD: PG_PASSWORD,
      TF_HTTP_PASSWORD: HTTP_PASSWORD,
      ...env,
    },
    sandbox: { rateLimit: 0 },
  });
  await writeFile(path.join(project.dir, "shop.password"), `${FROM_FILE}\n`, { mode: 0o600 });
  await writeFile(path.join(project.dir, "given.password"), GIVEN, { mode: 0o600 });
  project.onCapture = async () => ({ stdout: `${FROM_COMMAND}\n`, stderr: "" });
  const seen: Watched["seen"] = [];
  return {
    project,
    seen,
    async run(...args) {
      const { out, err } = await project.run(...args);
      seen.push([`${args.join(" ")}: stdout`, out], [`${args.join(" ")}: stderr`, err]);
      for (const [name, text] of await files(project)) seen.push([`${args.join(" ")}: ${name}`, text]);
      return out;
    },
  };
}

/** Runs a project from its first apply to its destroy, with all output enabled. */
async function live({ project, run, seen }: Watched): Promise<string[]> {
  // Each response is delayed: the test reads all files on disk during each request, including the lock and the journal.
  for (const method of ["POST", "DELETE"])
    project.control.addFault({ method, path: "/*", phase: "before", times: 1000, delayMs: 1 });
  let looking: Promise<unknown> = Promise.resolve();
  project.onDelay = () => {
    looking = looking.then(async () => {
      for (const [name, text] of await files(project)) seen.push([`during a request: ${name}`, text]);
    });
  };
  await run("validate", "--verbose");
  await run("plan", "--verbose");
  await run("plan", "--json", "--verbose");
  await run("plan", "--format", "markdown");
  await run("plan", "--format", "html");
  await run("plan", "--out", "first.plan");
  await run("apply", "first.plan", "--verbose");
  await project.declare(declaration(2));
  await run("plan", "--out", "second.plan", "--json");
  await run("apply", "--auto-approve", "--json", "--verbose");
  await looking;

  const secret = async (address: string, name: string) => String((await recorded(project, address))[name] ?? "");
  const vps = await recorded(project, "hosting_service.vps");
  const found = [
    await secret("hosting_webhook.kept", "secret"),
    await secret("hosting_service.vps", "generated_password"),
  ];
  found.push((await readFile(path.join(project.dir, "hook.secret"), "utf8")).trim());
  for (const one of found) expect(one.length, "a secret that the API showed once").toBeGreaterThan(10);

  for (const command of [
    ["plan"],
    ["services", "--json"],
    ["webhooks", "--json", "--verbose"],
    ["webhooks"],
    ["invoices"],
    ["grants", "hosting_service.www"],
    ["migrations", "--json"],
    ["state", "list", "--long"],
    ["state", "show", "hosting_webhook.kept"],
    ["state", "show", "hosting_webhook.kept", "--json"],
    ["state", "show", "hosting_service.vps", "--json"],
    ["state", "show", "hosting_migration_request.move"],
    ["show", "--json"],
    ["show", "--format", "html"],
    ["show", "--format", "markdown"],
    ["output"],
    ["output", "kept", "--json"],
    ["output", "sining"],
    ["resolve"],
    ["force-unlock"],
    ["password", "hosting_service.www", "--password-env", "GIVEN_PASSWORD", "--verbose", "--json"],
    ["password", "hosting_service.www", "--password-file", "given.password"],
    ["state", "mv", "hosting_webhook.kept", "hosting_webhook.moved"],
    ["state", "mv", "hosting_webhook.moved", "hosting_webhook.kept"],
    // Failing commands report the server's message, and repeat no sent secret.
    ["password", String(vps.id), "--password-env", "GIVEN_PASSWORD"],
    ["import", "hosting_webhook.kept", "999"],
  ])
    await run(...command);
  // A server that repeats in its error every secret of the run.
  const echo = (...secrets: string[]) => {
    project.control.clearFaults();
    const body = {
      message: `Rejected: ${[...secrets, project.env.HOSTING_TOKEN].join(", ")}`,
      errors: { name: secrets },
    };
    project.control.addFault({ path: "/*", phase: "before", times: 1000, status: 422, body });
  };
  echo(VARIABLE, String(found[0]), String(found[1]));
  await run("plan");
  await run("plan", "--json", "--verbose");
  echo(VARIABLE);
  await run("services");
  echo(VARIABLE, GIVEN, String(found[0]));
  await run("password", "hosting_service.www", "--password-env", "GIVEN_PASSWORD", "--json");
  project.control.clearFaults();
  await project.declare(declaration(3, { webhooks: {}, migration_requests: {}, outputs: {} }));
  await run("plan", "--out", "third.plan", "--allow-removals");
  await run("apply", "third.plan", "--json");
  await run("destroy", "--auto-approve", "--verbose");
  return found;
}

async function recorded(project: Project, address: string): Promise<Record<string, unknown>> {
  const { out } = await project.run("state", "show", address, "--reveal", "--json");
  return JSON.parse(out).attributes;
}

describe("no secret is written where it does not belong", { timeout: 120_000 }, () => {
  it("neither printed nor in a file, but for the state", async () => {
    const at = await watched();
    const found = await live(at);
    const token = String(at.project.env.HOSTING_TOKEN);
    const recordable = found.slice(0, 2);
    const never = [
      token,
      token.slice(token.indexOf("|") + 1),
      GIVEN,
      VARIABLE,
      FROM_FILE,
      FROM_COMMAND,
      PG_PASSWORD,
      HTTP_PASSWORD,
    ];
    const leaks = at.seen.flatMap(([where, text]) => {
      const name = where.slice(where.indexOf(": ") + 2);
      if (SECRET_FILES.includes(name)) return [];
      // The state may hold its recordable secrets. It never holds secrets that were only sent.
      const searched = STATE_FILE.test(name) ? never : [...never, ...found];
      return hits(text, searched).map((secret) => `${where}: ${secret}`);
    });
    expect(leaks, leaks.join("\n")).toEqual([]);
    // Proves that the search works: the state holds its recordable secrets.
    expect(
      at.seen.some(([where, text]) => where.endsWith("hosting.tfstate") && hits(text, recordable).length > 0),
    ).toBe(true);
    expect(
      at.seen.map(([where]) => where).some((where) => where.startsWith("during a request: hosting.tfstate.journal")),
    ).toBe(true);
    expect(at.seen.map(([where]) => where).some((where) => where.endsWith("second.plan"))).toBe(true);
  });

  it("nor in the state, its backup and its journal, when they are encrypted", async () => {
    const at = await watched({ HOSTFORM_STATE_KEY: STATE_KEY });
    const found = await live(at);
    const token = String(at.project.env.HOSTING_TOKEN);
    const never = [token, GIVEN, VARIABLE, FROM_FILE, FROM_COMMAND, STATE_KEY, PG_PASSWORD, HTTP_PASSWORD, ...found];
    const leaks = at.seen.flatMap(([where, text]) =>
      SECRET_FILES.some((name) => where.endsWith(`: ${name}`))
        ? []
        : hits(text, never).map((secret) => `${where}: ${secret}`),
    );
    expect(leaks, leaks.join("\n")).toEqual([]);
  });

  it("but what is asked for is shown: revealed, pulled, generated, signed on with", async () => {
    const { project } = await watched();
    await project.apply();
    const secret = String((await recorded(project, "hosting_webhook.kept")).secret);
    const vps = await project.run("password", "hosting_service.vps");
    expect(vps.out.trim().length).toBeGreaterThan(10);
    expect(vps.err).not.toContain(vps.out.trim());
    for (const args of [
      ["state", "show", "hosting_webhook.kept", "--reveal"],
      ["state", "pull"],
      ["output", "signing"],
      ["output", "--json"],
    ])
      expect((await project.run(...args)).out).toContain(secret);
    const sso = await project.run("sso", "hosting_service.www");
    expect(sso.out).toMatch(/^http\S+\n$/);
    expect(sso.err).not.toContain(sso.out.trim());
  });
});
