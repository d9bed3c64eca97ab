// An account with services in a sandbox, and a project whose state has them all: what a row begins with.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Sandbox, type SandboxOptions, type Service, startSandbox } from "../../src/sandbox/index.ts";
import { type FastTime, fastTime } from "../../test/support/terraform-time.ts";
import { type Host, type HostOptions, startHost } from "./host.ts";
import { bareEnvironment, type Ended, newFolder, runNode } from "./process.ts";
import type { Bench } from "./row.ts";

export interface AccountOptions {
  /** How many the account has, all of them in the state. */
  readonly services: number;
  readonly host?: Omit<HostOptions, "now">;
  readonly sandbox?: SandboxOptions;
  /** How many milliseconds pass in one; default 1. */
  readonly rate?: number;
}

export interface Account {
  readonly sandbox: Sandbox;
  readonly services: readonly Service[];
  readonly host: Host;
  readonly folder: string;
  readonly time: FastTime;
  /** Of programs that use the account. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs the built command line in the folder. */
  hostform(args: readonly string[], where?: { readonly folder?: string; readonly env?: object }): Promise<Ended>;
  close(): Promise<void>;
}

/** Starts a sandbox without a limit, and its host; writes the state of the services, and a declaration of all of them. */
export async function openAccount(bench: Bench, options: AccountOptions): Promise<Account> {
  const { rate = 1 } = options;
  const time = fastTime(rate);
  const sandbox = await startSandbox({
    rateLimit: 0,
    autoPay: true,
    provisioningSeconds: 0,
    ...(rate !== 1 && { clock: time.clock }),
    ...options.sandbox,
  });
  const services = options.services > 0 ? sandbox.control.seedServices({ count: options.services }) : [];
  const host = await startHost(sandbox.url, { ...options.host, now: () => time.clock.now() });
  const folder = await newFolder(bench, "account");
  const env = {
    ...bareEnvironment(),
    HOME: folder,
    HOSTFORM_STATE_HOME: path.join(folder, "home"),
    HOSTING_BASE_URL: host.url,
    HOSTING_TOKEN: sandbox.tokens.agency,
    ...(rate !== 1 && time.env),
  };
  const account: Account = {
    ...{ sandbox, services, host, folder, time, env },
    hostform: (args, { folder: cwd = folder, env: more } = {}) =>
      runNode(bench, [bench.hostform, ...args], { cwd, env: { ...env, ...more } }),
    async close() {
      await host.close();
      await sandbox.close();
    },
  };
  try {
    if (services.length > 0) await writeFile(stateFile(folder), stateOf(await adopted(account, bench), services));
    await declare(folder, { services: services.map((service) => [nameOf(service), service]) });
  } catch (error) {
    await account.close();
    throw error;
  }
  return account;
}

export const stateFile = (folder: string) => path.join(folder, "hosting.tfstate");

/** The name of a service in the declaration. */
export const nameOf = ({ id }: Pick<Service, "id">) => `s${id}`;

export interface Declared {
  readonly services: readonly (readonly [name: string, of: DeclaredService])[];
  /** What further sections have, in YAML. */
  readonly more?: readonly string[];
  /** Requests a minute; default: so many that nothing waits. */
  readonly perMinute?: number;
}

export interface DeclaredService {
  readonly domain: string | null;
  readonly suspended?: boolean;
  readonly grants?: readonly string[];
}

/** Writes `hosting.yaml`. */
export function declare(folder: string, { services, more = [], perMinute = 6_000 }: Declared): Promise<void> {
  const lines = ["project: bench", "providers:", "  default:", `    requests_per_minute: ${perMinute}`];
  if (services.length > 0) lines.push("services:");
  for (const [name, { domain, suspended, grants = [] }] of services) {
    lines.push(`  ${name}:`, "    plan_id: 11", "    currency: USD", `    domain: ${domain}`);
    if (suspended === true) lines.push("    suspended: true");
    if (grants.length > 0) lines.push("    grants:", ...grants.map((email) => `      ${email}: view`));
  }
  return writeFile(path.join(folder, "hosting.yaml"), [...lines, ...more, ""].join("\n"));
}

/** Services that are not there yet. */
export const newServices = (count: number, grants: readonly string[] = []): Declared["services"] =>
  Array.from({ length: count }, (_, at) => [`new${at}`, { domain: `new-${at}.bench.example`, grants }]);

/** The services as they are. */
export const sameServices = ({ services }: Account): Declared["services"] =>
  services.map((service) => [nameOf(service), { domain: service.domain }]);

interface StateInstance {
  readonly index_key?: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface StateDocument {
  readonly resources: readonly {
    readonly name: string;
    readonly instances: readonly StateInstance[];
  }[];
}

/** The state of a project that adopted one service: written by the command line itself. */
async function adopted({ services, sandbox, hostform }: Account, bench: Bench): Promise<StateDocument> {
  const folder = await newFolder(bench, "one");
  const [first] = services;
  if (first === undefined) throw new Error("the account has no service");
  await declare(folder, {
    services: [["one", { domain: first.domain }]],
    more: ["import:", "  - to: hosting_service.one", `    id: "${first.id}"`],
  });
  // Past the host, which is to count nothing before what is measured.
  const env = { HOSTFORM_LEDGER: "memory", HOSTING_BASE_URL: sandbox.url };
  await hostform(["apply", "--auto-approve", "--quiet"], { folder, env });
  return JSON.parse(await readFile(stateFile(folder), "utf8")) as StateDocument;
}

/** The attributes in the state of a service like the one that was adopted. */
const attributesOf = (one: StateInstance, { id, domain, created_at, next_due_date }: Service) => ({
  ...one.attributes,
  ...{ id: String(id), domain, next_due_date },
  created_at: created_at.replace(/\.\d+Z$/, "+00:00"),
});

function stateOf(one: StateDocument, services: readonly Service[]): string {
  const [resource] = one.resources;
  const instance = resource?.instances[0];
  if (instance === undefined) throw new Error("the state has no service");
  const resources = services.map((service) => ({
    ...resource,
    name: nameOf(service),
    instances: [{ ...instance, attributes: attributesOf(instance, service) }],
  }));
  return JSON.stringify({ ...one, resources });
}

/** The same state for Terraform: one resource with `count`. */
export function countedState(state: StateDocument, name: string): StateDocument {
  const [first] = state.resources;
  if (first === undefined) throw new Error("the state has no service");
  const instances = state.resources.flatMap((resource) => resource.instances);
  return {
    ...state,
    resources: [{ ...first, name, instances: instances.map((one, index_key) => ({ ...one, index_key })) }],
  };
}
