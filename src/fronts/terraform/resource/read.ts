import { kinds } from "../../../core/kinds/index.ts";
import type { Kind } from "../../../core/kinds/kind.ts";
import {
  attributesOf,
  billedTwice,
  isPendingCreate,
  observedMark,
  type PendingCreate,
  parentOf,
  read,
  refreshed,
  returnsSecretOnce,
  sameInUse,
  settledByAccount,
  settledMark,
  unseenNames,
} from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  fail,
  HostformError,
  type JsonObject,
  type ResourceState,
} from "../../../core/model/index.ts";
import { schemaOf } from "../schema/of-kind.ts";
import { type Mark, nameOf, recordedAs, withProviderAttributes } from "./attribute-mapping.ts";
import { isRecorded, mergeEntry } from "./journal-lookup.ts";
import { otherHost, shownLater } from "./notices.ts";
import type { ProviderScope } from "./provider-scope.ts";

interface ReadAnswer {
  /** Null: the object is gone, and Terraform may recreate it. */
  readonly state: JsonObject | null;
  readonly mark: Mark;
  readonly diagnostics: readonly Diagnostic[];
}

/** The status that is recorded of a paid object which the API no longer knows. */
export const GONE = "gone";

/**
 * Refreshes one recorded object. Sends GETs only. A paid object that is gone stays in the state: dropped, Terraform would
 * order it again automatically. A create without known outcome is adopted where the account certainly shows what it made.
 * @throws ApiError when the account cannot be read.
 */
export async function readResource(
  kind: Kind,
  state: JsonObject,
  mark: Mark,
  scope: ProviderScope,
): Promise<ReadAnswer> {
  const { journal, host } = scope.session;
  const name = nameOf(kind, state);
  const noted = name === undefined ? undefined : journal.get(kind.type, name);
  const dropNote = () => {
    if (name !== undefined && noted !== undefined && isRecorded(kind, state, mark, noted))
      journal.remove(kind.type, name);
  };
  const recorded = mergeEntry(kind, state, noted);
  const prior = recordedAs(kind, recorded, mark);
  if (isPendingCreate(prior)) {
    dropNote();
    return readPending(kind, recorded, prior, scope);
  }
  const alone = await scope.collections.isAlone(kind, parentOf(kind, prior.attributes));
  const parentKind = kinds.get(kind.nested?.in ?? "");
  const seen = await read(scope.account, { kind, prior, config: undefined, alone, parentKind });
  const kept = seen.status === "present" ? observedMark(mark, seen.phase) : settledMark(mark);
  if (seen.status === "present") {
    const readable = kind.list !== undefined || kind.get !== undefined;
    if (readable && mark.host !== undefined && mark.host !== host && !isSame(kind, recorded, seen.attributes))
      throw new HostformError([otherHost(kind, recorded, "refreshed")]);
    dropNote();
    const { values, mark: left } = withoutWaiting(kind, seen.attributes, { ...kept, host }, seen.phase);
    const state = withProviderAttributes(kind, values, recorded) as JsonObject;
    if (left.lost) scope.noteLost(kind, state);
    const diagnostics = [
      ...(left.deposed === undefined ? [] : [leftBehind(kind, left.deposed)]),
      ...(seen.unlisted === undefined ? [] : [notListed(kind, prior.address, seen.unlisted)]),
      ...(seen.waitsFor === undefined ? [] : [shownLater(kind, seen.waitsFor)]),
      ...(await doublesOf(kind, prior, scope)),
    ];
    return { state, mark: left, diagnostics };
  }
  if (seen.status === "absent" || kind.creation === "listable") {
    const why = await notAgain(kind, recorded, prior.address, scope);
    // What was noted of it is gone with it; a note of another object, which was to replace it, stays.
    if (name !== undefined && typeof state.id === "string" && noted?.attributes.id === state.id)
      journal.remove(kind.type, name);
    if (why === undefined) return { state: null, mark: {}, diagnostics: [] };
    return { state: withProviderAttributes(kind, recorded, recorded) as JsonObject, mark: kept, diagnostics: [why] };
  }
  // What the account still shows of it (a status such as "terminated"); else only that it is gone.
  const last = (await scope.account.list(kind, parentOf(kind, prior.attributes))).get(String(recorded.id));
  const attributes =
    last === undefined ? { ...recorded, status: GONE } : refreshed(kind, recorded, last, prior.private.shown);
  return { state: withProviderAttributes(kind, attributes, recorded) as JsonObject, mark: kept, diagnostics: [] };
}

/**
 * Why an object that is gone is not to be made again: it ended on its own, or what it belongs to is gone too. It stays in the
 * state then; out of it, Terraform would plan just that, and the API would refuse it, with every plan from now on.
 */
async function notAgain(
  kind: Kind,
  recorded: JsonObject,
  what: string,
  { account }: ProviderScope,
): Promise<Diagnostic | undefined> {
  const expired = kind.expired?.(recorded, account.hostNow());
  if (expired !== undefined) {
    return {
      severity: "warning",
      code: "plan.expired",
      summary: `${what} is gone and is not made again: ${expired}`,
      remedies: ["Remove it, or give a later `expires_at`."],
    };
  }
  const parent = parentOf(kind, recorded);
  const holder = kinds.get(kind.nested?.in ?? "");
  if (parent === undefined || holder === undefined) return undefined;
  const found = await account.find(holder, parent);
  if (found !== undefined && found.phase !== "gone") return undefined;
  return {
    severity: "warning",
    code: "apply.skipped",
    summary: `${what} is left alone: ${holder.noun} ${parent}, which it belongs to, is gone`,
    remedies: [`Remove both, or settle the ${holder.noun} first.`],
  };
}

/** Warns of other objects with the same natural key, once, where the collection was listed anyway. */
async function doublesOf(
  kind: Kind,
  { address, attributes }: ResourceState,
  scope: ProviderScope,
): Promise<Diagnostic[]> {
  const listed = (await scope.account.listed(kind))?.values() ?? [];
  return sameInUse(kind, listed).flatMap((same) => {
    const own = same.find(({ id }) => id === attributes.id);
    if (own === undefined || !scope.isFirst(`${kind.type} ${kind.naturalKey(attributes)}`)) return [];
    return [billedTwice(kind, same, own, address)];
  });
}

/** At another address of the API an id is believed only if all that distinguishes objects is equal. */
function isSame(kind: Kind, recorded: JsonObject, reported: JsonObject): boolean {
  const [was, is] = [recorded.created_at ?? null, reported.created_at ?? null];
  return was !== null && was === is && kind.naturalKey(recorded) === kind.naturalKey(reported);
}

/** hostform made a new one first and did not come to delete the old one. */
function leftBehind(kind: Kind, { id }: JsonObject): Diagnostic {
  return {
    severity: "warning",
    code: "plan.prevented",
    summary: `${kind.noun} ${String(id)}, which this one replaced, is still there`,
    detail: "A run of hostform made the new one and could not delete the old one.",
    remedies: [`It is deleted with the next change of this ${kind.noun}; or delete it yourself.`],
  };
}

/** Terraform says "No changes" of it, too. It shows warnings with one summary as one: so many objects are no noise. */
function notListed(kind: Kind, what: string, created: string): Diagnostic {
  return {
    severity: "warning",
    code: "account.unlisted",
    summary: `A ${kind.noun} was created just now, and no list shows it yet`,
    detail: `${what} was created at ${created}. It is taken as recorded.`,
    remedies: ["Nothing to do. Once `list_lag` is over, a plan shows what the account has."],
  };
}

/**
 * Once the object is live, what waited for that shows as not done. What a status that is not understood does not show is
 * not known: what is declared of it is planned, and the apply says why it cannot be done.
 */
function withoutWaiting(
  kind: Kind,
  attributes: JsonObject,
  { waiting, ...mark }: Mark,
  phase: string,
): { values: JsonObject; mark: Mark } {
  if (waiting !== undefined && phase === "pending") return { values: attributes, mark: { ...mark, waiting } };
  const silent = attributesOf(kind).flatMap(([name, , { unreadable }]) =>
    waiting?.includes(name) && (unreadable || phase === "unknown") ? [name] : [],
  );
  const unseen = phase === "unknown" ? unseenNames(kind, attributes) : [];
  const unknown = Object.fromEntries([...silent, ...unseen].map((name) => [name, null]));
  return { values: { ...attributes, ...unknown }, mark };
}

/** A create without known outcome: what the account certainly shows is adopted, all else is left to the plan. */
async function readPending(
  kind: Kind,
  state: JsonObject,
  prior: PendingCreate,
  scope: ProviderScope,
): Promise<ReadAnswer> {
  const left: ReadAnswer = { state, mark: prior.private, diagnostics: [] };
  if (kind.creation === "blind" || returnsSecretOnce(kind, prior.attributes)) return left;
  const { account, session } = scope;
  const settled = await settledByAccount(account, kind, prior);
  if (settled === undefined) return left;
  const { attributes } = settled;
  const summary = `${prior.address} was made by a request whose answer was lost: adopted ${kind.noun} ${String(attributes.id)}`;
  return {
    state: withProviderAttributes(kind, attributes, state) as JsonObject,
    mark: { ...settled.private, host: session.host },
    diagnostics: [{ severity: "warning", code: "apply.replayed", summary }],
  };
}

/**
 * Reads the object that is to be adopted. What the API never returns stays null, and the next plan records what is declared
 * of it without a request; what has a default gets it.
 * @throws HostformError `plan.gone` when the account does not have it, `usage` when the id cannot be one.
 */
export async function importResource(kind: Kind, id: string, scope: ProviderScope): Promise<JsonObject> {
  const parsed = kind.parseImportId?.(id);
  if (kind.parent !== undefined && parsed === undefined) {
    fail("usage", `A ${kind.noun} is imported by two ids: ${kind.parent}/ID`, {
      detail: `The id is ${JSON.stringify(id)}.`,
      remedies: [
        `For example \`terraform import ${kind.type}.NAME '1001/${kind.nested?.keyAttribute === "email" ? "dev@acme.example" : "7"}'\`.`,
      ],
    });
  }
  const alone = await scope.collections.isAlone(kind, parsed?.parent);
  const seen = await read(scope.account, { kind, prior: undefined, importId: id, config: undefined, alone });
  if (seen.status !== "present") {
    const how = seen.status === "gone" ? seen.how : "does not exist";
    fail("plan.gone", `${kind.noun} ${id} ${how}`, {
      detail: `The account of this provider configuration does not show it.${kind.parent === undefined ? ` A ${kind.noun} is imported by its id, nothing else.` : ""}`,
      remedies: [
        `Correct the id: \`data "${kind.type}s"\` shows those that there are. Or use the provider configuration (token) of the account that has it.`,
      ],
    });
  }
  scope.noteImported(kind, seen.attributes);
  const defaults = attributesOf(kind).flatMap(([name, , meta]) =>
    meta.default !== undefined && seen.attributes[name] == null ? [[name, meta.default] as const] : [],
  );
  return {
    ...Object.fromEntries(Object.keys(schemaOf(kind).attributes).map((name) => [name, null])),
    ...seen.attributes,
    ...Object.fromEntries(defaults),
  };
}
