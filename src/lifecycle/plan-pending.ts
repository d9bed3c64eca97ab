import { type Kind, matches, type Remote } from "../kinds/kind.ts";
import type { Intent, Value, ValueObject } from "../model/index.ts";
import { attributesOf, refreshed } from "./attributes.ts";
import { type Doubtful, madeBetween, madeThen, newSince, tellsOnce } from "./doubt.ts";
import { keyIsTrusted } from "./key.ts";
import { type PlanInput, type Planned, unchanged } from "./planned.ts";
import type { Observation } from "./read.ts";
import { pending, undecided } from "./refusals.ts";

/** The ways in which a resource is planned otherwise, given by whoever plans. */
export interface Ways {
  create(input: PlanInput, text: string, requests?: number): Planned;
  adopt(input: PlanInput): Planned;
}

/**
 * Plans a resource whose create was begun by an earlier run and has no known outcome. It is settled as it was sent,
 * whatever is declared by now; what was edited since is the next plan's.
 *
 * | class | the account shows | then |
 * | --- | --- | --- |
 * | keyed, key still young | one service with its domain, made before that | adopted: another machine sent it |
 * | keyed, key still young | anything else | sent again with the same key and bytes |
 * | keyed, key too old | nothing new like it | sent again with the same key and bytes |
 * | keyed, key too old | one new service with its domain | adopted |
 * | listable | nothing new like it | sent again |
 * | listable | one new object like it | adopted; made anew if a secret was lost with the answer |
 * | keyed, listable | anything else | left alone: the user decides |
 * | blind | — | left alone: the user decides |
 */
export function planPending(input: PlanInput, prior: Doubtful, ways: Ways): Planned {
  const { kind, observed, now } = input;
  const { pending: intent } = prior.private;
  if (kind.creation === "blind") return unchanged(input, prior.attributes, [pending(input)]);
  const then = asSent(input, prior);
  const made = newlyMade(input, prior, observed);
  const [only] = made;
  const again = `the answer to the request of ${intent.since} was lost: the same is sent again`;
  const young = kind.creation === "keyed" && keyIsTrusted(intent.since, now, input.keyLifetimeMs);
  if (young && !wasMadeBefore(intent, certainlyMade(kind, prior, made, now))) {
    return ways.create(then, `${again}, with the same key`);
  }
  if (only === undefined) return ways.create(then, kind.creation === "keyed" ? `${again}, with the same key` : again);
  if (certainlyMade(kind, prior, made, now) === undefined)
    return unchanged(input, prior.attributes, [undecided(input, made)]);
  if (tellsOnce(kind, prior.attributes)) {
    const text = `the answer to its creation was lost, and with it the secret: ${kind.noun} ${only.id} is deleted, another is made`;
    return ways.create(then, text, 2);
  }
  const attributes = refreshed(kind, prior.attributes, only);
  return ways.adopt({ ...then, importId: only.id, observed: { status: "present", attributes, phase: only.phase } });
}

/** What the account shows that the create may have made: alike, not there before, nobody else's. */
export function newlyMade(
  { kind, holder }: { readonly kind: Kind; holder?(remote: Remote): string | undefined },
  { private: { pending: intent } }: Doubtful,
  observed: Observation,
): Remote[] {
  const alike = observed.status === "present" ? [] : (observed.alike ?? []);
  const unheld = newSince(intent, alike, holder);
  return kind.creation === "keyed" ? unheld : unheld.filter(({ phase }) => phase !== "gone");
}

/**
 * Whether an object was made a while before the request left: by a run on another machine, which sent the same key earlier
 * than this one trusts it from.
 */
function wasMadeBefore({ since }: Intent, made: Remote | undefined): boolean {
  const [, last] = (made && madeBetween(made)) ?? [];
  return last !== undefined && last < Date.parse(since) - OTHERS_MS;
}

const OTHERS_MS = 10_000;

/** The one object that the create has certainly made: alone, alive, with its natural key, and made at that time. */
export function certainlyMade(kind: Kind, prior: Doubtful, made: readonly Remote[], now: number): Remote | undefined {
  const [only, ...others] = made;
  const same = only !== undefined && only.phase !== "gone" && matches(kind, prior.attributes, only.attributes);
  return same && others.length === 0 && madeThen(prior.private.pending, only, now) ? only : undefined;
}

/** The declaration with what made the request what it was put back to what was sent. */
function asSent(input: PlanInput, { attributes }: Doubtful): PlanInput {
  const config: Record<string, Value> = { ...input.config };
  for (const [name, , { change }] of attributesOf(input.kind)) {
    if (change !== "immutable" && change !== "replace" && name !== "reference") continue;
    delete config[name];
    const sent = attributes[name];
    if (sent !== undefined && sent !== null) config[name] = sent;
  }
  return { ...input, config: config satisfies ValueObject };
}
