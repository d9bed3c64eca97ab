/** Codes of the commands `hostform webhooks …`; a part of `codes`. */
export const listenCodes = {
  "webhooks.secret": [
    "No signing secret is known, so deliveries could not be told from forged ones",
    "Name one: `--secret-env NAME`, `--secret-file FILE` or `--webhook ADDRESS`.",
  ],
  "webhooks.listen": [
    "Deliveries cannot be received or handed on as asked",
    "See the message: it names the address that is not usable, and why.",
  ],
  "webhooks.memory": [
    "The file that remembers deliveries cannot be used",
    "Name a file of its own, in a folder that may be written to; it is made when it is not there.",
  ],
  "webhooks.subscription": [
    "A subscription for the time of the run cannot be made or removed",
    "See the message; `hostform webhooks` lists the subscriptions that there are.",
  ],
  "sandbox.control": [
    "The sandbox's control API cannot be reached, or refused",
    "Run `hostform sandbox` and set HOSTING_SANDBOX_CONTROL_URL as it prints it.",
  ],
} as const satisfies Record<string, readonly [meaning: string, action: string]>;
