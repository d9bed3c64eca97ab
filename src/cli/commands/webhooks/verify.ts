import path from "node:path";
import { errnoOf, fail } from "../../../core/model/index.ts";
import { systemFiles } from "../../../fronts/yaml/index.ts";
import { escapeLine } from "../../../report/index.ts";
import { parseEvent, verifySignature, WebhookError } from "../../../webhooks/index.ts";
import { type Invocation, printJson, say } from "../../io.ts";
import { openSecrets, type SecretFlags, summaryJson, summaryOf } from "../../receiving/index.ts";
import { mismatchOf } from "./mismatch.ts";

export interface VerifyFlags extends SecretFlags {
  /** The value of X-Service-Signature. */
  readonly signature: string;
}

/** A body larger than this is no event. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * `hostform webhooks verify FILE --signature HEX`: whether a signature belongs to a body, and if not, what it would fit.
 * Sends nothing.
 * @returns 0 when it fits. @throws HostformError `webhooks.bad_signature` when it does not.
 */
export async function runVerify(invocation: Invocation, flags: VerifyFlags, file: string): Promise<number> {
  const { io, options } = invocation;
  const secrets = await (await openSecrets(invocation, flags)).current();
  const body = file === "-" ? await io.readInputBytes(MOST_BYTES + 1) : await bodyOf(path.resolve(io.cwd, file));
  if (body.length === 0)
    fail("usage", "There is no body to verify: it is empty", { fix: "Name the file it is kept in." });
  if (body.length > MOST_BYTES) {
    fail("usage", `${file === "-" ? "Standard input" : escapeLine(file)} is too large for the body of an event`, {
      detail: `Bodies of up to ${MOST_BYTES / 1024 / 1024} MiB are looked at.`,
      fix: "Give the raw body of one delivery.",
    });
  }
  const signature = flags.signature.trim();
  const fitting = secrets.find(({ secret }) => verifySignature(body, signature, secret));
  if (fitting === undefined) {
    const texts = secrets.map(({ secret }) => secret);
    fail("webhooks.bad_signature", "The signature does not fit", mismatchOf(body, signature, texts));
  }
  const event = eventOf(body);
  const told = "problem" in event ? { event: null, problem: event.problem } : { event: summaryJson(event) };
  if (options.json) printJson(invocation, { fits: true, secret_from: fitting.place, ...told });
  else io.out(`The signature fits, with the secret from ${fitting.place}.\n`);
  if ("problem" in event) say(invocation, `The body is not an event, though: ${event.problem}`);
  else if (!options.json) io.out(`${summaryOf(event)}\n`);
  return 0;
}

function eventOf(body: Uint8Array): ReturnType<typeof parseEvent> | { readonly problem: string } {
  try {
    return parseEvent(body);
  } catch (error) {
    if (error instanceof WebhookError) return { problem: escapeLine(error.message) };
    throw error;
  }
}

/** Not more of the file than is needed to see that it is too large: some never end. */
async function bodyOf(full: string): Promise<Uint8Array> {
  try {
    return await systemFiles.read(full, MOST_BYTES + 1);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return fail("config.unreadable", `The body cannot be read: ${errnoOf(error)}`, {
      detail: escapeLine(full),
      fix: "Name the file that the raw body is kept in, or - for standard input.",
    });
  }
}
