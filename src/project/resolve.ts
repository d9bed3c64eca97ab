import { moved, ownerIn, resolveConfig, scopeOf, siblingsOf } from "../core/engine/index.ts";
import { type Kind, kindAt, kinds, type Remote } from "../core/kinds/index.ts";
import { matches } from "../core/kinds/kind.ts";
import {
  adopt,
  type Evidence,
  evidence,
  isPendingCreate,
  type PendingCreate,
  refuseCreated,
  reportOutcome,
  returnsSecretOnce,
  withdraw,
} from "../core/lifecycle/index.ts";
import {
  type Clock,
  type Diagnostic,
  didYouMean,
  fail,
  ifExplained,
  inQuotes,
  parseAddress,
  type ResourceState,
  resourceOf,
  type State,
  some,
} from "../core/model/index.ts";
import type { OpenState } from "../core/record/index.ts";
import { orderKey, remember } from "./history.ts";
import { requireAccounts } from "./identity.ts";
import { raise } from "./messages.ts";
import type { Project } from "./project.ts";
import { type Providers, withProviders } from "./providers.ts";
import type { ProjectParts } from "./source.ts";

/** Evidence about pending creations, or the result of one decision. */
export type Resolved =
  | { readonly pending: readonly (Evidence & Undeclared)[] }
  | ({ readonly settled: "absent"; readonly address: string } & Undeclared)
  | {
      readonly settled: "adopted";
      readonly address: string;
      readonly id: string;
      readonly noun: string;
      /** True if the one-time secret of the object was lost with the response. */
      readonly lostSecret: boolean;
    };

/** A pending creation without a block. The next apply destroys its object, or removes its state entry. */
interface Undeclared {
  readonly undeclared?: true;
}

/** A state with pending creations. */
export type CreatesStore = Pick<OpenState, "state" | "put"> &
  Partial<Pick<OpenState, "history">> & { remove(address: string): Promise<void> };

/** Parts of a project that {@link resolveCreates} needs. */
export interface Resolvable extends ProjectParts {
  readonly declaration: Pick<Project["declaration"], "providers"> & Partial<Pick<Project["declaration"], "read">>;
  readonly state: Pick<Project["state"], "place" | "owner"> & {
    write<T>(command: string, work: (open: CreatesStore, signal: AbortSignal) => Promise<T>): Promise<T>;
  };
  /** Adds creations from the store. */
  withStored?(open: CreatesStore, providers: Providers): Promise<CreatesStore>;
  /** Objects that {@link withStored} found and that no address of the state has. */
  readonly left?: readonly Diagnostic[];
  /** True if the decisions are saved only on this machine. */
  readonly isStored?: boolean;
}

/**
 * Decision about a pending creation: it created this object (`force` accepts differences), it created nothing, or wait for
 * the list.
 */
export type Settling = { readonly adopt: string; readonly force?: boolean } | "absent" | { readonly waitMs: number };

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Collects evidence about pending creations, and settles one of them. Sends only GET requests.
 * @param address A resource, or all its instances. Default: all.
 * @param how Decision. Default: none.
 * @throws HostformError `usage`, `plan.address`, `api.not_found`. Nothing is settled.
 */
export async function resolveCreates(
  project: Resolvable,
  address: string | undefined,
  how?: Settling,
): Promise<Resolved> {
  const configs = await project.declaration.providers();
  return project.state.write("resolve", (open, signal) =>
    withProviders(configs, project, signal, async (providers) => {
      providers.place = project.state.place(open.state.lineage)?.mark;
      const store = (await project.withStored?.(open, providers)) ?? open;
      const pending = pendingIn(store.state, address && (await formerOf(project, store.state, address)));
      const [one, ...others] = pending;
      if (one === undefined) return { pending: [] };
      if (how !== "absent") {
        const aliases = new Set(pending.map(({ provider }) => provider));
        await providers.prepare(aliases);
        requireAccounts(aliases, providers, store.state);
      }
      if (how !== undefined && others.length > 0) {
        fail("usage", `${address} names ${pending.length} pending resources; one at a time can be settled`, {
          remedies: [`Name one of ${some(pending.map((each) => inQuotes(each.address)))}.`],
        });
      }
      if (how === "absent") {
        // The user may decide even without access to the account.
        const unread = ifExplained(() => undefined);
        const question = await questionAbout(store.state, providers, one).catch(unread);
        const undeclared = await undeclaredIn(project, store.state, one);
        if (question !== undefined) await refuseCreated(question, undeclared.undeclared);
        const kept = withdraw(one);
        await (kept === undefined ? store.remove(one.address) : store.put(kept));
        // Other runs wait for the list lag and then read the list. No list contains domains, so save the decision for them.
        if (kindAt(one.address)?.creation === "blind")
          await providers
            .use(one.provider)
            .then(({ account }) => reportOutcome(account, kindOf(one), one, false))
            .catch(ifExplained(() => {}));
        await append(project, open, one);
        return { settled: "absent", address: one.address, ...undeclared };
      }
      if (how === undefined) {
        const found = [];
        for (const each of pending) {
          const seen = await look(store.state, providers, each);
          found.push({ ...seen, ...(await undeclaredIn(project, store.state, each)) });
        }
        return { pending: found };
      }
      const resolved =
        "adopt" in how
          ? await settleAdopted(store, providers, one, how)
          : await waitFor(project.host.clock, store, providers, one, how.waitMs, signal);
      if ("settled" in resolved) {
        const { account } = providers.get(one.provider);
        await reportOutcome(account, kindOf(one), one, true, project.state.owner(open.state.lineage));
        await append(project, open, one, "id" in resolved ? resolved.id : undefined);
      }
      return resolved;
    }),
  );
}

/** Adds a decision to the history. @param id Id of the adopted object. Undefined: the request created nothing. */
async function append(project: Resolvable, { history }: CreatesStore, one: PendingCreate, id?: string): Promise<void> {
  const { address, provider, attributes, private: mark } = one;
  const currency = String(attributes.currency ?? "unknown");
  const key = orderKey(history?.name ?? "", { address, ...mark });
  const isOrder = id !== undefined && kindOf(one).creation !== "listable";
  const { type } = kindOf(one);
  const orders = isOrder ? [{ key, id, provider, type, currency, quote: null, invoice: null }] : [];
  const text = id === undefined ? "The request created nothing." : `Adopted ${id}.`;
  const { domain } = attributes;
  const effects = [{ address, text, order: key, ...(typeof domain === "string" && { domain }) }];
  const entry = { command: "resolve", plan: null, orders, requests: 0, errors: [], effects };
  project.log.warn(...(await remember(project, { history }, entry)));
}

/**
 * Returns the old address of a renamed block with a pending creation. A `moved` item or an equal block proves the new name.
 */
async function formerOf({ declaration, source }: Resolvable, state: State, address: string): Promise<string> {
  const { desired } = state.resources.has(address) ? {} : ((await declaration.read?.()) ?? {});
  const resource = desired?.resources.find((one) => one.address === address);
  const kind = kinds.get(resource?.type ?? "");
  if (desired === undefined || resource === undefined || kind === undefined) return address;
  const move = moved(desired, state).moves.find(({ to }) => to === address);
  if (move !== undefined) return move.from;
  const scope = scopeOf((of) => state.resources.get(of)?.attributes, source.env);
  const { config } = resolveConfig(kind, resource, scope);
  const declared = new Set(desired.resources.map((one) => one.address));
  const isFormer = (one: ResourceState) =>
    isPendingCreate(one) &&
    !declared.has(one.address) &&
    parseAddress(one.address)?.type === kind.type &&
    (kind.naturalKey(config) === undefined
      ? kind.likeness?.(config) === kind.likeness?.(one.attributes)
      : matches(kind, one.attributes, config));
  const [former, ...others] = [...state.resources.values()].filter(isFormer);
  return former === undefined || others.length > 0 ? address : former.address;
}

/** Finds out whether an address is still declared, possibly under a new name. Empty if the declaration is unreadable. */
async function undeclaredIn(project: Resolvable, state: State, { address }: PendingCreate): Promise<Undeclared> {
  const { desired } = (await project.declaration.read?.()) ?? {};
  if (desired === undefined) return {};
  const type = parseAddress(address)?.type;
  for (const one of desired.resources)
    if (one.address === address || (one.type === type && (await formerOf(project, state, one.address)) === address))
      return {};
  return { undeclared: true };
}

/** Returns all pending creations, or those at an address. */
function pendingIn(state: State, address: string | undefined): PendingCreate[] {
  const all = [...state.resources.values()].filter(isPendingCreate);
  if (address === undefined) return all;
  const named = all.filter((one) => one.address === address || resourceOf(one.address) === address);
  if (named.length > 0) return named;
  if (state.resources.has(address)) {
    fail("usage", `${address} is not pending: there is nothing to settle`, { address });
  }
  const known = all.map((one) => one.address);
  return raise("plan.address/not_pending", { name: address, meant: didYouMean(address, known) });
}

const look = async (state: State, providers: Providers, prior: PendingCreate): Promise<Evidence> =>
  evidence(await questionAbout(state, providers, prior));

async function questionAbout(state: State, providers: Providers, prior: PendingCreate) {
  const kind = kindOf(prior);
  const { account } = await providers.use(prior.provider);
  const orders = new Set(
    [...state.resources.values()].flatMap(({ address, provider, attributes: { id } }) => {
      const { creation } = kindAt(address) ?? {};
      return provider === prior.provider && creation !== "listable" && typeof id === "string" ? [id] : [];
    }),
  );
  return {
    account,
    kind,
    prior,
    invoiced: kinds.get("hosting_service"),
    isRecorded: (order: string) => orders.has(order),
    ...othersIn(state, prior, kind),
  };
}

/** Returns the owners of live objects, and the other pending creations. */
function othersIn(state: State, prior: PendingCreate, kind: Kind) {
  const ownerOf = ownerIn(state, kinds);
  return {
    ownerOf: (remote: Remote) => ownerOf(prior.provider, kind, remote),
    siblings: siblingsOf(prior, kind, state.resources.values()),
  };
}

function kindOf({ address }: PendingCreate): Kind {
  const kind = kindAt(address);
  if (kind === undefined) fail("state.foreign", `${address} is of a kind that this version does not know`, { address });
  return kind;
}

async function settleAdopted(
  store: CreatesStore,
  providers: Providers,
  prior: PendingCreate,
  { adopt: id, force = false }: { readonly adopt: string; readonly force?: boolean },
): Promise<Resolved> {
  const { address } = prior;
  const kind = kindOf(prior);
  const { account } = await providers.use(prior.provider);
  const adopted = await adopt(account, kind, prior, id, {
    ...othersIn(store.state, prior, kind),
    isForced: force,
  });
  if (adopted === undefined) return raise("api.not_found/candidate", { noun: kind.noun, id, address });
  await store.put(adopted);
  return {
    settled: "adopted",
    address,
    id: String(adopted.attributes.id),
    noun: kind.noun,
    lostSecret: returnsSecretOnce(kind, adopted.attributes),
  };
}

/** Reads again until exactly one object certainly is the result. */
async function waitFor(
  clock: Clock,
  store: CreatesStore,
  providers: Providers,
  prior: PendingCreate,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Resolved> {
  const kind = kindOf(prior);
  if (kind.list === undefined) raise("usage/no_list", { noun: kind.noun, address: prior.address });
  const deadline = clock.monotonic() + timeoutMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const { account } = await providers.use(prior.provider);
    account.forget(kind, kind.parent && String(prior.attributes[kind.parent]));
    const found = await look(store.state, providers, prior);
    const [only] = found.candidates ?? [];
    if (found.verdict === "made" && only !== undefined)
      return settleAdopted(store, providers, prior, { adopt: only.id });
    const left = deadline - clock.monotonic();
    if (left <= 0) return { pending: [found] };
    await clock.sleep(Math.min(pause, left), signal);
  }
}
