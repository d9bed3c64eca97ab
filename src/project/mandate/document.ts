/**
 * The files of mandates and receipts. A file is YAML with one field in each line; each value is JSON. The last line is a signature of
 * all bytes before it. hostform accepts only the bytes that it writes.
 */
import { type KeyObject, sign, verify } from "node:crypto";
import * as z from "zod";
import { raise } from "../../core/messages/index.ts";
import {
  type EnvVars,
  expectation,
  isCurrency,
  jsonText,
  type Mandate,
  parsedJson,
  type Receipt,
  some,
} from "../../core/model/index.ts";
import { APPROVER, publicText, RUNNER, type Signer, trustedKeys } from "./keys.ts";

const VERSION = 1;
/** Maximum size of a file, in bytes. The receipt of 20,000 changes needs about 4 MB. */
export const MOST_BYTES = 16 * 1024 * 1024;
/** Maximum lifetime of a mandate, in days. The account store keeps the uses of a mandate longer. */
export const MOST_DAYS = 90;
/** Maximum difference between the clocks of approver and runner, in milliseconds. */
const CLOCK_MS = 5 * 60_000;
/** Last line: the public key and the signature. The base64 of 64 bytes ends with `==`. */
const LAST = /^signature: "(ed25519:[A-Za-z0-9+/]{43}=):([A-Za-z0-9+/]{86}==)"\n$/;

/** A form of files. */
interface Form<Fields extends object> {
  readonly what: string;
  /** Fields in their order in the file. */
  readonly fields: z.ZodType<Fields>;
}

const text = z.string();
const optional = text.nullable();
const count = z.int().nonnegative();
const limit = count.nullable();
const time = text.refine((word) => isTime(word), "expected a time such as 2026-12-01T12:00:00.000Z");
const id = text.regex(/^[\w-]{1,100}$/, "expected letters, digits, _ and -");
const digest = text.regex(/^[0-9a-f]{64}$/, "expected 64 hexadecimal digits");
const spend = z.record(text.refine(isCurrency, "expected a currency"), z.number().nonnegative()).nullable();
const anchor = z.strictObject({ type: text, id: text, created_at: optional });

const MANDATE: Form<Mandate> = {
  what: "mandate",
  fields: z.strictObject({
    id,
    project: text,
    environment: optional,
    accounts: z.record(text, z.strictObject({ origin: text, anchors: z.array(anchor) })),
    plan: z.strictObject({ digest, lineage: text, serial: count }).nullable(),
    kinds: z.array(text).nullable(),
    max_orders: limit,
    max_spend: spend,
    max_removals: limit,
    targets: z.array(text),
    objects: z.array(text).nullable(),
    no_offline: z.boolean(),
    uses: count.min(1),
    issued: time,
    expires: time,
  }),
};
const invoice = z.strictObject({ id: optional, number: optional, total: z.number().nullable() });
const order = z.strictObject({
  address: text,
  provider: text,
  id: optional,
  currency: text,
  amount: z.number().nullable(),
  invoice: invoice.nullable(),
});
const RECEIPT: Form<Receipt> = {
  what: "receipt",
  fields: z.strictObject({
    mandate: id,
    use: count.min(1),
    project: text,
    environment: optional,
    plan: digest.nullable(),
    began: time,
    ended: time,
    complete: z.boolean(),
    orders: z.array(order),
    effects: z.array(text),
    left: z.strictObject({ uses: count, orders: limit, spend, removals: limit }),
  }),
};

const isTime = (text: string): boolean => {
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text;
};

/** Returns the lines before the signature. */
const encode = ({ what }: Pick<Form<never>, "what">, fields: object): string =>
  Object.entries({ form: `hostform ${what}`, version: VERSION, ...fields })
    .map(([name, value]) => `${name}: ${jsonText(value)}\n`)
    .join("");

/** Returns the file. Without a key, the file has no signature. */
function signed<Fields extends object>(form: Form<Fields>, fields: Fields, key: KeyObject | undefined): string {
  const body = encode(form, form.fields.parse(fields));
  if (key === undefined) return body;
  return `${body}signature: "${publicText(key)}:${sign(null, Buffer.from(body), key).toString("base64")}"\n`;
}

/** Returns the signed file of a mandate. @param key private key of the approver. */
export const signMandate = (mandate: Mandate, key: KeyObject): string => signed(MANDATE, mandate, key);

/** Returns the file of a receipt. @param key private key of the runner. Undefined: the receipt is not signed. */
export const signReceipt = (receipt: Receipt, key: KeyObject | undefined): string => signed(RECEIPT, receipt, key);

/** Returns true if a file begins as a mandate. The rest may be damaged. */
export const beginsAsMandate = (file: string): boolean => file.startsWith(encode(MANDATE, {}));

/** Splits a file into the signed lines and the last line. */
function split(file: string): readonly [body: string, last: RegExpExecArray | null] {
  const at = file.lastIndexOf("\n", file.length - 2) + 1;
  const last = LAST.exec(file.slice(at));
  return last === null ? [file, null] : [file.slice(0, at), last];
}

/** Returns the function that decodes a file. The function does not check the signature. @throws HostformError `mandate.file`. */
const decoder =
  <Fields extends object>(form: Form<Fields>) =>
  (content: string, file: string): Fields => {
    const { what, fields } = form;
    const refuse = (why: string) => raise("mandate.file", { file, what, why });
    if (Buffer.byteLength(content) > MOST_BYTES) return refuse(`it is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
    const [body] = split(content);
    const [first, version, ...lines] = body.split("\n");
    const head = encode(form, {}).split("\n");
    if (first?.trimEnd() !== head[0]) return refuse(`it does not begin as a ${what}`);
    if (content.includes("\r")) return refuse("its lines end with CRLF, so a program changed it");
    if (!content.endsWith("\n")) return refuse("its last newline is missing");
    if (version !== head[1]) return refuse(`line 2 is not "${head[1]}", the only version that this program reads`);
    const entries = lines.slice(0, -1).map((line, at) => {
      const [, name = "", value = ""] = /^([a-z_]+): (.*)$/.exec(line) ?? [];
      const data = parsedJson(value);
      return data === undefined ? refuse(`line ${at + 3} is not a field`) : ([name, data] as const);
    });
    const { data, error } = fields.safeParse(Object.fromEntries(entries));
    if (error !== undefined) {
      const mistakes = error.issues.map((issue) =>
        [issue.path.join("."), expectation(issue)].filter(Boolean).join(": "),
      );
      return refuse(some(mistakes, 1));
    }
    // The same fields in another notation, such as a repeated key.
    return encode(form, data) === body ? data : refuse("its fields are not in the form of the program");
  };

/** Reads the fields of a mandate. */
export const decodeMandate = decoder(MANDATE);
/** Reads the fields of a receipt. */
export const decodeReceipt = decoder(RECEIPT);

/** Returns the name of the owner of the signing key. @throws HostformError `mandate.signature`, `mandate.signers`. */
function signedBy(signer: Signer, content: string, file: string, env: EnvVars): string {
  const trusted = trustedKeys(env, signer);
  const refuse = (why: string) => raise("mandate.signature", { of: file, why });
  const [body, last] = split(content);
  if (last === null) return refuse("its last line is no signature");
  const [, key = "", base64 = ""] = last;
  const owner = trusted.get(key);
  if (owner === undefined) return raise("mandate.signature/key", { trusted: signer.trusted, of: file, key });
  const signature = Buffer.from(base64, "base64");
  const isCanonical = signature.toString("base64") === base64;
  if (!isCanonical || !verify(null, Buffer.from(body), owner.key, signature)) return refuse("its content was edited");
  return owner.name;
}

/**
 * Reads a mandate that an approver signed, and that is in force.
 * @param file path for messages. @param env has the public keys of the approvers. @param now milliseconds since the epoch.
 * @throws HostformError `mandate.file`, `mandate.signature`, `mandate.signers`, `mandate.time`.
 */
export function readMandate(content: string, file: string, env: EnvVars, now: number): Mandate {
  const mandate = decodeMandate(content, file);
  approverOf(content, file, env);
  requireInForce(mandate, `The mandate in ${file}`, now);
  return mandate;
}

/** Refuses a mandate before and after its time. @throws HostformError `mandate.time`. */
export function requireInForce({ issued, expires }: Mandate, of: string, now: number): void {
  const refuse = (why: string) => raise("mandate.time", { of, why });
  const [from, to] = [Date.parse(issued), Date.parse(expires)];
  if (to <= now) refuse(`it expired at ${expires}`);
  if (from > now + CLOCK_MS) refuse(`it was issued at ${issued}, in the future`);
  if (to - from > MOST_DAYS * 86_400_000) refuse(`it is valid for more than ${MOST_DAYS} days`);
}

/** Returns the name of the approver that signed a mandate. @throws HostformError `mandate.signature`, `mandate.signers`. */
export const approverOf = (content: string, file: string, env: EnvVars): string =>
  signedBy(APPROVER, content, file, env);

/** Returns the name of the runner that signed a receipt. @throws HostformError `mandate.signature`, `mandate.signers`. */
export const runnerOf = (content: string, file: string, env: EnvVars): string => signedBy(RUNNER, content, file, env);
