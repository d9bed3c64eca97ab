import type { PlanRecord } from "../core/api/index.ts";
import { ownerIn, plan, resolveConfig, scopeOf } from "../core/engine/index.ts";
import { type Kind, kinds, namedBy } from "../core/kinds/index.ts";
import {
  adoptedAttributes,
  mismatch,
  type Observation,
  parentOf,
  read,
  sensitiveNames,
  unrecoverable,
  withoutRequests,
} from "../core/lifecycle/index.ts";
import {
  type Change,
  type Desired,
  type DesiredResource,
  type Diagnostic,
  didYouMean,
  errorOf,
  fail,
  failWith,
  formatAddress,
  HostformError,
  isError,
  isReplacement,
  parseAddress,
  type ResourceState,
  type State,
  type ValueObject,
} from "../core/model/index.ts";
import { identitiesOf, marking, requireAccounts } from "./identity.ts";
import { raise } from "./messages.ts";
import type { Project } from "./project.ts";
import { withProviders } from "./providers.ts";
import type { ProjectParts } from "./source.ts";

export interface Imported {
  readonly address: string;
  readonly id: string | null;
  /** Noun of the kind, such as `service`. */
  readonly noun: string;
  /** Attributes that differ from the declaration. */
  readonly differences: readonly string[];
  /** False if no endpoint returns the object. It was then not compared with the declaration. */
  readonly isCompared: boolean;
  /** One sentence for each value that hostform cannot know. */
  readonly notes: readonly string[];
}

/**
 * Imports an existing object into the state. Sends only GET requests.
 *
 * 1. Requires an address that is declared and not in the state. An import also settles a pending creation.
 * 2. Reads the object. Attributes that the API never returns come from the declaration.
 * 3. Adds the object to the state.
 *
 * @throws HostformError `plan.address`, `usage`, `api.not_found`, `plan.mismatch`. The state is then unchanged.
 */
export async function importObject(project: Project, text: string, id: string): Promise<Imported> {
  const { desired } = await project.declaration.load();
  const { resource, kind } = declaredAt(desired, text);
  const { address } = resource;
  return project.state.write("import", async (store, signal) => {
    const scope = scopeOf((of) => store.state.resources.get(of)?.attributes, project.source.env);
    const { config, diagnostics } = resolveConfig(kind, resource, scope);
    if (diagnostics.some(isError)) throw new HostformError(diagnostics);
    const another = anotherParent(kind, resource, config, id);
    return withProviders(desired.providers, project, signal, async (providers) => {
      const { account } = await providers.use(resource.provider);
      requireAccounts([resource.provider], providers, store.state);
      const observed = await read(account, { kind, prior: undefined, importId: id, config, alone: true });
      if (observed.status !== "present") {
        if (another !== undefined) throw new HostformError([another]);
        const how = observed.status === "gone" ? observed.how : "was not found";
        fail("api.not_found", `Nothing was imported: ${kind.noun} ${id} ${how}`, {
          remedies: [
            observed.status === "gone"
              ? "Import an object that is alive. A plan shows what an apply creates without one."
              : "Check the id, and that the token belongs to the right account.",
          ],
          address,
        });
      }
      checkFree(store.state, resource, kind, id);
      const plans = kind.fromCatalogue === undefined ? [] : await account.knownPlans();
      const attributes = adoptedAttributes(kind, observed.attributes, config);
      checkUnique(store.state, kind, { ...resource, attributes });
      // Attributes that the API does not return come from the declaration, unless they contradict returned attributes.
      const contradictions = kind.validateAgainstLive?.(config, observed.attributes, plans) ?? [];
      const others = contradictions.filter(({ code }) => code === "plan.mismatch");
      failWith(others.map((each) => ({ ...each, address })));
      const wanted = desired.resources.map((one) => (one.address === address ? { ...one, importId: id } : one));
      const seen = { resource, observed: { ...observed, attributes }, plans };
      const next = (state: State) => planOf(project, { ...desired, resources: wanted }, state, seen);
      const rest = [...store.state.resources].filter(([other]) => other !== address);
      const change = next({ ...store.state, resources: new Map(rest) });
      // An object that another run created must not be replaced only because it looks like the result of a pending creation.
      if (store.state.resources.has(address) && isReplacement(change))
        throw new HostformError(replacedIn(kind, change, id));
      const record: ResourceState = {
        address,
        provider: resource.provider,
        schemaVersion: kind.schemaVersion,
        attributes,
        sensitive: sensitiveNames(kind),
        // Keep the generation of the order and the deposed object. Their keys must not be used again.
        private: withoutRequests(store.state.resources.get(address)?.private ?? {}),
        dependencies: change.dependsOn,
      };
      await account.confirm?.();
      await store.put(marking(identitiesOf([resource.provider], providers), store.state)(record));
      project.log.warn(
        ...(await project.state.compare(providers.servers(), store.state, { changes: [], diagnostics: [] }, [record])),
      );
      return imported(kind, record, next(store.state));
    });
  });
}

function declaredAt(desired: Desired, text: string): { resource: DesiredResource; kind: Kind } {
  const parsed = parseAddress(text);
  const address = parsed === undefined ? text : formatAddress(parsed);
  const resource = desired.resources.find((one) => one.address === address);
  const kind = kinds.get(resource?.type ?? "");
  if (resource !== undefined && kind !== undefined) return { resource, kind };
  const known = desired.resources.map((one) => one.address);
  fail("plan.address", `No resource ${text} is declared.${didYouMean(address, known)}`, {
    remedies: ["Declare it first: an import compares the object with its declaration."],
  });
}

function checkFree(state: State, { address }: DesiredResource, { noun }: Kind, id: string): void {
  const prior = state.resources.get(address);
  if (prior === undefined || prior.private.pending !== undefined) return;
  raise("usage/recorded", { address, noun, recorded: String(prior.attributes.id), id });
}

/** Rejects an object that another address already has. Two declarations would change it alternately. */
function checkUnique(
  state: State,
  kind: Kind,
  { address, provider, attributes }: Pick<ResourceState, "address" | "provider" | "attributes">,
): void {
  const id = String(attributes.id);
  const owner = ownerIn(state, kinds)(provider, kind, { id, attributes });
  if (owner === undefined || owner === address) return;
  fail("usage", `Nothing was imported: ${id} is already in the state, as ${owner}`, {
    remedies: [{ do: "move", from: owner, when: "it was renamed" }],
    address,
  });
}

/**
 * Compares the parent in the import id with the declared parent.
 * @returns an error if they differ. The caller ignores it if the complete text is the id of an object.
 * @throws HostformError `usage` if the parent is unknown.
 */
function anotherParent(
  kind: Kind,
  { address }: DesiredResource,
  config: ValueObject,
  id: string,
): Diagnostic | undefined {
  if (kind.parent === undefined) return undefined;
  const declared = parentOf(kind, config);
  const { parent: given } = namedBy(kind, id);
  if (declared === undefined && given === undefined) {
    fail("usage", `${kind.parent} of ${address} is not known yet`, {
      remedies: [
        `First import the resource that ${kind.parent} refers to, or pass the id as ${kind.parent.toUpperCase()}/${id}.`,
      ],
      address,
    });
  }
  if (declared === undefined || given === undefined || declared === given) return undefined;
  const summary = `${address} is declared with ${kind.parent} ${declared}, not ${given}`;
  return errorOf("usage", summary, { remedies: [`Pass the id alone, or ${declared}/ID.`], address });
}

/**
 * Plans one resource from its live object. Pure.
 * @throws HostformError `plan.mismatch` if the object contradicts the declaration.
 */
function planOf(
  { source, host }: ProjectParts,
  desired: Desired,
  state: State,
  { resource, observed, plans }: { resource: DesiredResource; observed: Observation; plans: readonly PlanRecord[] },
): Change {
  const { address, provider } = resource;
  const { changes, diagnostics } = plan({
    desired,
    state,
    observed: { observations: new Map([[address, observed]]), plans: new Map([[provider, plans]]) },
    kinds,
    env: source.env,
    mode: "apply",
    reorder: new Set(),
    now: host.clock.now(),
    readRequests: 0,
  });
  const contradictions = diagnostics.filter((one) => one.code === "plan.mismatch" && one.address === address);
  failWith(contradictions);
  const change = changes.find((one) => one.address === address);
  if (change === undefined) throw new HostformError(diagnostics);
  return change;
}

/** Returns one error for each attribute that would cause a replacement of the imported object. */
function replacedIn(kind: Kind, { address, before, after, reasons, sensitive }: Change, id: string): Diagnostic[] {
  const names = reasons.flatMap(({ attribute = [] }) => attribute);
  return names.map((name) => {
    const values = { before: before?.[name] ?? null, after: after?.[name] ?? null, secret: sensitive.includes(name) };
    return { ...mismatch({ kind, address, importId: id }, name, values), address };
  });
}

function imported(kind: Kind, { address, attributes }: ResourceState, { reasons }: Change): Imported {
  const { noun } = kind;
  const isShown = kind.list !== undefined || kind.get !== undefined;
  const unseen = `The API has no call that shows a ${noun}: neither the id nor the declaration could be checked.`;
  const lost = unrecoverable(kind, attributes);
  return {
    address,
    id: (attributes.id ?? null) as string | null,
    noun,
    differences: reasons.flatMap(({ attribute }) => attribute ?? []),
    isCompared: isShown,
    notes: [...(isShown ? [] : [unseen]), ...(lost === undefined ? [] : [lost])],
  };
}
