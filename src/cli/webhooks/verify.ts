/** Runs `webhooks verify`: checks the signature of a stored body. If it does not match, explains why. */
import { createHmac, timingSafeEqual } from "node:crypto";
import path from "node:path";
import { fail, parsedJson } from "../../core/model/index.ts";
import { escapeLine } from "../../report/index.ts";
import { parseEvent, verifySignature, WebhookError } from "../../webhooks/index.ts";
import { orFail, readUpTo } from "../files.ts";
import { type Action, printJson, say } from "../terminal.ts";
import { isDeep } from "./receive.ts";
import { openSecrets, type SecretFlags } from "./secrets.ts";
import { summaryJson, summaryOf } from "./server.ts";

interface VerifyFlags extends SecretFlags {
  /** Value of the header X-Service-Signature. */
  readonly signature: string;
}

/** Maximum size of a body, in bytes. No event is larger. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Runs `hostform webhooks verify FILE --signature HEX`: checks whether a signature matches a body. If not, explains which
 * body or key it would match. Sends no request.
 * @returns 0 if the signature matches.
 * @throws HostformError `webhooks.bad_signature` if it does not match.
 */
export const runVerify: Action<VerifyFlags, [file: string]> = async (terminal, project, flags, file) => {
  const secrets = await (await openSecrets(project, flags)).current();
  const body =
    file === "-" ? await terminal.readInputBytes(MOST_BYTES + 1) : await bodyOf(path.resolve(project.source.cwd, file));
  if (body.length === 0)
    fail("usage", "The body is empty", { remedies: ["Pass the file with the raw body, or - for standard input."] });
  if (body.length > MOST_BYTES) {
    fail("usage", `${file === "-" ? "Standard input" : escapeLine(file)} is too large for the body of an event`, {
      detail: `The limit is ${MOST_BYTES / 1024 / 1024} MiB.`,
      remedies: ["Pass the raw body of one delivery."],
    });
  }
  const signature = flags.signature.trim();
  const fitting = secrets.find(({ secret }) => verifySignature(body, signature, secret));
  if (fitting === undefined) {
    const texts = secrets.map(({ secret }) => secret);
    fail("webhooks.bad_signature", "The signature does not match the body", mismatchOf(body, signature, texts));
  }
  const event = eventOf(body);
  const shown = "problem" in event ? { event: null, problem: event.problem } : { event: summaryJson(event) };
  if (terminal.json) printJson(terminal, "webhooks verify", { fits: true, secret_from: fitting.place, ...shown });
  else terminal.out(`The signature is valid, with the secret from ${fitting.place}.\n`);
  if ("problem" in event) say(terminal, `The body is not an event: ${event.problem}`);
  else if (!terminal.json) terminal.out(`${summaryOf(event)}\n`);
  return 0;
};

function eventOf(body: Uint8Array): ReturnType<typeof parseEvent> | { readonly problem: string } {
  try {
    return parseEvent(body);
  } catch (error) {
    if (error instanceof WebhookError) return { problem: escapeLine(error.message) };
    throw error;
  }
}

/** Reads only enough to detect a file that is too large, because some files never end. */
const bodyOf = (full: string): Promise<Uint8Array> =>
  orFail(readUpTo(full, MOST_BYTES), "config.unreadable", "The body cannot be read", {
    detail: escapeLine(full),
    remedies: ["Pass the file with the raw body, or - for standard input."],
  });

/*
 * Explains why a signature does not match (§6 Signature). In: body, header value, secrets. Out: a sentence about what it
 * would match. Must not: reveal the correct signature or a secret. Pure.
 */
const DIGEST = /^[0-9a-f]{64}$/i;
const BYTES = /^[A-Za-z0-9+/_-]{43}=?$/;
const HEADER_FIX = "Pass the value of X-Service-Signature: 64 hexadecimal digits and nothing else.";
const BODY_FIX = "Verify the raw body, byte for byte, before any parser changes it.";
const SECRET_FIX = "Correct the secret where it is stored.";
const WRONG_FIX =
  "Check that it is the secret of this subscription (each has its own), and that the body is unchanged, byte for byte.";

/** Returns why the signature matches no secret, if a reason is found. */
export function mismatchOf(body: Uint8Array, signature: string, secrets: readonly string[]) {
  const { digest, malformed = "" } = formOf(signature);
  if (digest === undefined) return { detail: malformed, remedies: [HEADER_FIX] };
  const fits = (bytes: string | Uint8Array, key: string) =>
    timingSafeEqual(createHmac("sha256", key).update(bytes).digest(), digest);
  if (malformed !== "") {
    const rest = secrets.some((secret) => fits(body, secret));
    return { detail: rest ? `${malformed} The digits are correct.` : malformed, remedies: [HEADER_FIX] };
  }
  for (const [what, other] of otherBodies(body)) {
    if (secrets.some((secret) => fits(other, secret))) return { detail: `It matches ${what}.`, remedies: [BODY_FIX] };
  }
  for (const [what, keyOf] of OTHER_KEYS) {
    if (secrets.some((secret) => fits(body, keyOf(secret))))
      return { detail: `It matches ${what}.`, remedies: [SECRET_FIX] };
  }
  const tried = secrets.length === 1 ? "the secret" : `any of the ${secrets.length} secrets`;
  return { detail: `It matches neither this body nor a similar one with ${tried}.`, remedies: [WRONG_FIX] };
}

/** Returns the digest in a header value, or its format error. */
function formOf(signature: string): { digest?: Uint8Array; malformed?: string } {
  const text = signature.trim();
  if (DIGEST.test(text)) return { digest: Buffer.from(text, "hex") };
  if (text === "") return { malformed: "It is empty." };
  const prefix = /^(?:x-service-signature\s*:\s*)?(?:[a-z0-9]+\s*[=:]\s*)?/i.exec(text)?.[0] ?? "";
  const rest = text.slice(prefix.length);
  if (prefix !== "" && DIGEST.test(rest)) {
    return { digest: Buffer.from(rest, "hex"), malformed: "There is text before the 64 hexadecimal digits." };
  }
  if (BYTES.test(text)) return { digest: Buffer.from(text, "base64"), malformed: "It is base64, not hexadecimal." };
  if (/^[0-9a-f]+$/i.test(text)) return { malformed: `It has ${text.length} hexadecimal digits, not 64.` };
  return { malformed: "It is not hexadecimal." };
}

/** Yields similar bodies, each with the words after "It matches". */
function* otherBodies(body: Uint8Array): Generator<readonly [what: string, other: string | Uint8Array]> {
  const text = Buffer.from(body).toString("utf8");
  if (/\r?\n$/.test(text)) yield ["when the final line break is left out", text.replace(/\r?\n$/, "")];
  yield ["when a line break is added at the end", `${text}\n`];
  if (text.includes("\r\n")) yield ["when its line breaks are LF, not CR LF", text.replaceAll("\r\n", "\n")];
  yield ["when its line breaks are CR LF, not LF", text.replaceAll(/\r?\n/g, "\r\n")];
  if (text.trim() !== text) yield ["when the white space around it is left out", text.trim()];
  for (const written of rewritten(text)) {
    yield ["when the body is parsed and written again: a program on the way re-serialised it", written];
    yield [
      "when the body is parsed and written again with a line break at the end: it was re-serialised",
      `${written}\n`,
    ];
  }
}

/** Maximum number of characters of a body to rewrite. */
const LARGEST = 1024 * 1024;

/** Yields the same JSON without spaces, also with slashes or letters escaped, as senders write it. */
function* rewritten(text: string): Generator<string> {
  if (text.length > LARGEST || isDeep(text)) return;
  const value = parsedJson(text.replace(/^\uFEFF/, ""));
  if (value === undefined) return;
  const compact = JSON.stringify(value);
  const slashes = compact.replaceAll("/", "\\/");
  yield* [compact, slashes, ascii(compact), ascii(slashes)];
}

const ascii = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Keys that are similar to a secret, each with the words after "It matches". */
const OTHER_KEYS: readonly (readonly [what: string, keyOf: (secret: string) => string])[] = [
  ["when the secret has a line break at its end: the sender included it", (secret) => `${secret}\n`],
  ["when the secret is taken without the white space around it", (secret) => secret.trim()],
];
