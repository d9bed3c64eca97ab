/** Reads the key providers of OpenTofu's setting TF_ENCRYPTION, in its native or its JSON syntax. */
import * as z from "zod";
import {
  attempt,
  compileJson,
  evaluate,
  fromValue,
  type Names,
  parseBlocks,
  toValue,
} from "../core/expression/index.ts";
import { fail, isObject, type Json, parsedJson } from "../core/model/index.ts";
import {
  type KeyProvider,
  type KeyProviders,
  PBKDF2_ITERATIONS,
  pbkdf2Provider,
  TF_ENCRYPTION,
} from "../core/record/index.ts";

/** Runs a program of the user with a text as its input. Returns its output. @throws HostformError `state.key`. */
type Run = (command: readonly [string, ...string[]], input: string) => Promise<string>;

const target: z.ZodType<Target> = z.object({ method: z.string(), fallback: z.lazy(() => block(target)).optional() });
interface Target {
  readonly method: string;
  readonly fallback?: Target | undefined;
}

/** A block. The JSON syntax also permits a list of blocks. */
const block = <T extends z.ZodType>(of: T) =>
  z.preprocess((found) => (Array.isArray(found) ? Object.assign({}, ...found) : found), of);
const labelled = block(z.record(z.string(), block(z.record(z.string(), block(z.record(z.string(), z.unknown()))))));
const settings = z.object({ key_provider: labelled.default({}), method: labelled, state: block(target) });

const alias = { encrypted_metadata_alias: z.string().optional() };
const pbkdf2 = z.strictObject({
  ...alias,
  passphrase: z.string().min(16, "at least 16 characters are required"),
  iterations: z.int().min(200_000).default(PBKDF2_ITERATIONS),
  hash_function: z.enum(["sha256", "sha512"]).default("sha512"),
  key_length: z.literal([16, 24, 32]).default(32),
  salt_length: z.int().min(1).default(32),
});
const external = z.strictObject({ ...alias, command: z.tuple([z.string()], z.string()) });
const header = z.looseObject({ magic: z.literal("OpenTofu-External-Key-Provider"), version: z.literal(1) });
const key = z
  .base64()
  .refine((text) => [16, 24, 32].includes(Buffer.from(text, "base64").length), "expected 16, 24 or 32 bytes");
const output = z.strictObject({
  keys: z.strictObject({ encryption_key: key, decryption_key: key.optional() }),
  meta: z.strictObject({ external_data: z.record(z.string(), z.json()).nullish() }),
});

/** References between blocks. Their value is their text, as in the JSON syntax. */
const names: Names = {
  resolve: ({ root, steps, text }) =>
    root === "key_provider" || root === "method" ? { value: fromValue(text), used: steps.length } : undefined,
};

/**
 * Returns the key providers of the state. A fallback decrypts only.
 * @param learn registers a secret. @throws HostformError `state.key`.
 */
export function tofuProviders(text: string, run: Run, learn: (secret: string) => void): KeyProviders {
  const json = parsedJson(text);
  const read = () => (isObject(json) ? toValue(evaluate(compileJson(json as Json), names)) : parseBlocks(text, names));
  const found = checked(
    settings,
    attempt(read, ({ message }) => refuse(`is not valid: ${message}`)),
    "",
  );
  const methods: string[] = [];
  for (let at: Target | undefined = found.state; at !== undefined; at = at.fallback) methods.push(at.method);
  const providerIn = (path: string) => {
    const [, type = "", name = ""] = path.split(".");
    const { keys, ...more } = found.method[type]?.[name] ?? {};
    const [, kind = "", label = ""] = String(keys).split(".");
    if (type !== "aes_gcm" || Object.keys(more).length > 0) refuse(`uses ${path}, which hostform does not support`);
    const block = found.key_provider[kind]?.[label];
    return providerOf(kind, `key_provider.${kind}.${label}`, block, run, learn);
  };
  const [first = "", ...fallbacks] = methods;
  // A fallback to clear text needs the variable of hostform that permits it.
  const old = fallbacks.filter((path) => !path.startsWith("method.unencrypted."));
  return [providerIn(first), ...old.map(providerIn)];
}

function providerOf(
  kind: string,
  address: string,
  block: unknown,
  run: Run,
  learn: (secret: string) => void,
): KeyProvider {
  if (kind === "pbkdf2") {
    const { passphrase, encrypted_metadata_alias: name = address, ...wanted } = checked(pbkdf2, block, address);
    learn(passphrase);
    return pbkdf2Provider(name, passphrase, wanted, { fixed: true });
  }
  if (kind !== "external") return refuse(`uses ${address}, which hostform does not support`);
  const { command, encrypted_metadata_alias: name = address } = checked(external, block, address);
  return {
    name,
    async provide(found) {
      const input = found?.external_data == null ? null : found;
      const [first = "", ...rest] = (await run(command, JSON.stringify(input))).split("\n");
      if (!header.safeParse(parsedJson(first)).success)
        refuse(`names a program for ${address} that does not print OpenTofu's header`);
      const { keys, meta } = checked(output, parsedJson(rest.join("\n")), `output of ${address}`);
      const { encryption_key: encryption, decryption_key: decryption } = keys;
      for (const key of [encryption, decryption]) if (key !== undefined) learn(key);
      const bytes = (key: string) => Buffer.from(key, "base64");
      const { external_data = null } = meta;
      return {
        encryption: bytes(encryption),
        decryption: decryption === undefined ? undefined : bytes(decryption),
        meta: { external_data },
      };
    },
  };
}

function checked<T extends z.ZodType>(schema: T, found: unknown, place: string): z.infer<T> {
  const { data, error } = schema.safeParse(found);
  if (error === undefined) return data;
  const issues = error.issues.map(({ path, message }) => `${[place, ...path].filter(Boolean).join(".")}: ${message}`);
  return refuse(`is not valid: ${issues.join("; ")}`);
}

function refuse(what: string): never {
  return fail("state.key", `${TF_ENCRYPTION} ${what}`, {
    detail: "hostform supports the key providers pbkdf2 (with a passphrase) and external, and the method aes_gcm.",
    remedies: ["Correct this part. hostform evaluates only literals and addresses of blocks."],
  });
}
