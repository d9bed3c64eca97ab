import { accountOrigin } from "../../../core/api/address.ts";
import { importIdOf, type Kind, kinds, namedBy, type ReadSettings, type Remote } from "../../../core/kinds/index.ts";
import {
  type Account,
  attributesOf,
  billedTwice,
  endedInList,
  formNotices,
  isElsewhere,
  isPendingCreate,
  type Observation,
  observedMark,
  type PendingCreate,
  parentOf,
  read,
  refreshed,
  sameInUse,
  suspensionMark,
  switchedOff,
  type Unread,
  unknownValues,
  unreadBy,
  unreadCondition,
  unseenNames,
  withoutRequests,
} from "../../../core/lifecycle/index.ts";
import {
  ApiError,
  conditionWarning,
  type Diagnostic,
  hasCode,
  type JsonObject,
  type ResourceState,
} from "../../../core/model/index.ts";
import type { ProviderSession } from "../index.ts";
import { problem, refuse } from "../messages.ts";
import { schemaOf } from "../schema/of-kind.ts";
import {
  type Answer,
  hiddenNames,
  type Mark,
  named,
  nameOf,
  recordedAs,
  withProviderAttributes,
} from "./attribute-mapping.ts";
import { isRecorded, mergeEntry } from "./entry-lookup.ts";
import { seconds } from "./holdings.ts";
import { otherHost } from "./notices.ts";
import { isResolvedAbsent, keepIntent, noteDeclared } from "./pending.ts";
import type { ProviderScope } from "./provider-scope.ts";
import { accountOf, refuseForeign } from "./same-account.ts";

/** Recorded status of a paid object that the API no longer returns. */
export const GONE = "gone";

/** Recorded status of a paid object that another field than its status marks as ended. */
const ENDED = "ended";

/** Returns the recorded object of Terraform, in the phase of its attributes. */
export function asRecorded(kind: Kind, attributes: JsonObject, settings: ReadSettings): Observation {
  const phase = kind.phase?.(attributes, settings) ?? "live";
  return phase === "gone"
    ? { status: "gone", how: `is ${JSON.stringify(attributes.status ?? "gone")}`, matches: [] }
    : { status: "present", attributes, phase };
}

/**
 * Refreshes one recorded object. Sends only GETs. A paid object that no longer exists stays in the state, because Terraform would
 * otherwise order it again.
 */
export async function readResource(kind: Kind, state: JsonObject, mark: Mark, scope: ProviderScope): Promise<Answer> {
  const { entries, host } = scope.session;
  const { noun } = kind;
  const name = nameOf(kind, state);
  const noted = await entries.get(kind.type, name);
  const dropEntry = async () => {
    if (noted === undefined || !isRecorded(kind, state, noted)) return;
    // The create at another address has deleted this object, so the pending entry belongs to the new object.
    if (isPendingCreate(noted) && (await scope.handovers.isTaken(kind, state))) return;
    await entries.remove(kind.type, name);
  };
  const recorded = mergeEntry(kind, state, noted);
  const prior = recordedAs(kind, recorded, mark);
  if (isPendingCreate(prior)) return readPending(kind, recorded, prior, mark, scope);
  const alone = await scope.collections.isAlone(kind, parentOf(kind, prior.attributes));
  const parentKind = kinds.get(kind.nested?.in ?? "");
  const seen = await read(scope.account, { kind, prior, config: undefined, alone, parentKind });
  const isShown = seen.status === "present" || (seen.status === "gone" && seen.isListed);
  if (!isShown) await refuseForeign(kind, recorded, mark, scope.session);
  const kept =
    seen.status === "present"
      ? suspensionMark(observedMark(mark, seen.phase, seen.forms), seen.phase, undefined, scope.account.hostNow())
      : withoutRequests(mark);
  if (seen.status === "present") {
    const readable = kind.list !== undefined || kind.get !== undefined;
    const isElsewhere = mark.host !== undefined && mark.host !== host && !scope.session.hasMoved;
    if (readable && isElsewhere && !isSame(kind, recorded, seen.attributes))
      refuse(otherHost(kind, recorded, "refreshed"));
    await dropEntry();
    // After the apply, the state contains an imported object.
    if (!scope.isImported(kind, recorded)) scope.holdings.read(kind, seen.attributes, mark);
    const { values, mark: left } = withoutWaiting(
      kind,
      seen.attributes,
      { ...kept, host, ...accountOf(kind, recorded.id, mark, scope.session) },
      seen.phase,
    );
    const state = withProviderAttributes(kind, values, recorded) as JsonObject;
    if (left.lost) scope.noteLost(kind, state);
    const subject = { kind, address: prior.address, sensitive: hiddenNames(kind) };
    const diagnostics = [
      ...(left.deposed === undefined
        ? []
        : [problem("plan.prevented/left_behind", { noun, id: String(left.deposed.id) })]),
      ...(seen.unlisted === undefined
        ? []
        : [problem("account.unlisted", { what: prior.address, noun, created: seen.unlisted })]),
      ...(seen.waitsFor === undefined ? [] : [problem("apply.waiting/unlisted", { noun, waitsFor: seen.waitsFor })]),
      ...switchedOff({ ...subject, attributes: state }, seen.off, subject.sensitive).map(conditionWarning),
      ...unknownValues(prior.address, seen.unclear ?? {}),
      ...formNotices(subject, prior.private.shown ?? {}, seen.forms ?? {}),
      ...(await doublesOf(kind, prior, scope)),
      ...(await otherHolders(kind, recorded, scope)),
    ];
    return { state, mark: left, diagnostics };
  }
  if (seen.status === "absent" || kind.creation === "listable") {
    const why = await notAgain(kind, recorded, prior.address, scope);
    // Removes only the entry of this object. The entry of its replacement stays.
    if (typeof state.id === "string") await entries.remove(kind.type, name, state.id);
    await scope.holdings.remove(kind, recorded);
    const ended =
      seen.status === "gone" && seen.isListed ? [endedInList(kind.noun, String(recorded.id), seen.how)] : [];
    if (why === undefined) return { state: null, mark: {}, diagnostics: ended };
    return { state: withProviderAttributes(kind, recorded, recorded) as JsonObject, mark: kept, diagnostics: [why] };
  }
  // Last entry of the object in the account's list, if any (a status such as "terminated").
  const last = (await scope.account.list(kind, parentOf(kind, prior.attributes))).get(String(recorded.id));
  const shown = last && refreshed(kind, recorded, last, prior.private.shown);
  const hasEnded = shown !== undefined && kind.phase?.(shown, scope.session.settings) === "gone";
  const status = last?.phase === "gone" ? ENDED : GONE;
  const attributes = hasEnded ? shown : { ...(shown ?? recorded), status };
  return { state: withProviderAttributes(kind, attributes, recorded) as JsonObject, mark: kept, diagnostics: [] };
}

/**
 * Returns the recorded state of an unreadable object. One warning covers all objects whose lists need an ability that the token
 * lacks. If the parent list is readable, the failure concerns only this object.
 * @throws any other error
 */
export async function keptUnread(
  kind: Kind,
  recorded: Omit<Answer, "diagnostics"> & { readonly state: JsonObject },
  scope: ProviderScope,
  error: unknown,
): Promise<Answer> {
  const { account } = scope;
  const prior = recordedAs(kind, recorded.state, recorded.mark);
  const unread = await unreadBy(account, kind, prior, error);
  if (unread === undefined || isPendingCreate(prior)) throw error;
  if (unread.cause === "ability") return { ...recorded, diagnostics: abilityWarning(kind, scope, unread) };
  const isOfList = error instanceof ApiError && !error.endpoint.includes("{") && !hasCode(error, "api.malformed");
  const around = kinds.get(kind.nested?.in ?? "") ?? kind;
  if (isOfList || (await account.list(around).catch(() => undefined)) === undefined) throw error;
  if (isElsewhere(unread)) await refuseForeign(kind, recorded.state, recorded.mark, scope.session);
  const condition = unreadCondition(kind, prior.address, prior, unread);
  return { ...recorded, diagnostics: condition === undefined ? [] : [conditionWarning(condition)] };
}

function abilityWarning(kind: Kind, scope: ProviderScope, { why }: Unread): Diagnostic[] {
  const ability = kind.listAbility ?? "";
  if (!scope.isFirst(`ability ${ability}`)) return [];
  const nouns = [...kinds.values()].flatMap(({ listAbility, noun }) => (listAbility === ability ? [`${noun}s`] : []));
  const more = why.detail === undefined ? "" : ` ${why.detail}`;
  return [problem("plan.unread/ability", { nouns: nouns.join(" and "), ability, more })];
}

/**
 * Returns the reason why a deleted object is not created again: it has expired, or its parent no longer exists. The object stays in
 * the state. Otherwise every plan would create it, and the API would reject the create.
 */
async function notAgain(
  kind: Kind,
  recorded: JsonObject,
  what: string,
  { account }: ProviderScope,
): Promise<Diagnostic | undefined> {
  const expired = kind.expired?.(recorded, account.hostNow());
  if (expired !== undefined) return problem("plan.expired", { what, expired });
  const parent = parentOf(kind, recorded);
  const holder = kinds.get(kind.nested?.in ?? "");
  if (parent === undefined || holder === undefined) return undefined;
  const found = await account.find(holder, parent);
  if (found !== undefined && found.phase !== "gone") return undefined;
  return problem("apply.skipped/parent", { what, noun: holder.noun, parent });
}

/** Cache: objects with the same natural key, by list. */
const known = new WeakMap<ReadonlyMap<string, Remote>, readonly Remote[][]>();

/** Warns once about other objects with the same natural key, if the collection was listed for another reason. */
async function doublesOf(
  kind: Kind,
  { address, attributes }: ResourceState,
  scope: ProviderScope,
): Promise<Diagnostic[]> {
  const listed = await scope.account.listed(kind);
  if (listed === undefined) return [];
  // Compute the duplicates once for each list.
  const doubles = known.get(listed) ?? sameInUse(kind, listed.values());
  known.set(listed, doubles);
  return doubles.flatMap((same) => {
    const own = same.find(({ id }) => id === attributes.id);
    if (own === undefined || !scope.isFirst(`${kind.type} ${kind.naturalKey(attributes)}`)) return [];
    return [billedTwice(kind, same, own, address)];
  });
}

/** Warns once about another state that contains the object. */
export async function otherHolders(kind: Kind, recorded: JsonObject, scope: ProviderScope): Promise<Diagnostic[]> {
  const { holdings } = scope;
  const held = await holdings.elsewhere(kind, recorded);
  if (held === undefined || !scope.isFirst(`shared ${importIdOf(kind, String(recorded.id), recorded)} ${kind.type}`))
    return [];
  const there = held.address === undefined ? held.place.label : `${held.place.label}, as ${held.address}`;
  const here = holdings.place.label;
  return [problem("state.shared", { what: named(kind, recorded), here, there, seen: seconds(held.lastSeen) })];
}

/** Returns true for equal natural keys and creation times. The id alone is no proof, because each URL of the API has its own ids. */
function isSame(kind: Kind, recorded: JsonObject, reported: JsonObject): boolean {
  const [was, is] = [recorded.created_at ?? null, reported.created_at ?? null];
  return was !== null && was === is && kind.naturalKey(recorded) === kind.naturalKey(reported);
}

/**
 * Sets waiting attributes to null after the object becomes live, so that the next plan contains them. With an unknown status, also
 * sets the waiting attributes to null, so that the apply reports the unknown status.
 */
function withoutWaiting(
  kind: Kind,
  attributes: JsonObject,
  { waiting, ...mark }: Mark,
  phase: string,
): { values: JsonObject; mark: Mark } {
  if (waiting !== undefined && phase === "pending") return { values: attributes, mark: { ...mark, waiting } };
  const silent = attributesOf(kind).flatMap(({ name, meta: { unreadable } }) =>
    waiting?.includes(name) && (unreadable || phase === "unknown") ? [name] : [],
  );
  const unseen = phase === "unknown" ? unseenNames(kind, attributes) : [];
  const unknown = Object.fromEntries([...silent, ...unseen].map((name) => [name, null]));
  return { values: { ...attributes, ...unknown }, mark };
}

/**
 * Keeps a pending create unchanged, because Terraform deletes the object of a tainted instance, and the provider does not receive
 * the taint. Writes its intent into the store.
 */
async function readPending(
  kind: Kind,
  state: JsonObject,
  prior: PendingCreate,
  mark: Mark,
  scope: ProviderScope,
): Promise<Answer> {
  if (mark.host !== undefined && mark.host !== scope.session.host)
    refuse(otherHost(kind, prior.attributes, "refreshed"));
  const entry = await keepIntent(kind, prior, scope);
  await noteDeclared(kind, nameOf(kind, prior.attributes), scope);
  if (isResolvedAbsent(entry, prior)) return { state: null, mark: {}, diagnostics: [] };
  return { state, mark, diagnostics: [] };
}

/**
 * Returns the import id in an identity.
 * @throws HostformError `account.foreign` for the origin of another API.
 */
export function importIdIn(kind: Kind, identity: JsonObject, { account, access }: ProviderSession): string {
  const { id, origin } = identity;
  if (typeof origin === "string" && originIn(origin) !== account.origin)
    refuse(problem("account.foreign/identity", { what: `${kind.noun} ${String(id)}`, given: origin, access }));
  return importIdOf(kind, String(id), identity);
}

/** Returns the origin in a URL of the API. */
function originIn(url: string): string | undefined {
  try {
    return accountOrigin(url);
  } catch {
    return undefined;
  }
}

/**
 * Reads the object to import. Values that the API never returns stay null, and the next plan records their declared values without
 * a request. Attributes with a default get the default.
 * @throws HostformError `plan.gone` if the account does not contain the object, `usage` if the id has an invalid format.
 */
export async function importResource(kind: Kind, id: string, scope: ProviderScope): Promise<JsonObject> {
  const { noun, type, words } = kind;
  const { parent } = namedBy(kind, id);
  if (kind.parent !== undefined && parent === undefined) {
    const example = `${type}.NAME '1001/${kind.nested?.keyAttribute === "email" ? "dev@acme.example" : "7"}'`;
    refuse(problem("usage", { noun, parent: kind.parent, id, example }));
  }
  const alone = await scope.collections.isAlone(kind, parent);
  const seen = await read(scope.account, { kind, prior: undefined, importId: id, config: undefined, alone });
  if (seen.status !== "present") {
    const { how, isListed = false } = seen.status === "gone" ? seen : { how: "does not exist" };
    const isNested = kind.parent !== undefined;
    refuse(problem("plan.gone/import", { noun, id, how, type, name: words.name, isListed, isNested }));
  }
  const holder = await scope.holdings.holderOfImported(kind, seen.attributes);
  if (holder !== undefined) {
    const seenAt = holder.isShown ? undefined : seconds(holder.lastSeen);
    refuse(problem("plan.exists/imported", { what: named(kind, seen.attributes), seen: seenAt }));
  }
  scope.noteImported(kind, seen.attributes);
  return importedState(kind, seen.attributes);
}

/** Returns the state of an object to import. */
function importedState(kind: Kind, attributes: JsonObject): JsonObject {
  const defaults = attributesOf(kind).flatMap(({ name, meta }) =>
    meta.default !== undefined && attributes[name] == null ? [[name, meta.default] as const] : [],
  );
  return {
    ...Object.fromEntries(Object.keys(schemaOf(kind).attributes).map((name) => [name, null])),
    ...attributes,
    ...Object.fromEntries(defaults),
  };
}

/** Returns the state that an import of a listed object would have. Sends no request per object. Undefined for an object that has ended. */
export async function importable(
  kind: Kind,
  { id, attributes }: Remote,
  account: Account,
): Promise<JsonObject | undefined> {
  const importId = importIdOf(kind, id, attributes);
  const seen = await read(account, { kind, prior: undefined, importId, config: undefined });
  return seen.status === "present" ? importedState(kind, seen.attributes) : undefined;
}
