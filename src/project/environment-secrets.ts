/**
 * Finds the secrets in an environment: the values of variables whose names say so, and the credentials inside addresses,
 * query strings, headers and JSON of any variable. A word that stands in any output (`service`, a user name, a path) is
 * none, whatever its variable is called: hiding it everywhere would hide the output.
 */

import { exists } from "../core/files/file-system.ts";
import { isForeignPath } from "../core/files/paths.ts";
import { kindNames } from "../core/kinds/names.gen.ts";
import { isObject, parsedJson, SHORTEST_SECRET_PART } from "../core/model/index.ts";
import { KEY_VARIABLES, NEW_KEY_VARIABLES, OLD_KEY_VARIABLES } from "../core/record/state-key.ts";
import type { Redaction } from "./redaction.ts";
import type { ProjectSource } from "./source.ts";

/** Variables whose whole value is a secret, even an ordinary word. */
const VARIABLES = [
  ...[KEY_VARIABLES, NEW_KEY_VARIABLES, OLD_KEY_VARIABLES].flatMap(({ passphrase, key }) => [passphrase, key]),
  "TF_HTTP_PASSWORD",
  "PGPASSWORD",
];

/** Announces the secrets that the environment holds: those of hostform, and any that the names of variables or addresses show. */
export function learnEnvironment(redaction: Redaction, env: ProjectSource["env"]): void {
  learnToken(redaction, env.HOSTING_TOKEN);
  for (const name of VARIABLES) learnValue(redaction, env[name]);
  redaction.hide(...secretsInEnvironment(env, (value) => !isForeignPath(value) && exists(value)));
}

/** Announces a value that was read from where a secret is kept, with and without the space around it and around its lines. */
export function learnValue(redaction: Redaction, value = ""): void {
  redaction.learn(value, value.trim(), ...value.split("\n").map((line) => line.trim()));
}

/** Announces an API token. Of `12|abc…` the part behind the bar is the secret one. */
export function learnToken(redaction: Redaction, token: string | undefined): void {
  learnValue(redaction, token);
  redaction.learn(token?.slice(token.indexOf("|") + 1).trim());
}

/** Names of variables, of parameters of a query and of keys in JSON whose values are secrets. */
const SECRET_NAME = new RegExp(
  [
    "TOKEN",
    "SECRET",
    "(?<!BY|COM)PASS(?!IVE|ENGER|AGE)",
    "(?<!^|OLD)PWD",
    "KEY(?!BOARD|MAP|WORD)",
    "CREDENTIAL",
    "CREDS",
    "CONN(?:ECTION)?_?STR",
    "(?:^|_)DSN$",
    "AUTH(?!OR(?!I))",
    "PRIVATE",
    "BEARER",
    "JWT",
    "COOKIE",
    "SIGNATURE",
    "SIGNING",
    "(?:^|_)PIN$",
    "(?<!DESKTOP_|WAYLAND_)(?:^|_)SESSION$",
  ].join("|"),
  "i",
);

/** End of a name like `TOKEN_FILE` or `AUTH_HOST`, which is about a secret and holds none. */
const ABOUT_A_SECRET =
  /_?(?:COMMAND|DIR|FILE|PATH|USER|USERNAME)$|_(?:DOMAIN|EMAIL|HOST|HOSTNAME|NAME|PORT|SOCK|TYPE)$/i;

/** Short names that mean a secret as a parameter of a query alone. */
const SECRET_PARAMETER = /^(?:sig|code|pw)$/i;

const USER_NAME = /(?:^|_)(?:USER|USERNAME|LOGNAME|ACTOR|PGUSER)$/;

/** Values that switch something, and the names of places that programs run in. */
const WORDS =
  "active always bearer default development digest disabled enabled example localhost manage oauth2 optional prefer preferred production required staging suspended testing unknown";

/** Whole numbers of up to seven digits (ids, ports, seconds), versions, addresses of four numbers, times. */
const NUMBER = /^[+-]?\d{1,7}(?:\.\d{1,4})?$|^[~^v]?\d{1,5}(?:\.\d{1,5}){1,3}$|^\d{1,7}\s?(?:[smhd]|ms|[kmg]b?)$/i;

/** A user name without a password is a token if it looks like one: `https://ghp_…@github.com`. */
const TOKEN_AS_USER = /^(?=.*\d)[\w.~+%-]{16,}$/;

/**
 * The secrets that an environment holds.
 * @param exists whether there is something at a path.
 */
export function secretsInEnvironment(env: ProjectSource["env"], exists: (path: string) => boolean): Set<string> {
  const ordinary = ordinaryWords(env);
  const isOrdinary = (value: string) =>
    ordinary.has(value.toLowerCase()) ||
    Object.hasOwn(env, value) ||
    NUMBER.test(value) ||
    (/[/\\]/.test(value) && value.length < 4096 && exists(value));
  const found = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const trimmed = value.trim();
    if (isOrdinary(trimmed)) continue;
    for (const secret of secretsOf(name, trimmed)) if (!isOrdinary(secret)) found.add(secret);
  }
  return found;
}

/** The credentials inside an address, as they are and decoded. */
function credentialsIn(text: string): string[] {
  return [...userInfoIn(text), ...parametersIn(text), ...headersIn(text)].flatMap((one) => [one, decoded(one)]);
}

const isSecretName = (name: string) => SECRET_NAME.test(name) && !ABOUT_A_SECRET.test(name);

function secretsOf(name: string, value: string): string[] {
  const json = /^[{[]/.test(value) ? parsedJson(value) : undefined;
  if (json !== undefined) return partsOf(json, isSecretName(name));
  const inside = credentialsIn(value);
  if (/proxy/i.test(name)) inside.push(...(/^[^\s:@/]+:([^\s@/]+)@/.exec(value)?.slice(1) ?? []));
  return isSecretName(name) && !isOpenAddress(name, value, inside) ? [value, ...rests(value), ...inside] : inside;
}

/**
 * An address is no secret as a whole when it only names a host, when what is secret in it is known, or when it is that of a
 * database.
 */
function isOpenAddress(name: string, value: string, inside: readonly string[]): boolean {
  const known = inside.length > 0 || /CONN|DSN$/i.test(name);
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return known && /^[\w ]+=/.test(value);
  return known || /^[a-z][a-z\d+.-]*:\/\/[^/?#]*\/?$/i.test(value);
}

/**
 * What is secret wherever it stands: behind the number of `12|abc…`, behind the scheme of `Bearer abc…`, behind `user:`, also in
 * base64 as `Basic …` has it.
 */
function rests(value: string): string[] {
  const [rest] = /^(?:\d+\||(?:basic|bearer|token)\s+|[\w.@-]+:)(\S+)$/i.exec(value)?.slice(1) ?? [];
  const [password] = /^[\w.@-]+:([!-~]{6,})$/.exec(Buffer.from(rest ?? value, "base64").toString())?.slice(1) ?? [];
  return [rest, password].filter((one) => one !== undefined);
}

function userInfoIn(text: string): string[] {
  // The end of the scheme is enough: a search for its beginning in a long word takes minutes.
  return [...text.matchAll(/[a-z\d+.-]:\/\/([^\s/?#]+)@/gi)].flatMap(([, info = ""]) => {
    const colon = info.indexOf(":");
    const user = colon < 0 ? info : info.slice(0, colon);
    return [...(colon < 0 ? [] : [info.slice(colon + 1)]), ...(TOKEN_AS_USER.test(user) ? [user] : [])];
  });
}

/** `?token=…&sig=…`, `password='…' host=…`, `AccountKey=…;`. */
function parametersIn(text: string): string[] {
  if (!text.includes("=")) return [];
  const pairs = text.matchAll(/(?:^|[?&;#:,\s])([\w.%-]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|([^&;#\s]*))/g);
  return [...pairs].flatMap(([, name = "", single, double, plain]) =>
    isSecretName(name) || SECRET_PARAMETER.test(name) ? [single ?? double ?? plain ?? ""] : [],
  );
}

function headersIn(text: string): string[] {
  const headers = text.matchAll(
    /\bauthorization["']?\s*[:=]\s*["']?((?:basic|bearer|token)\s+[^\s"']+|[^\s"']{16,})/gi,
  );
  return [...headers].flatMap(([, value = ""]) => [value, ...rests(value)]);
}

/** The texts of a document: those with a secret's name, and all long ones where the whole is a secret. */
function partsOf(document: unknown, whole: boolean): string[] {
  const found: string[] = [];
  // No recursion: a text of others, such as the title of a pull request, may be nested more deeply than the stack allows.
  const open: [name: string, value: unknown][] = [["", document]];
  for (const [name, value] of open) {
    if (typeof value === "string") found.push(...partOf(name, value, whole));
    else if (Array.isArray(value)) for (const one of value) open.push([name, one]);
    else if (isObject(value)) for (const entry of Object.entries(value)) open.push(entry);
  }
  return found;
}

function partOf(name: string, value: string, whole: boolean): string[] {
  if (isSecretName(name)) return secretsOf(name, value.trim());
  const isSecret = whole && value.length >= SHORTEST_SECRET_PART && !isOpenAddress("", value, []);
  return [...(isSecret ? [value] : []), ...credentialsIn(value)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The words of hostform's own output, switches, and the names of users; in lower case. */
function ordinaryWords(env: ProjectSource["env"]): Set<string> {
  const users = Object.entries(env).flatMap(([name, value]) => (USER_NAME.test(name) ? [value ?? ""] : []));
  const words = [...kindNames, ...kindNames.flatMap((name) => name.split("_")), ...WORDS.split(" "), ...users];
  return new Set(words.map((word) => word.toLowerCase()));
}
