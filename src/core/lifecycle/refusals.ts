import { identityOf, importIdOf, type Kind, type Remote } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  type Diagnostic,
  equal,
  hasUnknown,
  type Json,
  type JsonObject,
  openJson,
  openValue,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../model/index.ts";
import { unreadableOf } from "./attributes.ts";
import { formsSeen } from "./own-forms.ts";
import { madeThen, type PendingCreate, type Sent } from "./pending-create.ts";
import type { PendingDecision } from "./pending-facts.ts";

/** Resource of an error message. This file has one function for each reason to reject a change. */
interface Subject {
  readonly kind: Kind;
  readonly address: string;
  readonly prior?: { readonly attributes: JsonObject } | undefined;
  readonly importId?: string;
  ownerOf?(remote: Remote): string | undefined;
  /** Other pending creations of the kind. */
  readonly siblings?: readonly PendingCreate[] | undefined;
  /** Returns true if a `removed` block names the address. */
  isRemoved?(address: string): boolean;
  /** True if the caller does not see all addresses of the state. */
  readonly isStatePartial?: boolean | undefined;
  /** Observation of the resource. */
  readonly observed?: { readonly status: string };
}

const about = ({ kind: { noun }, address }: Subject) => ({ address, noun });

/** Returns the message parameters of these objects. */
function objects(subject: Subject, live: readonly Remote[]) {
  const { kind, address } = subject;
  const [first] = live;
  // Messages never contain URLs of unmanaged objects, because a URL may contain a token.
  const label = first?.attributes.domain ?? first?.attributes.email;
  return {
    ...about(subject),
    isPaid: kind.quote !== undefined,
    ids: live.map(({ id }) => id),
    label: typeof label === "string" && !`${first?.id} ${address}`.includes(label) ? label : undefined,
    object: first && importIdOf(kind, first.id, first.attributes),
  };
}

const shown = (value: Value) => (value === UNKNOWN ? "(known after apply)" : openJson(value));

/** Returns a value that a remedy may repeat. Undefined if the value has a secret part. */
const openOnly = (value: Json): Json | undefined => (equal(openValue(value), value) ? value : undefined);

interface Difference {
  readonly before: Value;
  readonly after: Value;
  readonly secret: boolean;
}

/** Returns the message parameters of a difference. Remedies contain no secret and no unknown value. */
const difference = (subject: Subject, name: string, { before, after, secret }: Difference) => ({
  ...about(subject),
  name,
  attribute: [name],
  was: shown(before),
  becomes: shown(after),
  isSecret: secret,
  value: secret || hasUnknown(before) ? undefined : openOnly(before as Json),
});

/**
 * Returns the error about a change of an immutable attribute.
 * @param cause Given if the declaration did not change: the host kept its own value, or somebody changed it.
 */
export function immutable(subject: Subject, name: string, values: Difference, cause?: "kept" | "changed"): Diagnostic {
  const { kind } = subject;
  const isPaid = kind.quote !== undefined;
  const about = difference(subject, name, values);
  // Another domain is another order. The API cannot change a registered domain.
  if (cause === undefined && kind.creation === "blind" && name !== kind.words.name)
    return problem("plan.immutable/once", { ...about, id: idOf(subject) });
  return cause === undefined
    ? problem("plan.immutable", { ...about, isPaid })
    : problem("plan.immutable/account", { ...about, isKept: cause === "kept" });
}

const idOf = ({ prior, importId }: Subject) => String(prior?.attributes.id ?? importId);

export const mismatch = (subject: Subject, name: string, values: Difference): Diagnostic =>
  problem("plan.mismatch", { ...difference(subject, name, values), id: idOf(subject) });

/**
 * Returns the error about two declarations with the same natural key. An apply may find it late, if references contain the
 * key.
 */
export const duplicate = ({ noun }: Pick<Kind, "noun">, address: string, other: string): Diagnostic =>
  problem("config.duplicate", { address, noun, other });

/** Returns the error about existing objects with the same natural key. @param holder Other state that contains the object. */
export function existing(subject: Subject, matches: readonly Remote[], holder?: string): Diagnostic {
  const { ownerOf, prior, observed } = subject;
  const [only, ...others] = matches;
  const owner = only !== undefined && others.length === 0 ? ownerOf?.(only) : undefined;
  const found = objects(subject, matches);
  const isRemoved = owner !== undefined && subject.isRemoved?.(owner) === true;
  if (owner !== undefined)
    return problem("plan.exists/held", { ...found, owner, isOccupied: prior !== undefined, isRemoved });
  if (holder !== undefined) return problem("plan.exists/copied", { ...found, holder });
  const id = prior?.attributes.id;
  const place = observed?.status === "present" ? "twin" : "replaced";
  if (typeof id === "string") return problem(`plan.exists/${place}`, { ...found, id });
  return problem(subject.isStatePartial ? "plan.exists/unseen" : "plan.exists", found);
}

/** Returns the error about an import whose object does not exist or has ended. */
export const notImportable = (subject: Subject, how: string): Diagnostic =>
  problem("plan.gone/import", { ...about(subject), object: idOf(subject), how, attribute: ["import"] });

/** Returns the hidden attributes of the natural key, joined by commas. */
const hiddenNames = (kind: Kind, config: ValueObject, live: readonly Remote[]) =>
  [...new Set(live.flatMap(({ attributes }) => unreadableOf(kind, config, attributes)))].join(", ");

export const unreadable = (
  subject: Subject,
  config: ValueObject,
  live: readonly Remote[],
  severity: Diagnostic["severity"] = "error",
): Diagnostic =>
  problem("plan.unreadable", { ...objects(subject, live), hidden: hiddenNames(subject.kind, config, live), severity });

export const unknownValues = (address: string, values: JsonObject): Diagnostic[] =>
  Object.entries(values).map(([name, is]) => problem("plan.unknown_date", { address, name, attribute: [name], is }));

/** Returns the question about a pending creation. */
export function questionOf(
  subject: Subject,
  { attributes, private: { pending } }: Sent,
  { row, objects: all, rows }: Pick<PendingDecision, "row" | "objects" | "rows">,
  severity?: Diagnostic["severity"],
): Diagnostic {
  const { kind } = subject;
  if (row === "blind" || row === "accepted") return problem(`plan.pending/${row}`, { ...about(subject), severity });
  const { fromCatalogue: of } = kind;
  const others = new Set(rows.flatMap(({ id, differs }) => (of && differs === of.attribute ? [id] : [])));
  const ofPlan = all.filter(({ id }) => !others.has(id));
  // Objects with another hosting plan count only if there are no other candidates.
  const candidates = ofPlan.length > 0 ? ofPlan : all;
  const { object, ...found } = objects(subject, candidates);
  const identity = identityOf(kind);
  const [form] = candidates.flatMap(({ attributes: live }) =>
    Object.entries(formsSeen(kind, { sent: attributes, live, before: {} }, "made")).filter(([name]) =>
      identity.includes(name),
    ),
  );
  const { since } = pending;
  const otherPlan = of && ofPlan.length === 0 ? (candidates[0]?.attributes[of.name] ?? null) : undefined;
  // An object without a creation time agrees with any request.
  const elsewhen = candidates.find((live) => !madeThen(pending, live, Date.parse(since)));
  return problem("plan.pending/undecided", {
    ...found,
    object: candidates.length === 1 && ofPlan.length > 0 ? object : undefined,
    otherPlan,
    isAccepted: pending.accepted === true,
    form: form && [form[0], form[1].is, form[1].sent],
    hidden: hiddenNames(kind, attributes, candidates),
    created: elsewhen && { id: elsewhen.id, at: String(elsewhen.attributes.created_at) },
    since,
    severity,
  });
}

/**
 * Returns the error about an unmanaged object that may be the declared object. Examples: a service without a domain, or a
 * name that the host changed or shortened.
 */
export function lookalike(
  subject: Subject,
  live: readonly Remote[],
  config: ValueObject = {},
  severity: Diagnostic["severity"] = "error",
): Diagnostic {
  const { kind, address, ownerOf } = subject;
  const named = live.filter(({ attributes }) => kind.naturalKey(attributes) !== undefined);
  const shownBy = (objects: readonly Remote[]) =>
    objects.map(({ attributes: { plan = null, domain = null } }) => [plan, domain] as const);
  if (kind.naturalKey(config) !== undefined && named.length > 0) {
    const [name = ""] = identityOf(kind);
    const is = named[0]?.attributes[name] ?? null;
    const declared = (config[name] ?? null) as Json;
    return problem("plan.lookalike", {
      ...objects(subject, named),
      shown: shownBy(named),
      other: [name, is, declared],
      severity,
    });
  }
  const former = live.map((remote) => ownerOf?.(remote)).find((held) => held !== undefined);
  return former === undefined
    ? problem("plan.lookalike", {
        ...objects(subject, live),
        shown: shownBy(live),
        pending: subject.siblings?.[0]?.address,
        severity,
      })
    : problem("plan.lookalike/renamed", { address, former });
}
