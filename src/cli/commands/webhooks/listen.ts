import path from "node:path";
import { isLoopback } from "../../../core/api/base-url.ts";
import { fail } from "../../../core/model/index.ts";
import { plural } from "../../../report/index.ts";
import { fileMemoryOf, memoryOf } from "../../../webhooks/index.ts";
import { withProvider } from "../../account.ts";
import { type Invocation, say } from "../../io.ts";
import type { Provider } from "../../providers.ts";
import {
  namesSecrets,
  openSecrets,
  type Receiver,
  receiveAt,
  SECRET_OPTIONS,
  type SecretFlags,
  type SigningSecrets,
} from "../../receiving/index.ts";
import { eventNames } from "./event-names.ts";
import type { Forwarder } from "./forward.ts";
import { forwarderOf } from "./forwarding.ts";
import { DeliveryLog } from "./log.ts";
import { takeDelivery } from "./receive.ts";
import { aborted, stopsOf } from "./stops.ts";
import { type Subscription, subscribe, unsubscribe } from "./subscription.ts";

export interface ListenFlags extends SecretFlags {
  readonly port?: number;
  readonly host?: string;
  readonly forwardTo?: string;
  readonly forwardSecretEnv?: string;
  readonly events?: readonly string[];
  /** Hand on what comes again, too: for trying things out with `replay`. */
  readonly duplicates?: boolean;
  /** What was handled is remembered in this file, for the next run. */
  readonly remember?: string;
  /** What is older is refused (milliseconds). */
  readonly maxAge?: number;
  /** True: this very address. */
  readonly register?: string | true;
  readonly provider?: string;
}

/** For senders to be answered when what they sent is given up (milliseconds). */
const ANSWER_MS = 1_000;

/** For what is under way at Ctrl-C to come to its end. */
const GRACE_MS = 15_000;

/**
 * `hostform webhooks listen`: receives deliveries, verifies them, shows a line for each, and hands them on to an
 * application: the same bytes, signed anew. What the application does not take, the sender is to send again.
 * @returns 0 after Ctrl-C; 1 when a subscription that was made could not be removed.
 */
export async function runListen(invocation: Invocation, flags: ListenFlags): Promise<number> {
  const { register, provider = "default" } = flags;
  if (register === undefined && !namesSecrets(flags)) {
    fail("webhooks.secret", "No signing secret is given, so no delivery could be told from a forged one", {
      detail: "The API shows it once, when a webhook is registered.",
      fix: `Give ${SECRET_OPTIONS}; or --register, which subscribes this address until the end.`,
    });
  }
  const secrets = namesSecrets(flags) ? await openSecrets(invocation, flags) : undefined;
  const forwarder = forwarderOf(invocation, flags, secrets);
  const listener = new Listener(invocation, flags, secrets, forwarder);
  try {
    if (register === undefined) return await listener.run();
    return await withProvider(invocation, provider, (account, signal) => listener.run({ account, signal, register }));
  } finally {
    await forwarder?.close();
  }
}

/** The account to subscribe in, for the time of the run. */
interface Registering {
  readonly account: Provider;
  readonly signal: AbortSignal;
  readonly register: string | true;
}

class Listener {
  readonly #invocation: Invocation;
  readonly #flags: ListenFlags;
  readonly #secrets: SigningSecrets | undefined;
  readonly #forwarder: Forwarder | undefined;
  readonly #log: DeliveryLog;

  constructor(
    invocation: Invocation,
    flags: ListenFlags,
    secrets: SigningSecrets | undefined,
    forwarder: Forwarder | undefined,
  ) {
    this.#invocation = invocation;
    this.#flags = flags;
    this.#secrets = secrets;
    this.#forwarder = forwarder;
    this.#log = new DeliveryLog(invocation);
  }

  async run(registering?: Registering): Promise<number> {
    const { io } = this.#invocation;
    const { remember, maxAge } = this.#flags;
    const { clock } = io;
    const memory =
      remember === undefined
        ? memoryOf({ clock })
        : await fileMemoryOf({ file: path.resolve(io.cwd, remember), clock });
    const stops = stopsOf(this.#invocation);
    // What comes before the subscription's secret is known waits for it.
    const { promise: subscribed, resolve: settle, reject: give } = Promise.withResolvers<Subscription | undefined>();
    subscribed.catch(() => {});
    const events = eventNames(this.#flags.events ?? []);
    const handling = {
      secrets: async () => {
        const own = await subscribed;
        const given = (await this.#secrets?.texts()) ?? [];
        return own === undefined ? given : [own.secret, ...given];
      },
      events: new Set<string>(events),
      memory,
      maxAge: maxAge === undefined ? undefined : maxAge / 1000,
      clock,
      forwarder: this.#forwarder,
      again: this.#flags.duplicates === true,
      stop: stops.now,
      log: this.#log,
    };
    const { host = "127.0.0.1", port = 0 } = this.#flags;
    const underWay = new Set<Promise<void>>();
    const receiver = await receiveAt({ host, port }, (request, response) => {
      const taking = takeDelivery(handling, request, response).finally(() => underWay.delete(taking));
      underWay.add(taking);
    });
    let code = 0;
    try {
      let subscription: Subscription | undefined;
      try {
        this.#refuseLoop(receiver);
        if (registering !== undefined) {
          const url = this.#address(registering, receiver);
          subscription = await subscribe(
            this.#invocation,
            registering.account.client.webhooks,
            { url, events },
            registering.signal,
          );
        }
        settle(subscription);
        this.#announce(receiver, subscription);
        await aborted(stops.soon);
      } catch (error) {
        give(error);
        throw error;
      } finally {
        if (subscription !== undefined && registering !== undefined) {
          const { webhooks } = registering.account.client;
          if (!(await unsubscribe(this.#invocation, webhooks, subscription.id, stops.now))) code = 1;
        }
      }
    } finally {
      await stops.atMost(GRACE_MS, (now) => this.#finish(receiver, underWay, now));
      stops.end();
    }
    this.#farewell();
    return code;
  }

  /** Lets what is under way come to its end, and its line be told. @param now aborted: gives up handing on, and says so to the senders. */
  async #finish(receiver: Receiver, underWay: ReadonlySet<Promise<void>>, now: AbortSignal): Promise<void> {
    if (underWay.size > 0 && !now.aborted) {
      const count = plural(underWay.size, "delivery", "deliveries");
      say(this.#invocation, `Waiting for ${count} under way; Ctrl-C again breaks off.`);
    }
    const ended = new AbortController();
    const cut = aborted(AbortSignal.any([now, ended.signal])).then(async () => {
      const answered = Promise.all(underWay);
      await Promise.race([answered, this.#invocation.io.clock.sleep(ANSWER_MS, ended.signal).catch(() => {})]);
    });
    const cutting = new AbortController();
    void cut.then(() => cutting.abort());
    await receiver.close(cutting.signal);
    await Promise.all(underWay);
    ended.abort();
    await cut;
  }

  /** The address that the account is to send to. */
  #address({ account, register }: Registering, { url: bound, port }: Receiver): string {
    if (register !== true) {
      if (URL.canParse(register) && /^https?:$/.test(new URL(register).protocol)) return register;
      fail("usage", "--register takes an http or https URL", { fix: "Give the public address that leads here." });
    }
    // All addresses of this machine are none that anybody could send to.
    const url = /\/\/(?:0\.0\.0\.0|\[::\])/.test(bound) ? `http://127.0.0.1:${port}` : bound;
    const base = account.config.baseUrl ?? this.#invocation.io.env.HOSTING_BASE_URL ?? "";
    if (URL.canParse(base) && isLoopback(new URL(base))) return `${url}/`;
    return fail("webhooks.subscription", "The API is not on this machine, so it cannot reach an address on it", {
      detail: `--register alone would subscribe ${url}/.`,
      fix: "Give the public address that leads here: --register https://….",
    });
  }

  /** An application at our own address would be handed its deliveries for ever. */
  #refuseLoop({ port }: Receiver): void {
    const url = this.#forwarder?.url;
    if (url === undefined || !isLoopback(url) || Number(url.port || (url.protocol === "http:" ? 80 : 443)) !== port)
      return;
    fail("webhooks.listen", "--forward-to leads back to this command", {
      fix: "Name the application's port, or another --port.",
    });
  }

  #announce({ url }: Receiver, subscription: Subscription | undefined): void {
    const { io } = this.#invocation;
    const target = this.#forwarder?.shown;
    this.#log.note({ type: "listening", url, subscription: subscription?.id ?? null, forward_to: target ?? null });
    if (this.#invocation.options.json) return;
    const lines = [
      `Receiving deliveries at ${url} until Ctrl-C.`,
      ...(subscription === undefined ? [] : [`Subscribed as webhook ${subscription.id} until then.`]),
      ...(target === undefined ? [] : [`Each is handed on to ${target}.`]),
      ...(new URL(url).hostname === "127.0.0.1" ? [] : ["Other machines can reach this address, over plain http."]),
    ];
    say(this.#invocation, lines.join("\n"));
    io.flush();
  }

  #farewell(): void {
    const { taken, refused } = this.#log.counts;
    this.#log.note({ type: "stopped", taken, refused });
    if (this.#invocation.options.json) return;
    const more = refused === 0 ? "" : ` ${plural(refused, "request")} refused.`;
    say(this.#invocation, `\n${plural(taken, "delivery", "deliveries")} taken.${more}`);
  }
}
