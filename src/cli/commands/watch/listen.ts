import { fail, HostformError } from "../../../core/model/index.ts";
import { invoiceIdOf, nodeHandler, orderIdOf, serviceIdOf, type WebhookEvent } from "../../../webhooks/index.ts";
import type { Invocation } from "../../io.ts";
import {
  namesSecrets,
  openSecrets,
  type Receiver,
  receiveAt,
  SECRET_OPTIONS,
  type SecretFlags,
  short,
} from "../../receiving/index.ts";
import type { ListenAddress } from "./address.ts";
import type { Hint } from "./hints.ts";

export interface Listener {
  onHint(hint: Hint): void;
  /** A delivery was not taken. @param reason a sentence with nothing of the sender's in it. */
  onRefused(reason: string): void;
}

/**
 * Receives deliveries (§6). Only those whose signature fits become hints, each once, and a hint is no more than names.
 * @returns undefined when nothing is to be listened to.
 * @throws HostformError `usage`, `webhooks.secret`, `webhooks.listen` or what a place of a secret lacks.
 */
export async function listen(
  invocation: Invocation,
  at: ListenAddress | undefined,
  flags: SecretFlags,
  { onHint, onRefused }: Listener,
): Promise<Receiver | undefined> {
  if (at === undefined) {
    if (!namesSecrets(flags)) return undefined;
    return fail("usage", "A signing secret is given, but no address to listen at", {
      fix: `Add --listen [HOST:]PORT, or leave out ${SECRET_OPTIONS}.`,
    });
  }
  const secrets = await openSecrets(invocation, flags);
  const handler = nodeHandler({
    secrets: secrets.texts,
    onEvent: (event) => onHint(hintOf(event)),
    onRefused: ({ code, message }) => {
      // Two attempts at once: one of them is taken.
      if (code !== "webhooks.busy") onRefused(message);
    },
    onError: (error) => onRefused(error instanceof HostformError ? error.message : "It could not be handled."),
  });
  try {
    return await receiveAt(at, handler);
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    const fix = "Choose another one with --listen [HOST:]PORT (port 0: any free one).";
    throw new HostformError(
      error.diagnostics.map((diagnostic) => ({ ...diagnostic, fix })),
      { cause: error },
    );
  }
}

/** Ids are taken from wherever they may stand (§6: the content of `data` is not specified). */
function hintOf(event: WebhookEvent): Hint {
  return {
    event: short(event.event),
    service: serviceIdOf(event) ?? orderIdOf(event),
    invoice: invoiceIdOf(event),
  };
}
