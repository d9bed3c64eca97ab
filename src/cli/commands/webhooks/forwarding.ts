import { fail } from "../../../core/model/index.ts";
import type { Invocation } from "../../io.ts";
import { learnValue } from "../../known-secrets.ts";
import { SECRET_OPTIONS, type SigningSecrets } from "../../receiving/index.ts";
import { refuseSecretAsName } from "../../variable-name.ts";
import { Forwarder, forwardUrl } from "./forward.ts";

export interface ForwardFlags {
  readonly forwardTo?: string;
  readonly forwardSecretEnv?: string;
}

/** For the application to answer in (milliseconds). */
const FORWARD_MS = 10_000;

/** What deliveries are handed on with. @throws HostformError `webhooks.listen`, `webhooks.secret`, `secret.source`. */
export function forwarderOf(
  { io, options }: Invocation,
  { forwardTo, forwardSecretEnv: name }: ForwardFlags,
  secrets: SigningSecrets | undefined,
): Forwarder | undefined {
  if (forwardTo === undefined) {
    if (name === undefined) return undefined;
    fail("usage", "--forward-secret-env is for --forward-to, which is not given", { fix: "Give both, or neither." });
  }
  const url = forwardUrl(forwardTo, options.insecureHttp);
  const shared = { url, clock: io.clock, env: io.env, timeoutMs: FORWARD_MS };
  if (name === undefined) {
    if (secrets !== undefined)
      return new Forwarder({ ...shared, secret: async () => (await secrets.texts())[0] ?? "" });
    return fail("webhooks.secret", "The application cannot know the secret of a subscription that is made only now", {
      fix: `Name one that it verifies with: --forward-secret-env NAME. (Or give ${SECRET_OPTIONS}.)`,
    });
  }
  const secret = io.env[name]?.trim();
  learnValue(io.redaction, io.env[name]);
  if (!secret) {
    refuseSecretAsName("--forward-secret-env", name);
    fail("secret.source", `A signing secret cannot be read from the environment variable ${name}`, {
      detail: secret === undefined ? "It is not set." : "It is empty.",
      fix: "Set it to the secret that the application verifies with, and export it.",
    });
  }
  return new Forwarder({ ...shared, secret: async () => secret });
}
