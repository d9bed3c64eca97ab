import { HostformError } from "../core/model/errors.ts";
import { webhookCodes } from "../core/model/webhook-codes.ts";

/** Why a delivery was not taken. Each is explained in `docs/errors.md`. */
export type WebhookCode = keyof typeof webhookCodes;

/** The status that tells the sender (§6 Delivery: anything but 2xx is tried again). */
const STATUS: Readonly<Record<WebhookCode, number>> = {
  "webhooks.method": 405,
  "webhooks.too_large": 413,
  "webhooks.cut_off": 400,
  "webhooks.no_signature": 401,
  "webhooks.bad_signature": 401,
  "webhooks.not_json": 400,
  "webhooks.not_an_event": 400,
  "webhooks.too_old": 400,
  "webhooks.busy": 503,
  "webhooks.body_read": 500,
  "webhooks.failed": 500,
};

/** A delivery that was not taken. Neither the secret nor the signature that would have fitted is ever in it. */
export class WebhookError extends HostformError {
  override readonly name = "WebhookError";
  readonly code: WebhookCode;
  /** The HTTP status that the sender is answered with. */
  readonly status: number;

  /** @param sentence what is wrong; nothing of the body, which nobody may have vouched for */
  constructor(code: WebhookCode, sentence: string) {
    super([{ severity: "error", code, summary: sentence, remedies: [webhookCodes[code][1]] }]);
    this.code = code;
    this.status = STATUS[code];
  }
}

export function tooLarge(maxBytes: number): WebhookError {
  return new WebhookError("webhooks.too_large", `The body is larger than ${maxBytes} bytes.`);
}
