/** Runs `webhooks listen`: receives deliveries until Ctrl-C. With `--register`, a webhook exists during this time. */
import path from "node:path";
import { sameAddress } from "../../core/api/address.ts";
import type { HostingClient } from "../../core/api/index.ts";
import {
  ApiError,
  type Diagnostic,
  didYouMean,
  EVENTS,
  type EventName,
  errnoOf,
  fail,
  HostformError,
  isLoopback,
} from "../../core/model/index.ts";
import { type Provider, withProvider } from "../../project/providers.ts";
import type { Redaction } from "../../project/redaction.ts";
import type { ProjectParts } from "../../project/source.ts";
import { plural, renderDiagnostics } from "../../report/index.ts";
import { fileMemoryOf, memoryOf } from "../../webhooks/index.ts";
import { webUrl } from "../options.ts";
import { type Action, say, type Terminal } from "../terminal.ts";
import { type Forwarder, forwarderOf } from "./forward.ts";
import { type DeliveryLog, deliveryLog, takeDelivery } from "./receive.ts";
import { namesSecrets, openSecrets, SECRET_OPTIONS, type SecretFlags, type SigningSecrets } from "./secrets.ts";
import { aborted, type Receiver, receiveAt, stopsOf } from "./server.ts";

interface ListenFlags extends SecretFlags {
  readonly port?: number;
  readonly host?: string;
  readonly forwardTo?: string;
  readonly forwardSecretEnv?: string;
  readonly events?: readonly string[];
  /** True to also forward repeated deliveries, for tests with `sandbox redeliver`. */
  readonly duplicates?: boolean;
  /** File that stores handled deliveries for the next run. */
  readonly remember?: string;
  /** Maximum age of a delivery, in milliseconds. */
  readonly maxAge?: number;
  /** URL to register, or true for the URL of this receiver. */
  readonly register?: string | true;
  readonly provider?: string;
}

/** Time limit for responses to abandoned deliveries, in milliseconds. */
const ANSWER_MS = 1_000;

/** Time for deliveries in progress after Ctrl-C, in milliseconds. */
const GRACE_MS = 15_000;

/**
 * Runs `hostform webhooks listen`: receives and verifies deliveries, prints one line for each, and forwards them to an
 * application with a new signature. If the application rejects a delivery, the response makes the sender retry.
 * @returns 0 after Ctrl-C. 1 if the registered webhook could not be deleted.
 */
export const runListen: Action<ListenFlags> = async (terminal, project, flags) => {
  const { register, provider = "default" } = flags;
  if (register === undefined && !namesSecrets(flags)) {
    fail("webhooks.secret", "The signing secret is missing, so hostform cannot verify deliveries", {
      detail: "The API returns the secret once, when a webhook is created.",
      remedies: [`Pass ${SECRET_OPTIONS}; or --register, which subscribes this receiver while it runs.`],
    });
  }
  const secrets = namesSecrets(flags) ? await openSecrets(project, flags) : undefined;
  const forwarder = forwarderOf(terminal.clock, project, flags, secrets);
  const parts = { terminal, project, flags, secrets, forwarder, log: deliveryLog(terminal) };
  try {
    if (register === undefined) return await listen(parts);
    return await withProvider(project, provider, (account, signal) => listen(parts, { account, signal, register }));
  } finally {
    await forwarder?.close();
  }
};

/** The account in which the run registers a webhook. */
interface Registering {
  readonly account: Provider;
  readonly signal: AbortSignal;
  readonly register: string | true;
}

interface ListenerParts {
  readonly terminal: Terminal;
  readonly project: ProjectParts;
  readonly flags: ListenFlags;
  readonly secrets: SigningSecrets | undefined;
  readonly forwarder: Forwarder | undefined;
  readonly log: DeliveryLog;
}

async function listen(parts: ListenerParts, registering?: Registering): Promise<number> {
  const { terminal, project, flags, secrets, forwarder, log } = parts;
  const { host = "127.0.0.1", port = 0, remember, maxAge } = flags;
  const { clock } = terminal;
  const file = remember === undefined ? undefined : path.resolve(project.source.cwd, remember);
  const memory = file === undefined ? memoryOf({ clock }) : await fileMemoryOf({ file, clock });
  const stops = stopsOf(terminal);
  // Deliveries may arrive before the secret of the new webhook is known. They wait for it.
  const { promise: subscribed, resolve: settle, reject: give } = Promise.withResolvers<Subscription | undefined>();
  subscribed.catch(() => {});
  const events = eventNames(flags.events ?? []);
  const handling = {
    memory,
    clock,
    forwarder,
    log,
    secrets: async () => {
      const own = await subscribed;
      const given = (await secrets?.texts()) ?? [];
      return own === undefined ? given : [own.secret, ...given];
    },
    events: new Set<string>(events),
    maxAge: maxAge === undefined ? undefined : maxAge / 1000,
    again: flags.duplicates === true,
    stop: stops.now,
  };
  const underWay = new Set<Promise<void>>();
  const receiver = await receiveAt({ host, port }, (request, response) => {
    const taking = takeDelivery(handling, request, response).finally(() => underWay.delete(taking));
    underWay.add(taking);
  });
  let code = 0;
  try {
    let subscription: Subscription | undefined;
    try {
      refuseLoop(forwarder?.url, receiver);
      if (registering !== undefined) {
        const wanted = { url: addressFor(registering, receiver, project), events };
        const { webhooks } = registering.account.client;
        subscription = await subscribe(terminal, project.redaction, webhooks, wanted, registering.signal);
      }
      settle(subscription);
      announce(parts, receiver, subscription);
      await aborted(stops.soon);
    } catch (error) {
      give(error);
      throw error;
    } finally {
      if (subscription !== undefined && registering !== undefined) {
        const { webhooks } = registering.account.client;
        if (!(await unsubscribe(terminal, webhooks, subscription.id, stops.now))) code = 1;
      }
    }
  } finally {
    await stops.atMost(GRACE_MS, (now) => finish(terminal, receiver, underWay, now));
    stops.end();
  }
  const { taken, refused } = log.counts;
  log.note({ type: "stopped", taken, refused });
  const more = refused === 0 ? "" : ` ${plural(refused, "request")} rejected.`;
  if (!terminal.json) say(terminal, `\n${plural(taken, "delivery", "deliveries")} received.${more}`);
  return code;
}

/** Waits for deliveries in progress. @param now Signal to stop forwarding and to respond. */
async function finish(
  terminal: Terminal,
  receiver: Receiver,
  underWay: ReadonlySet<Promise<void>>,
  now: AbortSignal,
): Promise<void> {
  if (underWay.size > 0 && !now.aborted) {
    const count = plural(underWay.size, "delivery", "deliveries");
    say(terminal, `Waiting for ${count} in progress. Press Ctrl-C again to stop at once.`);
  }
  const ended = new AbortController();
  const cut = aborted(AbortSignal.any([now, ended.signal])).then(async () => {
    const answered = Promise.all(underWay);
    await Promise.race([answered, terminal.clock.sleep(ANSWER_MS, ended.signal).catch(() => {})]);
  });
  const cutting = new AbortController();
  void cut.then(() => cutting.abort());
  await receiver.close(cutting.signal);
  await Promise.all(underWay);
  ended.abort();
  await cut;
}

function addressFor(
  { account, register }: Registering,
  { url: bound, port }: Receiver,
  { source: { env } }: ProjectParts,
): string {
  if (register !== true) {
    if (webUrl(register) !== undefined) return register;
    fail("usage", "--register takes an http or https URL", { remedies: ["Pass the public URL of this receiver."] });
  }
  // A wildcard address is no target for a sender, so print loopback.
  const url = /\/\/(?:0\.0\.0\.0|\[::\])/.test(bound) ? `http://127.0.0.1:${port}` : bound;
  const base = account.config.baseUrl ?? env.HOSTING_BASE_URL ?? "";
  if (URL.canParse(base) && isLoopback(new URL(base))) return `${url}/`;
  return fail("webhooks.subscription", "The API is not on this machine, so it cannot reach this receiver", {
    detail: `--register alone would subscribe ${url}/.`,
    remedies: ["Pass the public URL of this receiver: --register https://…."],
  });
}

/** Rejects the URL of this receiver as application: each delivery would be forwarded endlessly. */
function refuseLoop(url: URL | undefined, { port }: Receiver): void {
  if (url === undefined || !isLoopback(url) || Number(url.port || (url.protocol === "http:" ? 80 : 443)) !== port)
    return;
  fail("webhooks.listen", "--forward-to is the URL of this receiver", {
    remedies: ["Pass the port of the application, or choose another --port."],
  });
}

function announce(
  { terminal, forwarder, log }: ListenerParts,
  { url }: Receiver,
  subscription: Subscription | undefined,
): void {
  const target = forwarder?.shown;
  log.note({
    format_version: "1.0",
    type: "listening",
    url,
    subscription: subscription?.id ?? null,
    forward_to: target ?? null,
  });
  if (terminal.json) return;
  const lines = [
    `Receiving deliveries at ${url} until Ctrl-C.`,
    ...(subscription === undefined ? [] : [`Subscribed as webhook ${subscription.id} until Ctrl-C.`]),
    ...(target === undefined ? [] : [`Forwarding each delivery to ${target}.`]),
    ...(new URL(url).hostname === "127.0.0.1" ? [] : ["Other machines can reach this URL over plain http."]),
  ];
  say(terminal, lines.join("\n"));
  terminal.flush();
}

/*
 * A webhook that exists only during a run (§4 POST and DELETE /api/v1/webhooks). In: URL and events. Out: the signing secret,
 * only in memory. At the end, the webhook is deleted, or a warning names its id.
 */
interface Subscription {
  readonly id: string;
  readonly secret: string;
}

type Webhooks = HostingClient["webhooks"];

/**
 * Registers a webhook. If the response is lost, finds and deletes the new webhook.
 * @throws HostformError `webhooks.subscription` for a response without a secret. Rethrows other errors of the API.
 */
export async function subscribe(
  terminal: Terminal,
  redaction: Redaction,
  webhooks: Webhooks,
  { url, events }: { readonly url: string; readonly events: readonly EventName[] },
  signal: AbortSignal,
): Promise<Subscription> {
  const same = async (call: { signal?: AbortSignal }) =>
    (await webhooks.list(call).all()).filter((one) => sameAddress(url, one.url)).map(({ id }) => id);
  const before = await same({ signal });
  if (before.length > 0) {
    const others =
      before.length === 1 ? "another subscription delivers" : `${before.length} other subscriptions deliver`;
    const refused = "hostform rejects their deliveries unless you give their secrets.";
    say(terminal, `Warning: ${others} to ${url} (${before.join(", ")}); ${refused}`);
  }
  /** Deletes the new webhook of this URL. If there are two, deletes neither, because one belongs to another program. */
  const removeNew = async (): Promise<void> => {
    try {
      const [only, ...others] = (await same({})).filter((id) => !before.includes(id));
      if (only === undefined) return;
      const all = [only, ...others].join(" and ");
      if (others.length === 0) await unsubscribe(terminal, webhooks, only);
      else warn(terminal, `This run may have created one of the subscriptions ${all}`, SEVERAL);
    } catch (error) {
      warn(terminal, "A subscription may have been created", error);
    }
  };
  let made: Awaited<ReturnType<Webhooks["create"]>>;
  try {
    // Not interruptible: the id in the response is needed to delete the webhook.
    made = await webhooks.create({ url, events: [...(events.length > 0 ? events : EVENTS)] });
  } catch (error) {
    if (error instanceof ApiError && error.reached === "maybe") await removeNew();
    throw error;
  }
  redaction.learn("the secret of the subscription", made?.secret);
  if (made?.id != null && made.secret !== null) return { id: made.id, secret: made.secret };
  if (made?.id != null) await unsubscribe(terminal, webhooks, made.id);
  else await removeNew();
  return fail("webhooks.subscription", "The API returned no signing secret for the new subscription", {
    detail: "Without the secret, hostform cannot verify deliveries. It deleted the subscription.",
    remedies: ["Register the webhook in the dashboard, and pass its secret with --secret-env or --secret-file."],
  });
}

/**
 * Deletes a webhook. A missing one counts as deleted. Never throws: warns if it may still exist.
 * @param signal Aborted if the user does not want to wait.
 * @returns true if the webhook no longer exists.
 */
async function unsubscribe(terminal: Terminal, webhooks: Webhooks, id: string, signal?: AbortSignal): Promise<boolean> {
  try {
    await webhooks.delete(id, signal && { signal });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return true;
    warn(terminal, `The subscription ${id} may still exist`, error);
    return false;
  }
}

const SEVERAL =
  "These new subscriptions have the same URL. hostform does not know which of them it created, so it deleted none.";

/** @param reason Sentence, or a thrown error. */
function warn(terminal: Terminal, summary: string, reason: unknown): void {
  if (typeof reason !== "string" && !(reason instanceof HostformError) && errnoOf(reason) === undefined) throw reason;
  const warning: Diagnostic = {
    severity: "warning",
    code: "webhooks.subscription",
    summary,
    detail: `${reason instanceof Error ? reason.message : String(reason)}.`.replace("..", "."),
    remedies: ["`hostform webhooks` lists the subscriptions. Delete this one in the dashboard."],
  };
  terminal.err(renderDiagnostics([warning], terminal.errLook));
}

/**
 * Parses event names: several words, each possibly with commas.
 * @returns each name once.
 * @throws HostformError `usage` for a name that §6 does not list.
 */
function eventNames(words: readonly string[]): readonly EventName[] {
  const names = words.flatMap((word) => word.split(",")).map((name) => name.trim());
  const known = names.filter(Boolean).map((name) => {
    const event = EVENTS.find((one) => one === name);
    if (event !== undefined) return event;
    return fail("usage", `There is no event ${JSON.stringify(name)}.${didYouMean(name, EVENTS)}`, {
      remedies: [`The events are ${EVENTS.join(", ")}.`],
    });
  });
  return [...new Set(known)];
}
