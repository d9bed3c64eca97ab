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
import type { ApplyContext } from "./context.ts";
import { idempotencyKey } from "./key.ts";
import { parentOf } from "./read.ts";

export interface CreateContext extends Pick<ApplyContext, "account" | "writer" | "project" | "now"> {
  /** Records durably that an order was begun. */
  markPending(pending: NonNullable<PrivateMark["pending"]>): Promise<void>;
  unmark(): Promise<void>;
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
  const before = await account.list(kind);
  const name = kind.orderReference?.(planned) ?? change.address;
  const key = idempotencyKey(project, name, change.private.generation ?? 1);
  const answer = await marked(kind.create(planned, key), context, (mutation) => perform(writer, mutation));
  const made = kind.created(answer, planned, account.settings);
  const earlier = made.id === null ? undefined : before.get(made.id);
  if (earlier?.phase === "gone") {
    await context.unmark();
    fail("apply.replayed", `The order of ${change.address} was answered with ${kind.noun} ${made.id}, which is gone`, {
      detail: "The API still remembers this order's Idempotency-Key and repeated its old answer: nothing was ordered.",
      fix: `Order it anew on purpose with \`--reorder '${change.address}'\`, or declare another \`reference\`.`,
      address: change.address,
    });
  }
  if (earlier === undefined) return made;
  const warning: Diagnostic = {
    severity: "warning",
    code: "apply.replayed",
    summary: `${change.address} had been ordered before: adopted ${kind.noun} ${made.id}, nothing new was ordered`,
  };
  // A replay repeats the answer of then; the list shows the service of now.
  return { ...made, attributes: { ...made.attributes, ...earlier.attributes }, phase: earlier.phase, warning };
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
      return made.id !== null ? made : ((await lookUp()) ?? absent(kind, change));
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
    const answer = await marked(kind.create(planned, undefined), context, (mutation) =>
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
  context: CreateContext,
  send: (mutation: Mutation) => Promise<T>,
): Promise<T> {
  const { endpoint: operation, idempotencyKey: key } = mutation;
  const since = new Date(context.now()).toISOString();
  await context.markPending({ since, operation, ...(key !== undefined && { idempotencyKey: key }) });
  try {
    return await send(mutation);
  } catch (error) {
    if (error instanceof ApiError && error.reached !== "maybe") await context.unmark();
    throw error;
  }
}

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
