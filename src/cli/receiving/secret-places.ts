/**
 * The places that hold signing secrets: a variable, a file, the state. Each is read anew whenever it is asked, and
 * announces what it finds to the redaction before it hands it out.
 */
import { stat } from "node:fs/promises";
import path from "node:path";
import { parseEnv } from "node:util";
import { errnoOf, fail, isObject, type Json, type JsonObject, type ResourceState } from "../../core/model/index.ts";
import { selectResources } from "../../core/record/index.ts";
import { systemFiles } from "../../fronts/yaml/index.ts";
import { escapeLine } from "../../report/index.ts";
import { type Invocation, say } from "../io.ts";
import { learnValue } from "../known-secrets.ts";
import { readState } from "../recorded.ts";
import { refuseSecretAsName } from "../variable-name.ts";
import { linesOf, unfitLines, unfitSecret } from "./secret-lines.ts";

export interface SigningSecret {
  readonly secret: string;
  /** `the environment variable HOOK_SECRET`: for sentences. */
  readonly place: string;
}

/** @throws HostformError `secret.source`, `webhooks.secret`, `usage` or `plan.address` when it holds no secret. */
export type SecretSource = () => Promise<readonly SigningSecret[]>;

/** A state is read again after this (milliseconds): it may be far away, and anybody can send deliveries. */
const STATE_MS = 2_000;

/** No file that holds a secret is larger (bytes). */
const MOST_BYTES = 1024 * 1024;

/** One secret, whole: what an environment holds does not change while we run. */
export function variableSource({ io }: Invocation, name: string): SecretSource {
  const place = `the environment variable ${name}`;
  return async () => {
    const secret = io.env[name]?.trim();
    learnValue(io.redaction, io.env[name]);
    if (!secret) {
      refuseSecretAsName("--secret-env", name);
      const state = secret === undefined ? "It is not set." : "It is empty.";
      unreadable(place, state, "Set it to the webhook's signing secret, and export it.");
    }
    const unfit = unfitSecret(secret);
    if (unfit !== undefined) unreadable(place, unfit.detail, unfit.fix);
    return [{ secret, place }];
  };
}

/** A file of secrets; its path is relative to the working folder. */
export function fileSource(invocation: Invocation, file: string): SecretSource {
  let first = true;
  return async () => {
    const place = `the file ${escapeLine(file)}`;
    const { text, readableByOthers } = await contentOf(path.resolve(invocation.io.cwd, file), place);
    if (first && readableByOthers) {
      say(invocation, `Warning: ${escapeLine(file)} holds a secret and can be read by others; \`chmod 600\` it.`);
    }
    first = false;
    return secretsIn(invocation, text, place);
  };
}

/** The secrets of a file. @throws HostformError `secret.source` for one that holds anything else. */
function secretsIn({ io }: Invocation, text: string, place: string): SigningSecret[] {
  if (/[\uFFFD\0]/.test(text)) unreadable(place, "It is not a text in UTF-8.", "Write it in UTF-8.");
  const lines = linesOf(text);
  for (const line of lines) learnValue(io.redaction, line);
  const unfit = unfitLines(lines);
  if (unfit !== undefined) unreadable(place, unfit.detail, unfit.fix);
  return lines.map((secret) => ({ secret, place }));
}

/**
 * The secret of a recorded webhook, and while it is being replaced, that of the one before it. Where a `secret_output` has
 * taken it out of the state, the file holds only the newest: what was read there before is remembered for so long.
 */
export function stateSource(invocation: Invocation, address: string): SecretSource {
  const read = stateReader(invocation, address);
  const held: HeldSecrets = new Map();
  const look = async (resources: readonly ResourceState[]) =>
    Promise.all(resources.map((resource) => secretsOfWebhook(invocation, resource, held)));
  return async () => {
    let found = await look(await read(false));
    // A file with another secret in it: only the state as it is now tells whether the one before still counts.
    if (found.some(({ changed }) => changed)) found = await look(await read(true));
    return found.flatMap(({ secrets }) => secrets);
  };
}

/** Reads the webhooks of the state that an address names: anew when that is asked for, or was a while ago. */
function stateReader(invocation: Invocation, address: string): (anew: boolean) => Promise<readonly ResourceState[]> {
  const quiet: Invocation = { ...invocation, options: { ...invocation.options, quiet: true } };
  let first = true;
  let known: { readonly at: number; readonly resources: readonly ResourceState[] } | undefined;
  return async (anew) => {
    const now = invocation.io.clock.now();
    if (anew || known === undefined || now - known.at >= STATE_MS || now < known.at) {
      const state = await readState(first ? invocation : quiet);
      first = false;
      known = { at: now, resources: webhooksOf(selectResources(state, address), address) };
    }
    return known.resources;
  };
}

function webhooksOf(resources: readonly ResourceState[], address: string): readonly ResourceState[] {
  const stray = resources.find((one) => !one.address.startsWith("hosting_webhook."));
  if (stray === undefined) return resources;
  return fail("usage", `${address} is not a webhook`, { fix: "Give the address of a hosting_webhook in the state." });
}

/** By address: what the place of a `secret_output` holds, and what it held before. */
type HeldSecrets = Map<string, { readonly now: readonly SigningSecret[]; readonly before: readonly SigningSecret[] }>;

async function secretsOfWebhook(
  invocation: Invocation,
  { address, attributes, private: mark }: ResourceState,
  held: HeldSecrets,
): Promise<{ readonly secrets: readonly SigningSecret[]; readonly changed: boolean }> {
  const place = `the state, ${address}`;
  const old = textAt(mark.deposed, "secret");
  const deposed = old === undefined ? [] : [{ secret: old, place: `${place} (the one before)` }];
  const secret = textAt(attributes, "secret");
  if (secret !== undefined) return { secrets: [{ secret, place }, ...deposed], changed: false };
  const now = await secretsOfOutput(invocation, address, attributes.secret_output);
  const last = held.get(address);
  const changed = last !== undefined && !sameSecrets(last.now, now);
  const earlier = changed ? last.now : (last?.before ?? []);
  const before = changed || mark.deposed !== undefined ? earlier : [];
  held.set(address, { now, before });
  return { secrets: [...now, ...before, ...deposed], changed };
}

const sameSecrets = (a: readonly SigningSecret[], b: readonly SigningSecret[]) =>
  a.length === b.length && a.every(({ secret }, at) => secret === b[at]?.secret);

/** The secret where `secret_output` has put it, as far as it can be read back from there. */
async function secretsOfOutput(
  invocation: Invocation,
  address: string,
  output: Json | undefined,
): Promise<readonly SigningSecret[]> {
  const { dir } = invocation.options;
  if (isObject(output) && typeof output.file === "string") {
    const place = `the file ${escapeLine(output.file)}`;
    return secretsIn(invocation, (await contentOf(path.resolve(dir, output.file), place)).text, place);
  }
  if (isObject(output) && isObject(output.env_file)) {
    const { path: file, name } = output.env_file;
    if (typeof file === "string" && typeof name === "string") {
      const place = `${name} in ${escapeLine(file)}`;
      const secret = parseEnv((await contentOf(path.resolve(dir, file), place)).text)[name];
      learnValue(invocation.io.redaction, secret);
      if (!secret) unreadable(place, "There is no such line, or it is empty.", `Restore it, or give ${OTHERS}.`);
      return [{ secret, place }];
    }
  }
  const handed = isObject(output) && Array.isArray(output.command);
  return fail("webhooks.secret", `The signing secret of ${address} is not in the state`, {
    detail: handed
      ? "It was handed to the command of its secret_output, which cannot be asked for it."
      : "The API tells it once, when the webhook is registered; one that was imported has none that hostform knows.",
    fix: `Give ${OTHERS}.`,
    address,
  });
}

const OTHERS = "--secret-env NAME or --secret-file FILE";

function textAt(attributes: JsonObject | undefined, name: string): string | undefined {
  const value = attributes?.[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

async function contentOf(file: string, place: string): Promise<{ text: string; readableByOthers: boolean }> {
  try {
    const status = await stat(file);
    if (!status.isFile()) unreadable(place, "It is not an ordinary file.", "Name a file.");
    const readableByOthers = process.platform !== "win32" && (status.mode & 0o077) !== 0;
    const bytes = await systemFiles.read(file, MOST_BYTES + 1);
    if (bytes.length > MOST_BYTES) unreadable(place, "It is too large for a file of secrets.", "Name another file.");
    return { text: Buffer.from(bytes).toString("utf8"), readableByOthers };
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return unreadable(place, `${file}: ${errnoOf(error)}.`, "Check the path, and that you may read it.");
  }
}

function unreadable(place: string, detail: string, fix: string): never {
  fail("secret.source", `A signing secret cannot be read from ${place}`, { detail, fix });
}
