import type { Value, ValueObject } from "../model/index.ts";
import { attributesOf, refreshed } from "./attributes.ts";
import { certainlyMade, newlyMade, type PendingCreate, returnsSecretOnce, strangers } from "./doubt.ts";
import { type PlanInput, type Planned, unchanged } from "./planned.ts";
import { notShown, pending, undecided } from "./refusals.ts";

/** The ways in which a resource is planned otherwise, given by whoever plans. */
export interface Ways {
  create(input: PlanInput, text: string, requests?: number): Planned;
  adopt(input: PlanInput): Planned;
}

/**
 * Plans a resource whose create was begun by an earlier run and has no known outcome. It is settled as it was sent,
 * whatever is declared by now; what was edited since is the next plan's. What the account shows decides, whatever the age of
 * the request: clocks may be wrong, and how long a host remembers a key is not known.
 *
 * | class | the account shows | then |
 * | --- | --- | --- |
 * | keyed, listable | something else that is new | left alone: a host may show it in a form of its own |
 * | keyed, listable | nothing new | sent again; an order with the same key and bytes |
 * | keyed, listable, accepted with an answer that names nothing | nothing new like it | left alone: it is looked for again |
 * | keyed, listable | one new object with its natural key, made at that time | adopted; recreated if a secret was lost with the answer |
 * | keyed, listable | anything else | left alone: the user decides |
 * | blind | — | left alone: the user decides |
 *
 * The apply waits before it sends anything again, until lists certainly show what there is, and looks once more.
 */
export function planPending(input: PlanInput, prior: PendingCreate, ways: Ways): Planned {
  const { kind, observed, now } = input;
  const { pending: intent } = prior.private;
  if (kind.creation === "blind") return unchanged(input, prior.attributes, [pending(input)]);
  const then = asSent(input, prior);
  const made = newlyMade(input, prior, observed);
  if (made.length === 0) {
    const others = strangers(kind, prior, observed, input);
    if (others.length > 0) return unchanged(input, prior.attributes, [undecided(input, prior, others)]);
    if (intent.accepted) return unchanged(input, prior.attributes, [notShown(input)]);
    const again = `the answer to the request of ${intent.since} was lost: the same is sent again`;
    return ways.create(then, kind.creation === "keyed" ? `${again}, with the same key` : again);
  }
  const only = certainlyMade(kind, prior, made, now);
  if (only === undefined) return unchanged(input, prior.attributes, [undecided(input, prior, made)]);
  if (returnsSecretOnce(kind, prior.attributes)) {
    const text = `the answer to its creation was lost, and with it the secret: ${kind.noun} ${only.id} is deleted, another is made`;
    return ways.create(then, text, 2);
  }
  const attributes = refreshed(kind, prior.attributes, only);
  return ways.adopt({ ...then, importId: only.id, observed: { status: "present", attributes, phase: only.phase } });
}

/** The declaration with what made the request what it was put back to what was sent. */
function asSent(input: PlanInput, { attributes }: PendingCreate): PlanInput {
  const config: Record<string, Value> = { ...input.config };
  for (const [name, , { change }] of attributesOf(input.kind)) {
    if (change !== "immutable" && change !== "replace" && name !== "reference") continue;
    const sent = attributes[name] ?? null;
    if (sent === null) delete config[name];
    else config[name] = sent;
  }
  return { ...input, config: config satisfies ValueObject };
}
