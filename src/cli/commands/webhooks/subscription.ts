/**
 * A subscription for as long as a run lasts (§4 POST and DELETE /api/v1/webhooks). In: an address, events. Out: the
 * signing secret, which stays in memory. Whatever happens, what was made is removed again, or it is said what remains.
 */
import type { HostingClient } from "../../../core/api/index.ts";
import { sameAddress } from "../../../core/api/web-address.ts";
import {
  ApiError,
  type Diagnostic,
  EVENTS,
  type EventName,
  errnoOf,
  fail,
  HostformError,
} from "../../../core/model/index.ts";
import { renderDiagnostics } from "../../../report/index.ts";
import { type Invocation, say } from "../../io.ts";

export interface Subscription {
  readonly id: string;
  readonly secret: string;
}

type Webhooks = HostingClient["webhooks"];

export interface Wanted {
  readonly url: string;
  readonly events: readonly EventName[];
}

/**
 * Subscribes an address. What an answer that was lost may have made is looked for and removed.
 * @throws HostformError `webhooks.subscription` when no secret came; else what the API said.
 */
export async function subscribe(
  invocation: Invocation,
  webhooks: Webhooks,
  { url, events }: Wanted,
  signal: AbortSignal,
): Promise<Subscription> {
  const same = async (call: { signal?: AbortSignal }) =>
    (await webhooks.list(call).all()).filter((one) => sameAddress(url, one.url)).map(({ id }) => id);
  const before = await same({ signal });
  if (before.length > 0) {
    say(
      invocation,
      `Warning: ${before.length === 1 ? "another subscription leads" : `${before.length} other subscriptions lead`} to ${url} (${before.join(", ")}); what they send is refused, unless their secrets are given.`,
    );
  }
  let made: Awaited<ReturnType<Webhooks["create"]>>;
  try {
    // Not interrupted: what it made has to be known, to be removed.
    made = await webhooks.create({ url, events: [...(events.length > 0 ? events : EVENTS)] });
  } catch (error) {
    if (error instanceof ApiError && error.reached === "maybe") await removeNew(invocation, webhooks, same, before);
    throw error;
  }
  invocation.io.redaction.learn(made?.secret);
  if (made?.id != null && made.secret !== null) return { id: made.id, secret: made.secret };
  if (made?.id != null) await unsubscribe(invocation, webhooks, made.id);
  else await removeNew(invocation, webhooks, same, before);
  return fail("webhooks.subscription", "The API's answer to the registration holds no signing secret", {
    detail: "Without it no delivery could be verified. The subscription was removed again.",
    fix: "Register the webhook in the dashboard, and give its secret with --secret-env or --secret-file.",
  });
}

/** Removes the one that leads to the address now and did not before. Of two, one is somebody else's, and nothing says which. */
async function removeNew(
  invocation: Invocation,
  webhooks: Webhooks,
  same: (call: object) => Promise<string[]>,
  before: readonly string[],
): Promise<void> {
  try {
    const made = (await same({})).filter((id) => !before.includes(id));
    const [only] = made;
    if (made.length === 1 && only !== undefined) await unsubscribe(invocation, webhooks, only);
    else if (made.length > 1) {
      warn(invocation, `One of the subscriptions ${made.join(" and ")} may have been made here`, SEVERAL);
    }
  } catch (error) {
    warn(invocation, "It is not known whether a subscription was made", error);
  }
}

/**
 * Removes a subscription; one that is gone is as good. Never throws: what remains is said.
 * @param signal aborted: the user does not want to wait for it.
 * @returns whether it is gone.
 */
export async function unsubscribe(
  invocation: Invocation,
  webhooks: Webhooks,
  id: string,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await webhooks.delete(id, signal && { signal });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return true;
    warn(invocation, `The subscription ${id} may still be there`, error);
    return false;
  }
}

const SEVERAL =
  "They are new, and lead to the same address. Nothing says which of them is somebody else's, so none was removed.";

/** @param reason a sentence, or what was thrown. */
function warn({ io, errLook }: Invocation, summary: string, reason: unknown): void {
  if (typeof reason !== "string" && !(reason instanceof HostformError) && errnoOf(reason) === undefined) throw reason;
  const warning: Diagnostic = {
    severity: "warning",
    code: "webhooks.subscription",
    summary,
    detail: `${reason instanceof Error ? reason.message : String(reason)}.`.replace("..", "."),
    fix: "`hostform webhooks` shows what there is; remove it in the dashboard.",
  };
  io.err(renderDiagnostics([warning], errLook));
}
