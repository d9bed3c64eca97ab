import type { Created, Kind } from "../kinds/kind.ts";
import { type Change, HostformError, type JsonObject } from "../model/index.ts";
import { type CreateContext, intentOf, stopped, wasRefused } from "./creating.ts";
import { pending } from "./refusals.ts";

/** A create that nothing shows: sent once. Without a clear answer the mark stays, and the user decides (`resolve`). */
export async function createBlind(
  kind: Kind,
  change: Change,
  planned: JsonObject,
  { account, writer, markPending, unmark }: CreateContext,
): Promise<Created> {
  if (change.private.pending !== undefined) throw stopped(pending({ kind, address: change.address }));
  const mutation = kind.create(planned, undefined);
  await markPending(intentOf(mutation, account.hostNow()));
  try {
    const made = kind.created(await writer.perform(mutation), planned, account.settings);
    if (!made.unclear) return made;
  } catch (error) {
    if (wasRefused(error)) {
      await unmark();
      throw error;
    }
    const causes = error instanceof HostformError ? error.diagnostics : [];
    throw stopped(pending({ kind, address: change.address }), causes, error);
  }
  throw stopped(pending({ kind, address: change.address }));
}
