import type { Created, Kind } from "../kinds/kind.ts";
import { type Change, fail, type JsonObject } from "../model/index.ts";
import { createBlind } from "./create-blind.ts";
import { createKeyed } from "./create-keyed.ts";
import { createListable } from "./create-listable.ts";
import { createInTurn } from "./create-turn.ts";
import type { CreateContext } from "./creating.ts";

/**
 * Sends a create, in the way of its class, and says what was made. That it was begun is durable before it leaves, and
 * is taken back only when it certainly was not carried out. When the answer is lost:
 *
 * - keyed: the list decides: nothing new like it, the same key and bytes are sent again; certainly it, adopted; else stopped;
 * - listable: the same, without a key;
 * - blind: the resource stays marked as pending and the request is never sent again by itself.
 *
 * Creates of one token are made in turns by the processes of a machine (create-turn.ts).
 * @throws HostformError; the mark stays wherever it is not known whether the object was made.
 */
export async function create(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  context: CreateContext,
): Promise<Created> {
  const other = context.claim?.(kind, planned);
  if (other !== undefined) {
    fail("config.duplicate", `${change.address} would be the same ${kind.noun} as ${other}`, {
      detail: "What tells one from another came to the same value in both; nothing was sent.",
      remedies: ["Remove one of the two, or correct what it refers to."],
      address: change.address,
    });
  }
  return createInTurn(kind, change, planned, context, (inTurn) => {
    switch (kind.creation) {
      case "keyed":
        return createKeyed(kind, change, planned, inTurn);
      case "listable":
        return createListable(kind, change, planned, inTurn);
      case "blind":
        return createBlind(kind, change, planned, inTurn);
    }
  });
}
