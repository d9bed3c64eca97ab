/**
 * Opens the sources of signing secrets (§6 Signature). In: `--secret-env`, `--secret-file`, `--webhook`. Out: the current
 * secrets, so that a rotation needs no restart.
 */
import path from "node:path";
import { parseEnv } from "node:util";
import { WEBHOOK_SECRET } from "../../core/api/answers.ts";
import { look, read } from "../../core/files/index.ts";
import {
  type Clock,
  fail,
  fileFailure,
  HostformError,
  isObject,
  type Json,
  type JsonObject,
  type ResourceState,
  warningOf,
} from "../../core/model/index.ts";
import type { Project } from "../../project/project.ts";
import type { Redaction } from "../../project/redaction.ts";
import { learnVariable } from "../../project/redaction.ts";
import type { ProjectParts } from "../../project/source.ts";
import type { ProjectState } from "../../project/state.ts";
import { escapeLine } from "../../report/index.ts";
import { refuseSecretAsName } from "../options.ts";

/** Options for signing secrets. Each may be repeated. All secrets are accepted. */
export interface SecretFlags {
  /** Environment variables, each with one secret. */
  readonly secretEnv?: readonly string[];
  /** Files with one secret per line, relative to the working folder. */
  readonly secretFile?: readonly string[];
  /** Addresses of webhooks in the state, such as `hosting_webhook.billing`. */
  readonly webhook?: readonly string[];
}

/** Options for signing secrets, as words of a sentence. */
export const SECRET_OPTIONS = "--secret-env NAME, --secret-file FILE or --webhook ADDRESS";

export function namesSecrets({ secretEnv = [], secretFile = [], webhook = [] }: SecretFlags): boolean {
  return secretEnv.length + secretFile.length + webhook.length > 0;
}

/**
 * Opens the selected sources, and reads each once.
 * @throws HostformError `webhooks.secret` if no option is given; `secret.source`, `usage`, `plan.address` if a source has no
 * secret.
 */
export async function openSecrets(project: Project, flags: SecretFlags) {
  if (!namesSecrets(flags)) {
    fail("webhooks.secret", "The signing secret is missing, so hostform cannot verify deliveries", {
      remedies: [`Pass ${SECRET_OPTIONS}: the secret that the API returned when the webhook was created.`],
    });
  }
  const { secretEnv = [], secretFile = [], webhook = [] } = flags;
  const sources = [
    ...secretEnv.map((name) => variableSource(project, name)),
    ...secretFile.map((file) => fileSource(project, file)),
    ...webhook.map((address) => stateSource(project, address)),
  ];
  /** Secrets of each source at its last successful read. */
  const last: (readonly SigningSecret[])[] = [];
  for (const [at, source] of sources.entries()) last[at] = await source();
  /** Sources that could not be read. Each is reported once. */
  const failing = new Set<number>();
  const read = async (source: SecretSource, at: number): Promise<void> => {
    try {
      last[at] = await source();
      failing.delete(at);
    } catch (error) {
      if (!(error instanceof HostformError)) throw error;
      const detail = "Its earlier secrets are still accepted.";
      const warnings = error.diagnostics.map(({ code, summary, remedies }) =>
        warningOf(code, summary, { detail, remedies }),
      );
      if (!failing.has(at)) project.log.warn(...warnings);
      failing.add(at);
    }
  };
  let reading: Promise<unknown> | undefined;
  /**
   * Returns the current secrets in the order `--secret-env`, `--secret-file`, `--webhook`. If a source cannot be read,
   * returns its last secrets.
   */
  const current = async (): Promise<readonly SigningSecret[]> => {
    reading ??= Promise.all(sources.map(read)).finally(() => {
      reading = undefined;
    });
    await reading;
    return last.flat();
  };
  /** `texts`: secrets without their source, as `hostform/webhooks` needs. */
  return { current, texts: async () => (await current()).map(({ secret }) => secret) };
}

export type SigningSecrets = Awaited<ReturnType<typeof openSecrets>>;

/*
 * Sources of signing secrets: environment variable, file, state. Each is read for every request, and registers its secrets
 * for redaction first.
 */
interface SigningSecret {
  readonly secret: string;
  /** Source as words, such as `the environment variable HOOK_SECRET`. */
  readonly place: string;
}

/**
 * Reads a source.
 * @throws HostformError `secret.source`, `webhooks.secret`, `usage` or `plan.address` if it has no secret.
 */
export type SecretSource = () => Promise<readonly SigningSecret[]>;

/** Minimum time between two reads of a state, in milliseconds. A state may be remote, and anybody can send deliveries. */
const STATE_MS = 2_000;

/** Maximum size of a secret file, in bytes. */
const MOST_BYTES = 1024 * 1024;

/** Returns the secret in an environment variable. Read once, because the environment never changes. */
function variableSource({ source, redaction }: ProjectParts, name: string): SecretSource {
  const place = `the environment variable ${name}`;
  return async () => {
    const secret = source.env[name]?.trim();
    learnVariable(redaction, source.env, name);
    if (!secret) {
      refuseSecretAsName("--secret-env", name);
      const state = secret === undefined ? "It is not set." : "It is empty.";
      unreadable(place, state, "Set it to the webhook's signing secret, and export it.");
    }
    const unfit = unfitSecret(secret);
    if (unfit !== undefined) unreadable(place, ...unfit);
    return [{ secret, place }];
  };
}

/** Returns the secrets in a file, relative to the working folder. */
function fileSource({ source, redaction, log }: ProjectParts, file: string): SecretSource {
  let first = true;
  return async () => {
    const place = `the file ${escapeLine(file)}`;
    const { text, readableByOthers } = await contentOf(path.resolve(source.cwd, file), place);
    const secrets = secretsIn(redaction, text, place);
    if (first && readableByOthers) {
      log.say(
        `Warning: ${escapeLine(file)} contains a secret and is readable by other users. Run \`chmod 600\` on it.`,
      );
    }
    first = false;
    return secrets;
  };
}

/**
 * Returns the secrets in a text, one per line. A rotation needs two.
 * @throws HostformError `secret.source` if a line is no secret.
 */
function secretsIn(redaction: Redaction, text: string, place: string): SigningSecret[] {
  if (/[\uFFFD\0]/.test(text)) unreadable(place, "It is not UTF-8 text.", "Save it as UTF-8.");
  const lines = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  for (const line of lines) redaction.learn(place, line);
  const unfit = unfitLines(lines);
  if (unfit !== undefined) unreadable(place, ...unfit);
  return lines.map((secret) => ({ secret, place }));
}

/**
 * Returns the secret of a webhook in the state. During a replacement, also the secret of the old webhook. With
 * `secret_output`, the file contains only the newest secret, so the earlier secret stays in memory until the replacement
 * ends.
 */
function stateSource(project: Project, address: string): SecretSource {
  const read = stateReader(project.state, project.host.clock, address);
  const held: HeldSecrets = new Map();
  const look = async (refresh: boolean) =>
    Promise.all((await read(refresh)).map((resource) => secretsOfWebhook(project, resource, held)));
  return async () => {
    let found = await look(false);
    // After a new secret in the file, read the state: it shows whether the earlier secret is still valid.
    if (found.some(({ changed }) => changed)) found = await look(true);
    return found.flatMap(({ secrets }) => secrets);
  };
}

/**
 * Returns the function that reads the webhooks at an address. Reads the state again on `refresh`, or if the last read is too
 * old.
 */
function stateReader(
  state: ProjectState,
  clock: Clock,
  address: string,
): (refresh: boolean) => Promise<readonly ResourceState[]> {
  let known: { readonly at: number; readonly resources: readonly ResourceState[] } | undefined;
  let first = true;
  return async (refresh) => {
    const now = clock.now();
    if (!refresh && known !== undefined && now - known.at < STATE_MS && now >= known.at) return known.resources;
    const resources = await state.select(address, first);
    first = false;
    if (resources.some((one) => !one.address.startsWith("hosting_webhook."))) {
      fail("usage", `${address} is not a webhook`, {
        remedies: ["Pass the address of a hosting_webhook in the state."],
      });
    }
    known = { at: now, resources };
    return resources;
  };
}

/** Current and previous secrets of a `secret_output`, by address. */
type HeldSecrets = Map<string, Readonly<Record<"now" | "before", readonly SigningSecret[]>>>;

async function secretsOfWebhook(
  parts: ProjectParts,
  { address, attributes, private: mark }: ResourceState,
  held: HeldSecrets,
): Promise<{ readonly secrets: readonly SigningSecret[]; readonly changed: boolean }> {
  const place = `the state, ${address}`;
  const old = secretOf(mark.deposed);
  const deposed = old === undefined ? [] : [{ secret: old, place: `${place} (the earlier secret)` }];
  const secret = secretOf(attributes);
  if (secret !== undefined) return { secrets: [{ secret, place }, ...deposed], changed: false };
  const now = await secretsOfOutput(parts, address, attributes.secret_output);
  const last = held.get(address);
  const changed = last !== undefined && !sameSecrets(last.now, now);
  const earlier = changed ? last.now : (last?.before ?? []);
  const before = changed || mark.deposed !== undefined ? earlier : [];
  held.set(address, { now, before });
  return { secrets: [...now, ...before, ...deposed], changed };
}

const sameSecrets = (a: readonly SigningSecret[], b: readonly SigningSecret[]) =>
  a.length === b.length && a.every(({ secret }, at) => secret === b[at]?.secret);

/** Returns the secrets at the destination of a `secret_output`. Empty if it cannot be read. */
async function secretsOfOutput(
  { source: { dir }, redaction }: ProjectParts,
  address: string,
  output: Json | undefined,
): Promise<readonly SigningSecret[]> {
  if (isObject(output) && typeof output.file === "string") {
    const place = `the file ${escapeLine(output.file)}`;
    return secretsIn(redaction, (await contentOf(path.resolve(dir, output.file), place)).text, place);
  }
  if (isObject(output) && isObject(output.env_file)) {
    const { path: file, name } = output.env_file;
    if (typeof file === "string" && typeof name === "string") {
      const place = `${name} in ${escapeLine(file)}`;
      const secret = parseEnv((await contentOf(path.resolve(dir, file), place)).text)[name];
      redaction.learn(place, secret);
      if (!secret) unreadable(place, "The line is missing, or empty.", `Restore it, or give ${OTHERS}.`);
      return [{ secret, place }];
    }
  }
  const handed = isObject(output) && Array.isArray(output.command);
  return fail("webhooks.secret", `The signing secret of ${address} is not in the state`, {
    detail: handed
      ? "It was passed to the command of its secret_output, and cannot be read back."
      : "The API shows it once, when the webhook is registered. hostform does not know the secret of a webhook that was imported.",
    remedies: [`Pass ${OTHERS}.`],
    address,
  });
}

const OTHERS = "--secret-env NAME or --secret-file FILE";

const secretOf = (attributes: JsonObject | undefined) =>
  typeof attributes?.secret === "string" && attributes.secret !== "" ? attributes.secret : undefined;

async function contentOf(file: string, place: string): Promise<{ text: string; readableByOthers: boolean }> {
  try {
    const bytes = await read(file, { limit: MOST_BYTES + 1 });
    const readableByOthers = ((look(file)?.mode ?? 0) & 0o077) !== 0;
    if (bytes.length > MOST_BYTES) unreadable(place, "It is too large for a file of secrets.", "Name another file.");
    return { text: bytes.toString("utf8"), readableByOthers };
  } catch (error) {
    if (error instanceof HostformError) throw error;
    return unreadable(place, `${file}: ${fileFailure(error)}.`, "Check the path, and that you may read the file.");
  }
}

function unreadable(place: string, detail: string, fix: string): never {
  fail("secret.source", `A signing secret cannot be read from ${place}`, { detail, remedies: [fix] });
}

/*
 * Checks the lines of a file with signing secrets. In: the lines. Out: the reason for a rejection. Anybody could guess a line
 * of another file (`}`, `# production`), so one such line invalidates the complete file. Pure.
 */

/** Reason why a text is no secret, and the fix. */
type Unfit = readonly [detail: string, fix: string];

/** Maximum number of secrets in a file. */
const MOST_LINES = 20;

/** Minimum length of a secret. Shorter ones can be guessed. */
const SHORTEST = 8;

const ALONE =
  "Pass a file that contains only signing secrets, one per line. For a file of the form NAME=value, load it into the environment and pass --secret-env NAME.";

/** A comment, an assignment, JSON, a text in quotes, or several words. */
const NO_SECRET = /^(?:#|\/\/|;|--|<!)|^(?:export\s+)?[A-Za-z_][\w.-]*\s*=\s*[^=\s]|^[{}[\]]|^["'`]|["'`],?$|\s/;

/** Returns why these lines are no secrets. Undefined if they are. */
function unfitLines(lines: readonly string[]): Unfit | undefined {
  if (lines.length === 0) return ["It is empty.", "Put the webhook's signing secret there, one on each line."];
  if (lines.length > MOST_LINES) return [`It has ${lines.length} lines, but each would be a secret.`, ALONE];
  if (lines.some((line) => NO_SECRET.test(line)))
    return ["It has a comment, an assignment, JSON, quotes or several words, but each line must be a secret.", ALONE];
  return lines.map(unfitSecret).find((unfit) => unfit !== undefined);
}

/** Returns why a text is no secret. Undefined if it is one. */
function unfitSecret(secret: string): Unfit | undefined {
  const fix = "Pass the secret that the API returned when the webhook was created.";
  if (secret.length < SHORTEST) return [`It is shorter than ${SHORTEST} characters: anybody could guess it.`, fix];
  const isPlaceholder = WEBHOOK_SECRET.masked.test(secret) || /^<.*>$/.test(secret);
  return isPlaceholder ? ["It is a placeholder, not a secret.", fix] : undefined;
}
