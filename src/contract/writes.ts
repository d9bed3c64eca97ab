/**
 * The harmless writes: a webhook that is refused, one that is registered and removed again, and a question about domains
 * by POST. Nothing here orders, mails or sets anything. What was registered is removed whatever happens, also after an
 * interruption and after a lost answer; what could not be removed is reported.
 */

import { sameAddress } from "../core/api/address.ts";
import { readAnswer } from "../core/api/answers.ts";
import { createListing } from "../core/api/listing.ts";
import { ApiError, HostformError, isObject } from "../core/model/index.ts";
import type { Asker, Sight, Written } from "./survey.ts";

export interface WriteOptions {
  /** Where the webhook is to lead. Default: a name that is reserved for not existing (RFC 2606). */
  readonly webhookUrl?: string | undefined;
  /** Numbers from 0 up to 1: makes the default address this run's own. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
  /** Called as soon as a webhook exists, so that its id is known whatever happens then. */
  readonly onRegistered?: ((id: string, url: string) => void) | undefined;
  /** Called with its signing secret, so that nothing shows it. */
  readonly onSecret?: ((secret: string) => void) | undefined;
}

/** A webhook that this run made and that may still be there. `id` is null where it is not known. */
export interface Leftover {
  readonly id: string | null;
  readonly url: string;
}

/** Pages of webhooks that are read to find one. An account has few; where there are more, none is registered. */
const MOST_PAGES = 2;
/** Requests that are sent at most: the domains, two registrations, as many removals, and the webhooks three times. */
export const MOST_WRITES = 5 + 3 * MOST_PAGES;

/** The rarest event: what happens in the account in these seconds goes nowhere. */
const EVENT = "service.transfer_accepted";
const NAMES = ["example.com", "hostform-contract-check.example"];

/**
 * Sends them. A listing of the webhooks comes first: it is the only way to find one whose answer was lost. Where they
 * cannot be listed, none is registered.
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
  // What has left is waited for: its answer says what is to be removed.
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
  // Some servers take a second registration of an address for a change of the first.
  if (listed.some((one) => sameAddress(url, one.url))) {
    return skip("A webhook with the address given is there already, and was left alone. Give another address.");
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
  /** It may have registered something of which the id is not known. */
  readonly doubtful: boolean;
}

/** Removes what the attempts made. Only what was not there before, and leads where an attempt said, is ever removed. */
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
    // Two of the same address: one is somebody else's, and nothing says which.
    if (doubt !== undefined && left.length === 1 && only !== undefined) {
      await remove(only.id);
      left = await ours();
    }
    const [still] = left;
    if (still === undefined) return { removed, gone: true };
    return { removed, gone: false, leftover: { id: left.length === 1 ? still.id : null, url: still.url ?? "" } };
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    // It cannot be seen whether it is gone: the answer to its removal has to do.
    if (doubt === undefined && removed !== undefined && removed.problem === undefined) {
      return { removed, gone: undefined };
    }
    const { id, url } = doubt ?? known ?? { id: null, url: "" };
    return { removed, gone: undefined, leftover: { id, url } };
  }
}

/** All webhooks of the account. */
function webhooks(asker: Asker): Promise<{ readonly id: string; readonly url: string | null }[]> {
  return createListing({
    endpoint: "listWebhooks",
    maxPages: MOST_PAGES,
    pageSize: 100,
    fetchPage: async (page) => {
      const sight = await asker.one({
        endpoint: "listWebhooks",
        query: [
          ["page", String(page)],
          ["per_page", "100"],
        ],
      });
      if (sight.problem !== undefined) throw sight.problem;
      return sight.answer?.json;
    },
  }).all();
}

/** The name that a value stands under, in the answer, in its `data`, or in an object there. */
function nameOf(json: unknown, value: string, depth = 0): string | undefined {
  if (!isObject(json) || depth > 3) return undefined;
  const own = Object.keys(json).find((name) => json[name] === value);
  return own ?? Object.values(json).flatMap((inner) => nameOf(inner, value, depth + 1) ?? [])[0];
}

/** What to report of a webhook that is still there. */
export function leftoverDiagnostic({ id, url }: Leftover) {
  const which = id === null ? `that leads to ${url}` : `${id}, which leads to ${url},`;
  return {
    severity: "error" as const,
    code: "contract.leftover" as const,
    summary: `The webhook ${which} was registered for the check and may still be there`,
    detail: "It could not be seen to be removed. Events that it would get go nowhere, or to the address that you gave.",
    remedies: ["Look for it with `hostform webhooks`, and remove it in the dashboard."],
  };
}
