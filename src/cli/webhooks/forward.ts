/**
 * Forwards a verified delivery to an application. In: the exact bytes. Out: status of the application, or the reason for the
 * missing response. The body is signed again with the application's secret. Other headers are not forwarded.
 */
import { type Clock, fail, isLoopback } from "../../core/model/index.ts";
import { type Posted, posterTo } from "../../project/notify/post.ts";
import { learnVariable } from "../../project/redaction.ts";
import type { ProjectParts, ProjectSource } from "../../project/source.ts";
import { escapeLine } from "../../report/index.ts";
import { refuseSecretAsName, webUrl } from "../options.ts";
import { SECRET_OPTIONS, type SigningSecrets } from "./secrets.ts";

export type Forwarded = Posted;
export type Forwarder = ReturnType<typeof forwarderTo>;

/** @param secret Secret with which the application verifies deliveries. */
function forwarderTo(url: URL, secret: () => Promise<string>, clock: Clock, env: ProjectSource["env"]) {
  const { send, close } = posterTo(url, clock, env);
  return {
    url,
    /** URL without query, which may contain a secret. */
    shown: escapeLine(`${url.origin}${url.pathname}`),
    /** Signs and posts the bytes. */
    send: (body: Uint8Array, signal: AbortSignal): Promise<Posted> => send(body, secret, signal),
    close,
  };
}

/**
 * Parses the URL of the application. HTTP is allowed only to this machine, because events contain customer data.
 * @throws HostformError `webhooks.listen`.
 */
function forwardUrl(text: string, insecureHttp: boolean): URL {
  const fix = "Pass a URL such as http://127.0.0.1:3000/hooks.";
  const url = webUrl(text);
  if (url === undefined) fail("webhooks.listen", "--forward-to is not an http or https URL", { remedies: [fix] });
  if (url.username !== "" || url.password !== "") {
    fail("webhooks.listen", "The URL of --forward-to contains a user name or password", {
      remedies: ["Remove it: the signature authenticates the delivery."],
    });
  }
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url)) {
    fail("webhooks.listen", `Plain http to ${escapeLine(url.hostname)} would expose events on the network`, {
      detail: "http is accepted for loopback addresses only.",
      remedies: ["Use https, or pass --insecure-http if the connection is protected otherwise."],
    });
  }
  return url;
}

interface ForwardFlags {
  readonly forwardTo?: string;
  readonly forwardSecretEnv?: string;
}

/**
 * Returns the forwarder. Undefined without `--forward-to`.
 * @throws HostformError `webhooks.listen`, `webhooks.secret`, `secret.source`.
 */
export function forwarderOf(
  clock: Clock,
  { source, redaction }: ProjectParts,
  { forwardTo, forwardSecretEnv: name }: ForwardFlags,
  secrets: SigningSecrets | undefined,
): Forwarder | undefined {
  if (forwardTo === undefined) {
    if (name === undefined) return undefined;
    fail("usage", "--forward-secret-env needs --forward-to", { remedies: ["Pass both, or neither."] });
  }
  const url = forwardUrl(forwardTo, source.insecureHttp);
  if (name === undefined) {
    if (secrets !== undefined) return forwarderTo(url, async () => (await secrets.texts())[0] ?? "", clock, source.env);
    const summary = "The application does not know the secret of the subscription that --register creates";
    return fail("webhooks.secret", summary, {
      remedies: [`Name the secret that it verifies with: --forward-secret-env NAME. (Or pass ${SECRET_OPTIONS}.)`],
    });
  }
  const secret = source.env[name]?.trim();
  learnVariable(redaction, source.env, name);
  if (!secret) {
    refuseSecretAsName("--forward-secret-env", name);
    fail("secret.source", `A signing secret cannot be read from the environment variable ${name}`, {
      detail: secret === undefined ? "It is not set." : "It is empty.",
      remedies: ["Set it to the secret that the application verifies with, and export it."],
    });
  }
  return forwarderTo(url, async () => secret, clock, source.env);
}
