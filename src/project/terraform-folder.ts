/**
 * Opens a Terraform folder without a declaration, to settle its pending creations: its state, and the store of this machine.
 */
import path from "node:path";
import { exists, listNow, realPath, textNow } from "../core/files/index.ts";
import { kinds } from "../core/kinds/index.ts";
import { configOf, moneyScaleOf, providerSettings } from "../core/kinds/provider-settings.ts";
import { intentId, isPendingCreate } from "../core/lifecycle/index.ts";
import type { Held } from "../core/local/index.ts";
import {
  amended,
  attempt,
  type Backend,
  type Diagnostic,
  formatAddress,
  type ProviderConfig,
  parseAddress,
  type ResourceState,
  type State,
} from "../core/model/index.ts";
import { KEY_VARIABLES } from "../core/record/index.ts";
import { stateKeys } from "./backend.ts";
import { interruptible } from "./interrupt.ts";
import type { Project } from "./project.ts";
import type { Providers } from "./providers.ts";
import type { CreatesStore, Resolvable } from "./resolve.ts";
import type { ProjectParts, ProjectSource } from "./source.ts";
import { ProjectState } from "./state.ts";

type Front = typeof import("../fronts/terraform/entries.ts");
type Recorded = Awaited<ReturnType<Front["storedCreates"]>>["creates"][number];

/** Settings of the backend `http` that hostform cannot use. */
const UNSUPPORTED = ["skip_cert_verification", "client_certificate_pem", "client_private_key_pem"];

const EMPTY: State = { lineage: "", serial: 0, resources: new Map() };

/** Returns a project for `resolve` in a Terraform folder. Undefined for any other folder. */
export async function terraformFolder(
  project: ProjectParts & Pick<Project, "declaration">,
): Promise<Resolvable | undefined> {
  const { source, redaction } = project;
  if (source.stack !== undefined || source.files.length > 0) return undefined;
  const { desired, diagnostics } = await project.declaration.read();
  const isMissing = desired === undefined && diagnostics.every(({ code }) => code === "config.missing");
  if (!isMissing || !hasTerraform(source.dir, source.env.TF_DATA_DIR)) return undefined;
  const { backendIn, placeOf, stateFileIn, workspaceIn } = await import("../fronts/terraform/provider/place.ts");
  const { storedCreates } = await import("../fronts/terraform/entries.ts");
  const { leftOver } = await import("../fronts/terraform/resource/left-over.ts");
  const dir = realPath(source.dir);
  const place = placeOf(dir, source.env);
  const workspace = workspaceIn(dir, source.env);
  const recorded = backendIn(dir, source.env);
  const isLocal = recorded === undefined || recorded.type === "local";
  const { file, backend, env, secrets }: StateSettings = source.stateNamed
    ? { file: source.state, env: source.env, secrets: [] }
    : isLocal
      ? { file: stateFileIn(dir, workspace, recorded?.config), env: source.env, secrets: [] }
      : stateAt(recorded, workspace, source.env);
  redaction.learn("Terraform's backend", secrets);
  const parts = { ...project, source: { ...source, dir, state: file ?? source.state, env } };
  const providers = async () => configs;
  const declared = settingsIn(dir, source.env);
  const configs = new Map<string, ProviderConfig>([["default", { ...declared, alias: "default" }]]);
  const left: Diagnostic[] = [];
  const withStored = async (open: CreatesStore, used: Providers): Promise<CreatesStore> => {
    for (const { provider } of open.state.resources.values()) {
      if (configs.has(provider)) continue;
      configs.set(provider, { ...declared, alias: provider, tokenEnv: "HOSTING_TOKEN" });
    }
    const { store } = (await used.use("default")).account;
    if (store === undefined) return open;
    const stored = await storedCreates(store, place, projectsIn(dir, source.env));
    left.push(...stored.left.map(([kind, { attributes }]) => leftOver(kind, attributes)));
    return new TerraformCreates(open, stored.creates, await store.holdings({ place: place.mark }));
  };
  const isWritable = file !== undefined || backend !== undefined;
  const state = new ProjectState(
    parts,
    { backend: async () => backend, providers },
    stateKeys({ ...parts, source: { ...parts.source, env: keysOfEngine(env) } }, undefined, "keep"),
    place,
  );
  const unreadable: Resolvable["state"] = {
    place: () => place,
    owner: () => place.mark,
    write: (_, work) => interruptible(project.host, (signal) => work(NONE, signal)),
  };
  return {
    ...parts,
    declaration: { providers },
    state: isWritable ? state : unreadable,
    withStored,
    left,
    isStored: !isWritable,
  };
}

/** Renders the remedies of an error for Terraform. */
export async function forTerraform(error: unknown): Promise<never> {
  const { terraformRemedies } = await import("../fronts/terraform/remedies.ts");
  throw amended(error, (one) => {
    const { type = "" } = parseAddress(one.address ?? "") ?? {};
    const text = terraformRemedies(kinds.get(type))(one);
    return { ...one, remedies: text === undefined ? [] : [text] };
  });
}

const NONE: CreatesStore = { state: EMPTY, put: async () => {}, remove: async () => {} };

function hasTerraform(dir: string, data = ".terraform"): boolean {
  const isStates = (name: string) => /^terraform\.tfstate(?:\.d)?$/.test(name);
  return exists(path.resolve(dir, data)) || namesIn(dir).some((name) => CONFIGURATION.test(name) || isStates(name));
}

interface StateSettings {
  readonly file?: string;
  readonly backend?: Backend;
  readonly env: ProjectSource["env"];
  readonly secrets: readonly string[];
}

interface TerraformBackend {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** Finds the state of a remote backend. Returns no backend if hostform cannot write the state. */
function stateAt({ type, config }: TerraformBackend, workspace: string, env: ProjectSource["env"]): StateSettings {
  const text = (name: string) => (typeof config[name] === "string" && config[name] !== "" ? config[name] : undefined);
  const settings = Object.fromEntries(Object.entries(config).filter(([, value]) => typeof value === "string"));
  const given = (variable: string, setting: string) => ({ [variable]: env[variable] || text(setting) });
  if (type === "pg") {
    const backend = { type, settings: { ...settings, workspace } } as Backend;
    return { backend, env: { ...env, ...given("PG_CONN_STR", "conn_str") }, secrets: secretsOf(text("conn_str")) };
  }
  if (type !== "http" || UNSUPPORTED.some((name) => config[name])) return { env, secrets: [] };
  const credentials = { ...given("TF_HTTP_USERNAME", "username"), ...given("TF_HTTP_PASSWORD", "password") };
  const { username: _, password, ...rest } = settings;
  return {
    backend: { type, settings: rest } as Backend,
    env: { ...env, ...credentials },
    secrets: secretsOf(password),
  };
}

const secretsOf = (text: unknown): string[] => (typeof text === "string" && text !== "" ? [text] : []);

/** Returns the environment with OpenTofu's key only. Terraform and OpenTofu cannot read hostform's form. */
function keysOfEngine(env: ProjectSource["env"]): ProjectSource["env"] {
  const own = ["HOSTFORM_STATE_FORMAT", ...Object.values(KEY_VARIABLES)];
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.includes(name)));
}

/** Returns possible names of the project: from the environment, and literals in the configuration. */
function projectsIn(dir: string, env: ProjectSource["env"]): (string | undefined)[] {
  return [env.HOSTFORM_PROJECT || undefined, undefined, ...literalsIn(dir, "project")];
}

const CONFIGURATION = /^[^.].*\.(?:tf|tofu)(?:\.json)?$/;

const namesIn = (dir: string): readonly string[] =>
  attempt(
    () => listNow(dir),
    () => [],
  );

/** Returns the literal values of a setting in the configuration files of a folder. Modules are not included. */
function literalsIn(dir: string, setting: string): string[] {
  const texts = namesIn(dir)
    .filter((name) => CONFIGURATION.test(name))
    .map((name) => textNow(path.join(dir, name)) ?? "");
  const literal = new RegExp(`\\b${setting}"?\\s*[=:]\\s*"?([\\w.-]+)`, "g");
  return texts.flatMap((text) => [...text.matchAll(literal)].map(([, value = ""]) => value));
}

/** Returns provider settings: from the environment, or literals that are equal in all provider blocks. */
function settingsIn(dir: string, env: ProjectSource["env"]): Omit<ProviderConfig, "alias"> {
  const { list_lag, money_scale, requests_per_minute } = providerSettings.shape;
  const known = { list_lag, money_scale, requests_per_minute };
  const settings = Object.entries(known).flatMap(([name, schema]) => {
    const [value, ...others] = new Set(literalsIn(dir, name));
    const given = value !== undefined && /^\d+$/.test(value) ? Number(value) : value;
    return others.length === 0 && schema.safeParse(given).success ? [[name, given] as const] : [];
  });
  const config = configOf(Object.fromEntries(settings));
  return { ...config, moneyScale: moneyScaleOf(config, env) };
}

/** The pending creations of a state and of the store as one state. */
class TerraformCreates implements CreatesStore {
  readonly #open: CreatesStore;
  readonly #stored: readonly Recorded[];
  readonly state: State;

  /** @param held Objects of the complete state. The state file reader omits instances inside modules. */
  constructor(open: CreatesStore, stored: readonly Recorded[], held: readonly Held[]) {
    this.#open = open;
    this.#stored = stored;
    const known = new Set([...open.state.resources.values()].map((one) => nameOf(typeOf(one), one.attributes.id)));
    const elsewhere = held.filter(({ type, id, isFirm }) => isFirm && !known.has(nameOf(type, id))).map(inModule);
    const alone = stored.filter(({ create }) => this.#shown(create) === undefined).map(({ create }) => create);
    const more = [...elsewhere, ...alone].map((one) => [one.address, one] as const);
    this.state = { ...open.state, resources: new Map([...open.state.resources, ...more]) };
  }

  /**
   * Saves the object of a creation. Removes the entry of a creation without an object, because Terraform would treat it as an
   * object.
   */
  async put(resource: ResourceState): Promise<void> {
    const { address, attributes } = resource;
    if (typeof attributes.id !== "string") return this.remove(address);
    const stored = this.#storedAt(address);
    await stored?.settle(resource);
    if (!this.#open.state.resources.has(address)) return;
    await this.#open.put(resource);
    await stored?.forget();
  }

  /** Saves the decision in the store first, because the provider reads the store after a crash. */
  async remove(address: string): Promise<void> {
    const stored = this.#storedAt(address);
    await stored?.settle();
    if (!this.#open.state.resources.has(address)) return;
    await this.#open.remove(address);
    await stored?.forget();
  }

  #storedAt(address: string): Recorded | undefined {
    return this.#stored.find(({ create }) => create.address === address || this.#shown(create) === address);
  }

  /** Returns the address of the creation in the state. */
  #shown(create: Recorded["create"]): string | undefined {
    const id = intentId(create.private.pending);
    const isSame = (one: ResourceState) =>
      typeOf(one) === typeOf(create) && isPendingCreate(one) && intentId(one.private.pending) === id;
    return [...this.#open.state.resources.values()].find(isSame)?.address;
  }
}

const typeOf = ({ address }: ResourceState): string => address.slice(0, address.indexOf("."));
const nameOf = (type: string, id: unknown): string => `${type} ${String(id)}`;

/** Returns a state entry for an instance inside a module. */
function inModule({ type, id, parent, address }: Held): ResourceState {
  const kind = kinds.get(type);
  const attributes = { id, ...(kind?.parent !== undefined && { [kind.parent]: parent }) };
  const unnamed = formatAddress({ type, name: "_", key: id });
  const record = { provider: "default", schemaVersion: 0, sensitive: [], private: {}, dependencies: [] };
  return { address: address ?? unnamed, attributes, ...record };
}
