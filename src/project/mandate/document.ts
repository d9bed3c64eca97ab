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
} from "../../core/model/index.ts";
import { APPROVER, publicText, RUNNER, trustedKeys } from "./keys.ts";

const VERSION = 1;
/** Maximum size of a file, in bytes. The receipt of 20,000 changes needs about 4 MB. */
export const MOST_BYTES = 16 * 1024 * 1024;
/** Maximum lifetime of a mandate, in days. The account store keeps the uses of a mandate longer. */
export const MOST_DAYS = 90;
/** Maximum difference between the clocks of approver and runner, in milliseconds. */
const CLOCK_MS = 5 * 60_000;
/** Last line: the public key and the signature. The base64 of 64 bytes ends with `==`. */
const LAST = /^signature: "(ed25519:[A-Za-z0-9+/]{43}=):([A-Za-z0-9+/]{86}==)"\n$/;

const amount = z.number().nonnegative();
const count = z.int().nonnegative();
const time = z.string().refine((text) => isTime(text), "expected a time such as 2026-12-01T12:00:00.000Z");
const id = z.string().regex(/^[\w-]{1,100}$/, "expected letters, digits, _ and -");
const digest = z.string().regex(/^[0-9a-f]{64}$/, "expected 64 hexadecimal digits");
const spend = z.record(z.string().refine(isCurrency, "expected a currency"), amount).nullable();
const anchor = z.strictObject({ type: z.string(), id: z.string(), created_at: z.string().nullable() });
const account = z.strictObject({ origin: z.string(), anchors: z.array(anchor) });

/** The forms of files: name, fields in order, and signer. */
const MANDATE = {
  what: "mandate",
  signer: APPROVER,
  fields: z.strictObject({
    id,
    project: z.string(),
    environment: z.string().nullable(),
    accounts: z.record(z.string(), account),
    plan: z.strictObject({ digest, lineage: z.string(), serial: count }).nullable(),
    kinds: z.array(z.string()).nullable(),
    max_orders: count.nullable(),
    max_spend: spend,
    max_removals: count.nullable(),
    targets: z.array(z.string()),
    no_offline: z.boolean(),
    uses: count.min(1),
    issued: time,
    expires: time,
  }) satisfies z.ZodType<Mandate>,
};
const invoice = z.strictObject({
  id: z.string().nullable(),
  number: z.string().nullable(),
  total: z.number().nullable(),
});
const order = z.strictObject({
  address: z.string(),
  provider: z.string(),
  id: z.string().nullable(),
  currency: z.string(),
  amount: z.number().nullable(),
  invoice: invoice.nullable(),
});
const RECEIPT = {
  what: "receipt",
  signer: RUNNER,
  fields: z.strictObject({
    mandate: id,
    use: count.min(1),
    project: z.string(),
    environment: z.string().nullable(),
    plan: digest.nullable(),
    began: time,
    ended: time,
    complete: z.boolean(),
    orders: z.array(order),
    effects: z.array(z.string()),
    left: z.strictObject({
      uses: count,
      orders: count.nullable(),
      spend,
      removals: count.nullable(),
    }),
  }) satisfies z.ZodType<Receipt>,
};
type Form = typeof MANDATE | typeof RECEIPT;

const isTime = (text: string): boolean => {
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text;
};

/** Returns the lines before the signature. */
const encode = ({ what }: Form, fields: object): string =>
  Object.entries({ form: `hostform ${what}`, version: VERSION, ...fields })
    .map(([name, value]) => `${name}: ${jsonText(value)}\n`)
    .join("");

function signed(form: Form, fields: Mandate | Receipt, key: KeyObject): string {
  const body = encode(form, form.fields.parse(fields));
  return `${body}signature: "${publicText(key)}:${sign(null, Buffer.from(body), key).toString("base64")}"\n`;
}

/** Returns the signed file of a mandate. @param key private key of the approver. */
export const signMandate = (mandate: Mandate, key: KeyObject): string => signed(MANDATE, mandate, key);

/** Returns the file of a receipt. @param key private key of the runner. Undefined: the receipt is not signed. */
export const signReceipt = (receipt: Receipt, key: KeyObject | undefined): string =>
  key === undefined ? encode(RECEIPT, RECEIPT.fields.parse(receipt)) : signed(RECEIPT, receipt, key);

/** Returns true if a file begins as a mandate. The rest may be damaged. */
export const beginsAsMandate = (text: string): boolean => text.startsWith(encode(MANDATE, {}).split("\n", 1)[0] ?? "");

/** Splits a file into the signed lines and the last line. */
function split(text: string): readonly [body: string, last: RegExpExecArray | null] {
  const at = text.lastIndexOf("\n", text.length - 2) + 1;
  const last = LAST.exec(text.slice(at));
  return last === null ? [text, null] : [text.slice(0, at), last];
}

/** Returns the fields of a file. Does not check the signature. @throws HostformError `mandate.file`. */
function decode<F extends Form>(form: F, text: string, file: string): z.infer<F["fields"]> {
  const { what, fields } = form;
  const refuse = (why: string) => raise("mandate.file", { file, what, why });
  if (Buffer.byteLength(text) > MOST_BYTES) return refuse(`it is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
  const [body] = split(text);
  const [first, second = "", ...lines] = body.split("\n");
  if (first !== encode(form, {}).split("\n")[0]) return refuse(`it does not begin as a ${what}`);
  const [, version] = /^version: (\d{1,9})$/.exec(second) ?? [];
  if (version !== undefined && version !== `${VERSION}`)
    return raise("mandate.file/version", { file, what, version, known: `${VERSION}` });
  const entries = lines.slice(0, -1).map((line, at) => {
    const [, name = "", value = ""] = /^([a-z_]+): (.*)$/.exec(line) ?? [];
    const data = parsedJson(value);
    return data === undefined ? refuse(`line ${at + 3} is not a field`) : ([name, data] as const);
  });
  const parsed = fields.safeParse(Object.fromEntries(entries));
  if (!parsed.success) {
    const [{ path = [], ...issue } = { code: "custom", message: "" }] = parsed.error.issues;
    return refuse(`${path.length > 0 ? `${path.join(".")}: ` : ""}${expectation(issue as never)}`);
  }
  // The same fields in another notation, such as a repeated key.
  if (encode(form, parsed.data) !== body) return refuse("its fields are not in the form of the program");
  return parsed.data as z.infer<F["fields"]>;
}

/** Returns the name of the signer. @throws HostformError `mandate.signature`, `mandate.signers`. */
function signerOf({ signer }: Form, text: string, file: string, env: EnvVars): string {
  const trusted = trustedKeys(env, signer);
  const refuse = (why: string) => raise("mandate.signature", { file, why });
  const [body, last] = split(text);
  if (last === null) return refuse("its last line is no signature");
  const [, key = "", base64 = ""] = last;
  const owner = trusted.get(key);
  if (owner === undefined) return refuse(`${signer.trusted} does not have its key ${key}`);
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
export function readMandate(
  text: string,
  file: string,
  env: EnvVars,
  now: number,
): { readonly mandate: Mandate; readonly approver: string } {
  const mandate = decodeMandate(text, file);
  const approver = signerOf(MANDATE, text, file, env);
  requireInForce(mandate, file, now);
  return { mandate, approver };
}

/** Reads the fields of a mandate without proof of its origin. @throws HostformError `mandate.file`. */
export const decodeMandate = (text: string, file: string): Mandate => decode(MANDATE, text, file);

/** Refuses a mandate before and after its time. @throws HostformError `mandate.time`. */
export function requireInForce({ issued, expires }: Mandate, file: string, now: number): void {
  const refuse = (why: string) => raise("mandate.time", { file, why });
  const [from, to] = [Date.parse(issued), Date.parse(expires)];
  if (to <= now) refuse(`it expired at ${expires}`);
  if (from > now + CLOCK_MS) refuse(`it was issued at ${issued}, in the future`);
  if (to - from > MOST_DAYS * 86_400_000) refuse(`it is valid for more than ${MOST_DAYS} days`);
}

/** Reads a receipt, without proof of its origin. @throws HostformError `mandate.file`. */
export const decodeReceipt = (text: string, file: string): Receipt => decode(RECEIPT, text, file);

/** Returns the name of the runner that signed a receipt. @throws HostformError `mandate.signature`, `mandate.signers`. */
export const runnerOf = (text: string, file: string, env: EnvVars): string => signerOf(RECEIPT, text, file, env);
