/** Snapshots without what people typed in as a secret, for sessions: they may be kept where a snapshot should not be. */
import type { StandIns } from "./secrets.ts";
import { readSnapshot, type Snapshot, snapshotText } from "./snapshot.ts";

/** Every token that the sandbox makes begins with it. */
const OWN_TOKEN = "sandbox-";

/**
 * The text of a snapshot, with stand-ins for the secrets in migration requests and in URLs, and another value for tokens that were
 * given one of their own. A text that is no snapshot is not kept: it is refused whenever it is restored.
 */
export function withoutForeignSecrets(text: string, standIns: StandIns): string {
  let snapshot: Snapshot;
  try {
    snapshot = readSnapshot(text);
  } catch {
    return "(a text that is no snapshot)";
  }
  const { collections } = snapshot;
  const tokens = (collections.tokens as { id: number; value?: string }[]).map((row) =>
    row.value?.startsWith(OWN_TOKEN) ? row : { ...row, value: `stand-in-for-token-${row.id}` },
  );
  const migration_requests = standIns.replace(collections.migration_requests) as typeof collections.migration_requests;
  const inUrls = <T extends { url?: string }>(row: T): T =>
    row.url === undefined ? row : { ...row, url: standIns.text(row.url) };
  const webhooks = (collections.webhooks as { id: number; url?: string }[]).map(inUrls);
  const deliveries = (collections.deliveries as { id: number; url?: string }[]).map(inUrls);
  // By their Idempotency-Keys, as those stand in the requests that follow.
  const kept_answers = collections.kept_answers.map((row) => ({ ...row, id: standIns.text(String(row.id)) }));
  return snapshotText({
    ...snapshot,
    collections: { ...collections, tokens, migration_requests, webhooks, deliveries, kept_answers },
  });
}
