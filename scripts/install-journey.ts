// One journey for everything that is installed: plan, apply, no changes, suspend, a lost answer, destroy. The host answers only behind a
// proxy, at an https address whose name no DNS has and whose certificate no machine trusts, as in many companies.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { request as ask, createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, type Server } from "node:net";
import path from "node:path";
import { selfSigned } from "../src/fronts/terraform/wire/certificate.ts";
import { type Sandbox, startSandbox } from "../src/sandbox/index.ts";

const HOST = "api.hosting.example";
const CERTIFICATE = "authority.pem";

/** The content of a declaration, in the words of the YAML. */
export interface Site {
  readonly domain: string;
  readonly suspended: boolean;
}

/** One way to run hostform on a declaration. Commands throw when they fail. */
export interface Front {
  /** The folder with the declaration; the journey puts the certificate of the host there. */
  readonly folder: string;
  /** Writes the declaration of these sites, by name, and of one webhook. */
  declare(sites: Readonly<Record<string, Site>>): Promise<void>;
  /** @returns true when the plan changes something. */
  plan(env: Env): Promise<boolean>;
  apply(env: Env): Promise<void>;
  destroy(env: Env): Promise<void>;
}

export type Env = Readonly<Record<string, string>>;

const port = (server: Server) => (server.address() as AddressInfo).port;

/** Listens on loopback. @returns its end. */
async function listen(server: Server): Promise<() => void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return () => void server.close();
}

/** The host's https address and the proxy that leads to it, before a sandbox. */
async function network(sandbox: Sandbox) {
  const { certificate, key } = selfSigned(Date.now(), HOST);
  const https = createHttpsServer({ cert: certificate, key }, (request, response) => {
    // The sandbox answers to its own name only.
    const headers = { ...request.headers, host: new URL(sandbox.url).host };
    const forwarded = ask(`${sandbox.url}${request.url}`, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  const tunnels: string[] = [];
  const proxy = createServer((_, response) => response.writeHead(403).end());
  proxy.on("connect", (request, client) => {
    tunnels.push(request.url ?? "");
    const host = connect(port(https), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      host.pipe(client).pipe(host);
    });
    for (const socket of [client, host]) socket.on("error", () => undefined);
  });
  const ends = [await listen(https), await listen(proxy)];
  const env: Env = {
    HOSTING_BASE_URL: `https://${HOST}`,
    HOSTING_TOKEN: sandbox.tokens.agency,
    HTTPS_PROXY: `http://127.0.0.1:${port(proxy)}`,
    // The machine's own settings go before those in capitals.
    https_proxy: `http://127.0.0.1:${port(proxy)}`,
    NO_PROXY: "",
    no_proxy: "",
    NODE_EXTRA_CA_CERTS: CERTIFICATE,
  };
  return { certificate, env, tunnels, close: () => ends.forEach((end) => void end()) };
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the journey failed: ${what}`);
}

/** Plans one site against a sandbox, and changes nothing. @throws Error unless the plan orders it. */
export async function firstPlan(front: Front): Promise<void> {
  const sandbox = await startSandbox();
  try {
    await front.declare({ one: { domain: "first.acme.example", suspended: false } });
    const planned = await front.plan({ HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency });
    check(planned, "the first plan has no changes");
  } finally {
    await sandbox.close();
  }
}

/** Goes through the whole journey. @throws Error that names the step. */
export async function journey(front: Front): Promise<void> {
  // Its own tokens keep the orders of earlier journeys on this machine apart.
  const settings = { seed: randomUUID(), rateLimit: 0, autoPay: true, provisioningSeconds: 0, jobSeconds: 0 };
  const sandbox = await startSandbox(settings);
  const { certificate, env, tunnels, close } = await network(sandbox);
  const { control } = sandbox;
  const ordered = (domain: string) => control.list("services").filter((one) => one.domain === domain);
  const [first, second] = ["first.acme.example", "second.acme.example"];
  const one = (suspended: boolean) => ({ one: { domain: first, suspended } });
  try {
    await writeFile(path.join(front.folder, CERTIFICATE), certificate);

    await front.declare(one(false));
    check(await front.plan(env), "the first plan has no changes");
    check(ordered(first).length === 0, "a plan ordered a site");

    await front.apply(env);
    check(ordered(first).length === 1, `an apply ordered ${ordered(first).length} sites, not 1`);
    check(!(await front.plan(env)), "there are changes after an apply");

    await front.declare(one(true));
    await front.apply(env);
    check(ordered(first)[0]?.status === "suspended", `a suspended site is ${ordered(first)[0]?.status}`);

    control.addFault({ method: "POST", path: "/services", phase: "after", drop: true });
    await front.declare({ ...one(true), two: { domain: second, suspended: false } });
    await front.apply(env);
    check(
      control.faults().every(({ fired }) => fired === 1),
      "no answer was lost",
    );
    check(ordered(second).length === 1, `a lost answer led to ${ordered(second).length} sites, not 1`);
    check(!(await front.plan(env)), "there are changes after a lost answer");

    await front.destroy(env);
    check(control.list("webhooks").length === 0, "a webhook is left after destroy");
    check(tunnels.length > 0 && tunnels.every((to) => to === `${HOST}:443`), `the proxy was asked for ${tunnels}`);
  } finally {
    close();
    await sandbox.close();
  }
}

const SITE = { plan_id: 11, currency: "USD", term: 12, deletion_policy: "forget" };
const WEBHOOK = { url: "https://hooks.acme.example/hosting", events: ["invoice.paid"] };

/** A command of hostform in the folder of the declaration. @returns its exit code. @throws for other codes than those. */
export type Command = (args: readonly string[], env: Env, codes?: readonly number[]) => Promise<number>;

/** The command line on YAML. */
export function yamlFront(folder: string, hostform: Command): Front {
  const flags = ["--auto-approve", "--allow-removals"];
  return {
    folder,
    declare: async (sites) => {
      const services = Object.entries(sites).map(([name, site]) => [name, { ...SITE, ...site }]);
      // JSON is YAML.
      const text = { project: "trial", services: Object.fromEntries(services), webhooks: { paid: WEBHOOK } };
      await writeFile(path.join(folder, "hosting.yaml"), JSON.stringify(text, null, 2));
    },
    plan: async (env) => (await hostform(["plan", "--detailed-exitcode"], env, [0, 2])) === 2,
    apply: async (env) => void (await hostform(["apply", ...flags], env)),
    destroy: async (env) => void (await hostform(["destroy", ...flags], env)),
  };
}

/** The real Terraform, which finds the provider in the home folder of its environment. */
export function terraformFront(folder: string, version: string, terraform: Command): Front {
  const flags = ["-input=false", "-no-color"];
  const block = (type: string, name: string, attributes: object) =>
    `resource "${type}" "${name}" {\n${Object.entries(attributes)
      .map(([key, value]) => `  ${key} = ${JSON.stringify(value)}\n`)
      .join("")}}\n`;
  const command: Command = (args, env, codes) => terraform(args, { ...env, HOSTFORM_PROJECT: "trial" }, codes);
  return {
    folder,
    declare: async (sites) => {
      const settings = `terraform {\n  required_providers {\n    hosting = { source = "hostform/hosting", version = "${version}" }\n  }\n}\n`;
      const services = Object.entries(sites).map(([name, site]) =>
        block("hosting_service", name, { ...SITE, ...site }),
      );
      const text = [settings, ...services, block("hosting_webhook", "paid", WEBHOOK)].join("");
      await writeFile(path.join(folder, "main.tf"), text);
    },
    plan: async (env) => {
      await command(["init", ...flags], env);
      return (await command(["plan", ...flags, "-detailed-exitcode"], env, [0, 2])) === 2;
    },
    apply: async (env) => void (await command(["apply", ...flags, "-auto-approve"], env)),
    destroy: async (env) => void (await command(["destroy", ...flags, "-auto-approve"], env)),
  };
}
