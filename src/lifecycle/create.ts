import type { Answers, Mutation, MutationName } from "../api/index.ts";
import { type Created, type Kind, matches, type Remote } from "../kinds/kind.ts";
import {
  ApiError,
  type Change,
  type Diagnostic,
  fail,
  HostformError,
  isObject,
  type JsonObject,
  type PrivateMark,
} from "../model/index.ts";
import { attributesOf, sameValue } from "./attributes.ts";
import type { ApplyContext } from "./context.ts";
import { idempotencyKey, keyIsTrusted } from "./key.ts";
import { parentOf } from "./read.ts";

export interface CreateContext extends Pick<ApplyContext, "account" | "writer" | "project" | "now"> {
  /** Records durably that an order was begun. */
  markPending(pending: NonNullable<PrivateMark["pending"]>): Promise<void>;
  /** Takes that back; `spent` is the generation of a key that must not be used again by itself. */
  unmark(spent?: number): Promise<void>;
}

/**
 * Sends a create, in the way of its class, and says what was made. When the answer is lost:
 * keyed: the client has sent the same key and bytes again; listable: the collection shows whether it happened;
 * blind: the resource stays marked as pending and the request is never sent again by itself.
 * @throws HostformError; `plan.pending` or `api.ambiguous` when it is not known whether the object was made.
 */
export async function create(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  context: CreateContext,
): Promise<Created> {
  switch (kind.creation) {
    case "keyed":
      return createKeyed(kind, change, planned, context);
    case "listable":
      return createListable(kind, change, planned, context);
    case "blind":
      return createBlind(kind, change, planned, context);
  }
}

async function createKeyed(kind: Kind, change: Change, planned: JsonObject, context: CreateContext): Promise<Created> {
  const { account, writer, project } = context;
  const { pending, generation = 1 } = change.private;
  const before = await account.list(kind);
  if (pending !== undefined) checkResend(kind, change, planned, [...before.values()], context.now());
  const name = kind.orderReference?.(planned) ?? change.address;
  const key = pending?.idempotencyKey ?? idempotencyKey(project, name, generation);
  const answer = await marked(kind.create(planned, key), pending, context, (mutation) => perform(writer, mutation));
  const made = kind.created(answer, planned, account.settings);
  const earlier = made.id === null ? undefined : before.get(made.id);
  if (earlier === undefined) return made;
  if (earlier.phase === "gone") {
    await context.unmark(generation);
    fail("apply.replayed", `The order of ${change.address} was answered with ${kind.noun} ${made.id}, which is gone`, {
      detail: "The API still remembers this order's Idempotency-Key and repeated its old answer: nothing was ordered.",
      fix: `Order it anew on purpose with \`--reorder '${change.address}'\`, or declare another \`reference\`.`,
      address: change.address,
    });
  }
  const other = differing(kind, planned, earlier);
  if (other !== undefined) {
    await context.unmark();
    fail(
      "apply.replayed",
      `The order of ${change.address} was answered with ${kind.noun} ${made.id}, which is another one`,
      {
        detail: `Its ${other} is ${JSON.stringify(earlier.attributes[other])}, declared is ${JSON.stringify(planned[other])}. An earlier order had the same project and name, and the API repeated its answer: nothing was ordered.`,
        fix: "Declare another `reference` (or another name) to order it, or `hostform import` the one that is there.",
        address: change.address,
      },
    );
  }
  const warning: Diagnostic = {
    severity: "warning",
    code: "apply.replayed",
    summary: `${change.address} had been ordered before: adopted ${kind.noun} ${made.id}, nothing new was ordered`,
  };
  // A replay repeats the answer of then; the list shows the service of now. Without a mark of ours it is not known whose
  // order it was: the service is adopted and nothing is done to it yet, and the invoice is not a new one.
  const attributes = { ...made.attributes, ...earlier.attributes };
  const strange = pending === undefined;
  return { ...made, attributes, phase: earlier.phase, warning, ...(strange && { invoice: null, replayed: true }) };
}

/** Between plan and now the key may have grown too old to be relied on; then only the list can speak for sending again. */
function checkResend(kind: Kind, change: Change, planned: JsonObject, live: readonly Remote[], now: number): void {
  const { pending } = change.private;
  if (pending === undefined || keyIsTrusted(pending.since, now)) return;
  const twin = live.find(({ phase, attributes }) => phase !== "gone" && matches(kind, planned, attributes));
  if (twin === undefined && kind.naturalKey(planned) !== undefined) return;
  fail("plan.pending", `It is not known whether ${change.address} was ordered, and too long ago to ask again`, {
    detail: `The order left at ${pending.since}; the API may have forgotten its key by now.`,
    fix: "Run `hostform plan`: it says what there is.",
    address: change.address,
  });
}

/** The first attribute in which a live object is not the planned one. */
function differing(kind: Kind, planned: JsonObject, { attributes }: Remote): string | undefined {
  const found = attributesOf(kind).find(([name, , meta]) => {
    const [told, wanted] = [attributes[name] ?? null, planned[name] ?? null];
    return (
      meta.change === "immutable" &&
      !meta.unreadable &&
      told !== null &&
      wanted !== null &&
      !sameValue(meta, wanted, told)
    );
  });
  return found?.[0];
}

async function createListable(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  context: CreateContext,
): Promise<Created> {
  const { account, writer } = context;
  const parent = parentOf(kind, planned);
  const newParent =
    kind.parent !== undefined && isObject(change.after_unknown) && change.after_unknown[kind.parent] === true;
  const known = newParent ? new Map<string, Remote>() : await account.list(kind, parent);
  const mutation = kind.create(planned, undefined);
  const lookUp = async (): Promise<Created | undefined> => {
    account.forget(kind, parent);
    const fresh = [...(await account.list(kind, parent)).values()];
    const made = fresh.filter(
      (remote) => !known.has(remote.id) && remote.phase !== "gone" && matches(kind, planned, remote.attributes),
    );
    const [only] = made;
    if (made.length > 1) throw several(kind, change, made);
    return only && { ...kind.created(null, planned, account.settings), id: only.id, attributes: only.attributes };
  };

  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await perform(writer, mutation);
      const made = kind.created(answer, planned, account.settings);
      if (made.id !== null) return made;
      // The list gives the id; what only the answer could tell (a secret) stays as the answer told it.
      const listed = (await lookUp()) ?? absent(kind, change);
      return {
        ...made,
        id: listed.id,
        attributes: { ...made.attributes, ...listedOver(listed.attributes, made.attributes) },
      };
    } catch (error) {
      if (!(error instanceof ApiError) || error.reached !== "maybe") throw error;
      const made = await lookUp();
      if (made !== undefined) return made;
      if (attempt === 2) throw error;
    }
  }
}

async function createBlind(kind: Kind, change: Change, planned: JsonObject, context: CreateContext): Promise<Created> {
  try {
    const answer = await marked(kind.create(planned, undefined), undefined, context, (mutation) =>
      perform(context.writer, mutation),
    );
    return kind.created(answer, planned, context.account.settings);
  } catch (error) {
    if (error instanceof ApiError && error.reached !== "maybe") throw error;
    const causes = error instanceof HostformError ? error.diagnostics : [];
    throw new HostformError(
      [
        ...causes,
        {
          severity: "error",
          code: "plan.pending",
          summary: `It is not known whether ${change.address} was ordered`,
          detail: `The request left and its answer was lost. The API has no call that shows a ${kind.noun}, so it is not sent again.`,
          fix: `Look for its invoice (\`hostform invoices\`) or in the dashboard. If it was ordered: \`hostform import '${change.address}' ID\`. If not: \`hostform state rm '${change.address}'\`, and apply again.`,
          address: change.address,
        },
      ],
      { cause: error },
    );
  }
}

/**
 * Sends a request that costs money: that it was begun is on disk before it leaves, and is taken back only when it
 * certainly was not carried out. What succeeds is recorded by the caller, which overwrites the mark.
 */
async function marked<T>(
  mutation: Mutation,
  earlier: PrivateMark["pending"],
  context: CreateContext,
  send: (mutation: Mutation) => Promise<T>,
): Promise<T> {
  const { endpoint: operation, idempotencyKey: key } = mutation;
  const since = earlier?.since ?? new Date(context.now()).toISOString();
  await context.markPending({ since, operation, ...(key !== undefined && { idempotencyKey: key }) });
  try {
    return await send(mutation);
  } catch (error) {
    // A refusal of the second sending says nothing of the first.
    const refused = error instanceof ApiError && error.reached !== "maybe";
    if (refused && earlier === undefined) await context.unmark();
    throw error;
  }
}

const listedOver = (listed: JsonObject, told: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(listed).filter(([name, value]) => value !== null || !(name in told)));

const perform = (writer: ApplyContext["writer"], mutation: Mutation): Promise<Answers[MutationName]> =>
  writer.perform(mutation);

function several(kind: Kind, { address }: Change, made: readonly Remote[]): HostformError {
  return new HostformError([
    {
      severity: "error",
      code: "api.ambiguous",
      summary: `${made.length} new ones could be ${address}: ${made.map(({ id }) => id).join(", ")}`,
      detail: `The answer to its creation was lost, and the list of ${kind.noun}s shows more than one that was not there before.`,
      fix: `See which is right, then \`hostform import '${address}' ID\`; remove the others.`,
      address,
    },
  ]);
}

function absent(kind: Kind, { address }: Change): never {
  fail("api.malformed", `The API answered the creation of ${address} without an id, and its list does not show it`, {
    detail: `A ${kind.noun} that matches the declaration was expected in the list after a successful answer.`,
    fix: "Run `hostform plan` to see whether it appears; if it does not, nothing was made.",
    address,
  });
}
