/**
 * The harmless writes: a webhook that is refused, one that is registered and removed again, and a check of domains by POST.
 * They order, mail and set nothing. The webhook is removed in any case, also after an interruption and after a lost answer;
 * if that fails, it is reported.
 */

import { sameAddress } from "../core/api/address.ts";
import { readAnswer } from "../core/api/answers.ts";
import { createListing } from "../core/api/listing.ts";
import { ApiError, HostformError, isObject } from "../core/model/index.ts";
import { type Asker, NAMES, type Sight, type Written } from "./survey.ts";

export interface WriteOptions {
  /** URL of the webhook. Default: a name that never exists (RFC 2606). */
  readonly webhookUrl?: string | undefined;
  /** Numbers from 0 up to 1, for a default address that is unique to this run. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
  /** Called as soon as a webhook exists, so that its id is known in any case. */
  readonly onRegistered?: ((id: string, url: string) => void) | undefined;
  /** Called with its signing secret, so that no output shows it. */
  readonly onSecret?: ((secret: string) => void) | undefined;
}

/** A webhook that this run registered and that may still exist. `id` is null where it is unknown. */
export interface Leftover {
  readonly id: string | null;
  readonly url: string;
}

/** Pages of webhooks that are read to find one. Where an account has more, none is registered. */
const MOST_PAGES = 2;
/** The largest number of requests: the domains, two registrations, two removals, and three lists of webhooks. */
export const MOST_WRITES = 5 + 3 * MOST_PAGES;

/** The rarest event: an event of these seconds would be lost. */
const EVENT = "service.transfer_accepted";

/**
 * Sends them. It lists the webhooks first, which is the only way to find one whose answer was lost. Where they cannot be
 * listed, none is registered.
 * @throws HostformError `contract.leftover` when an interruption left a webhook behind, else the signal's reason.
 */
export async function tryWrites(
  asker: Asker,
  { webhookUrl, random, signal, onRegistered, onSecret }: WriteOptions,
): Promise<Written & { readonly leftover?: Leftover }> {
  const nonce = Math.floor(random() * 0xffff_ffff)
    .toString(16)
    .padStart(8, "0");
  const url = webhookUrl ?? `https://hostform-contract-check-${nonce}.invalid/`;
  // A request under way is not aborted: its answer says what to remove.
  const steady = asker.uninterrupted();
  const domains = await asker.one({ endpoint: "checkDomainsByPost", body: { domains: NAMES } });
  const listed = await webhooks(asker).catch((error: unknown) => {
    signal?.throwIfAborted();
    if (error instanceof ApiError) return error;
    throw error;
  });
  const nothing = { id: undefined, secretName: undefined, removed: undefined, gone: undefined };
  const skip = (skipped: string) => ({ ...nothing, invalid: undefined, registered: undefined, domains, skipped });
  if (listed instanceof ApiError) return skip("The webhooks cannot be listed, so none was registered.");
  // Some servers treat a second registration of an address as a change of the first.
  if (listed.some((one) => sameAddress(url, one.url))) {
    return skip("A webhook with this address already exists, and was not changed. Give another address.");
  }
  const before = new Set(listed.map(({ id }) => id));
  const attempts: Attempt[] = [];
  const attempt = async (body: { url: string; events: string[] }): Promise<Sight | undefined> => {
    if (signal?.aborted) return undefined;
    const sight = await steady.one({ endpoint: "createWebhook", body, stop: signal });
    const made = sight.problem === undefined ? readAnswer("createWebhook", sight.answer?.json) : null;
    const doubtful = sight.problem?.reached === "maybe" || (sight.problem === undefined && made?.id == null);
    attempts.push({ url: body.url, id: made?.id ?? null, doubtful });
    if (made?.secret) onSecret?.(made.secret);
    if (made?.id) onRegistered?.(made.id, body.url);
    return sight;
  };

  const invalid = await attempt({ url: "not an address", events: [] });
  const registered = await attempt({ url, events: [EVENT] });
  const { removed, leftover, gone } = await removeMade(steady, attempts, before);
  if (signal?.aborted) {
    if (leftover !== undefined) throw new HostformError([leftoverDiagnostic(leftover)]);
    signal.throwIfAborted();
  }
  const json = registered?.answer?.json;
  const made = registered?.problem === undefined ? readAnswer("createWebhook", json) : null;
  return {
    invalid,
    registered,
    id: made?.id ?? undefined,
    secretName: made?.secret == null ? undefined : nameOf(json, made.secret),
    removed,
    gone,
    domains,
    ...(leftover !== undefined && { leftover }),
  };
}

interface Attempt {
  readonly url: string;
  readonly id: string | null;
  /** It may have registered a webhook whose id is unknown. */
  readonly doubtful: boolean;
}

/** Removes the webhooks of the attempts: only those that did not exist before, and have the address of an attempt. */
async function removeMade(
  asker: Asker,
  attempts: readonly Attempt[],
  before: ReadonlySet<string>,
): Promise<{ removed: Sight | undefined; leftover?: Leftover; gone: boolean | undefined }> {
  let removed: Sight | undefined;
  const remove = async (id: string) => {
    removed = await asker.one({ endpoint: "deleteWebhook", params: { id } });
  };
  for (const { id } of attempts) if (id !== null && !before.has(id)) await remove(id);
  const doubt = attempts.find(({ doubtful }) => doubtful);
  const known = attempts.findLast(({ id }) => id !== null);
  if (doubt === undefined && known === undefined) return { removed, gone: undefined };
  const ours = async () =>
    (await webhooks(asker)).filter(
      (one) => !before.has(one.id) && attempts.some(({ id, url }) => id === one.id || sameAddress(url, one.url)),
    );
  try {
    let left = await ours();
    const [only] = left;
    // Of two with the same address one is not ours, and they cannot be distinguished.
    if (doubt !== undefined && left.length === 1 && only !== undefined) {
      await remove(only.id);
      left = await ours();
    }
    const [still] = left;
    if (still === undefined) return { removed, gone: true };
    return { removed, gone: false, leftover: { id: left.length === 1 ? still.id : null, url: still.url ?? "" } };
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    // The list cannot be read, so the answer to the removal decides.
    if (doubt === undefined && removed !== undefined && removed.problem === undefined) {
      return { removed, gone: undefined };
    }
    const { id, url } = doubt ?? known ?? { id: null, url: "" };
    return { removed, gone: undefined, leftover: { id, url } };
  }
}

function webhooks(asker: Asker): Promise<{ readonly id: string; readonly url: string | null }[]> {
  return createListing({
    endpoint: "listWebhooks",
    maxPages: MOST_PAGES,
    pageSize: 100,
    fetchPage: async (page) => {
      const query = Object.entries({ page: String(page), per_page: "100" });
      const sight = await asker.one({ endpoint: "listWebhooks", query });
      if (sight.problem !== undefined) throw sight.problem;
      return { json: sight.answer?.json };
    },
  }).all();
}

/** The name of the field that holds a value, in the answer, in its `data`, or in an object there. */
function nameOf(json: unknown, value: string, depth = 0): string | undefined {
  if (!isObject(json) || depth > 3) return undefined;
  const own = Object.keys(json).find((name) => json[name] === value);
  return own ?? Object.values(json).flatMap((inner) => nameOf(inner, value, depth + 1) ?? [])[0];
}

export function leftoverDiagnostic({ id, url }: Leftover) {
  const which = id === null ? `with the URL ${url}` : `${id} with the URL ${url}`;
  return {
    severity: "error" as const,
    code: "contract.leftover" as const,
    summary: `The webhook ${which} was registered for the check and may still be there`,
    detail: "Its removal could not be confirmed. Its events are lost, or go to the address that you gave.",
    remedies: ["Look for it with `hostform webhooks`, and remove it in the dashboard."],
  };
}
