/**
 * Interprets status words, and finds out whether a listed object is live, deleted or disabled. The specification does not
 * define the fields (§2 Gaps). Many hosts keep deleted objects in lists and mark them with a time, a boolean or a status
 * word.
 */
import { type ApiRecord, fieldsOf, instant, word } from "../api/decoder.ts";
import { type Json, type Phase, readMoment } from "../model/index.ts";

/** Status words that the user declares for a provider. */
export interface PhaseWords {
  /** Phases by status word in lower case, in addition to the built-in words. */
  readonly statusWords: Readonly<Record<string, Phase>>;
}

/** Built-in status words by phase. The specification does not define status words (§2). Case and separators are ignored. */
const WORDS: Readonly<Record<Exclude<Phase, "unknown">, string>> = {
  pending: `pending new created ordered unpaid awaiting waiting queued scheduled requested submitted reserved processing progress
    provisioning preparing initializing initialising installing building creating deploying activating setup
    ausstehend wartend pendiente attente pendente ожидает მოლოდინში`,
  live: `active activated live running online up enabled provisioned ready operational
    aktiv activo actif ativo attivo активен აქტიური`,
  suspended: `suspended suspend suspending suspension paused pause pausing disabled disable disabling locked locking blocked block blocking
    frozen freeze freezing hold onhold halted halt halting deactivated deactivating
    gesperrt suspendido suspendu suspenso sospeso приостановлен შეჩერებული`,
  gone: `terminated cancelled canceled deleted removed destroyed closed ended withdrawn gone
    beendet terminado resilie удален დახურული`,
};
const PHASES: Readonly<Record<string, Phase>> = Object.fromEntries(
  Object.entries(WORDS).flatMap(([phase, text]) => words(text).map((word) => [word, phase as Phase])),
);

/** Words that are ignored in a status: prefixes, and causes of the status. */
const NOISE = new Set(
  "status state service account order is by the for of on in en due to request manually owner staff support client customer user admin administrator agency host system reseller payment nonpayment overdue abuse".split(
    " ",
  ),
);

/** Returns the words of a string in lower case, without accents and separators. */
export function words(text: string): readonly string[] {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/non[\s_-]+payment/g, "nonpayment")
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== "");
}

/**
 * Returns the phase of a status. The user's `status_words` take precedence. Contradictory or unknown words give `unknown`.
 * @param others Words that have another meaning for this kind.
 */
export function phaseOfWord(
  word: string | null,
  { statusWords }: PhaseWords,
  others: Readonly<Record<string, Phase>> = {},
): Phase {
  if (word === null) return "unknown";
  const key = word.trim().toLowerCase();
  const own = Object.hasOwn(statusWords, key) ? statusWords[key] : undefined;
  if (own !== undefined) return own;
  let found: Phase | undefined;
  for (const part of words(word)) {
    if (NOISE.has(part)) continue;
    const phase = [others, PHASES].find((phases) => Object.hasOwn(phases, part))?.[part];
    if (phase === undefined || (found !== undefined && found !== phase)) return "unknown";
    found = phase;
  }
  return found ?? "unknown";
}

export interface Life {
  readonly phase: "live" | "gone";
  /** Why the object counts as deleted. Completes the sentence "webhook 201 …": `was deleted on 2026-11-20`. */
  readonly end?: string;
  /** Field which proves that the host disabled the object: `is_active is false`. */
  readonly off?: string;
}

export const ALIVE: Life = { phase: "live" };

/** The host's clock and the user's `status_words`. */
interface LifeContext {
  readonly client: { hostNow(): number };
  readonly settings: PhaseWords;
}

/** Field names and words that mark a deleted object of a kind. */
interface LifeRules {
  /** Participles in field names: `deleted_at`, `is_deleted`, `deleted`. */
  readonly ends: ReadonlySet<string>;
  /** Status words that have another meaning for this kind. */
  readonly words: Readonly<Record<string, Phase>>;
  /** True if the host can disable objects of the kind. */
  readonly hasSwitch?: true;
}

const REMOVED = ["deleted", "removed", "destroyed", "terminated", "trashed", "discarded"];
const REVOKED = ["revoked", "cancelled", "canceled", "withdrawn", "unsubscribed"];
const CLOSED = ["ended", "closed", "archived", "expired", "lapsed"];

const mean = (phase: Phase, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, phase]));

const ANY: LifeRules = {
  ends: new Set([...REMOVED, ...REVOKED, ...CLOSED]),
  words: mean("gone", [...REMOVED, ...REVOKED, ...CLOSED]),
};

/** Rules by list. If a second creation would do harm, an ambiguous field does not mark an object as deleted. */
export const LIVES = {
  accounts: ANY,
  grants: ANY,
  webhooks: {
    ...ANY,
    words: { ...ANY.words, ...mean("suspended", ["inactive", "failing", "off", "stopped"]) },
    hasSwitch: true,
  },
  /** A finished migration has ended normally, and hostform does not create it again. */
  migrations: {
    ends: new Set([...REMOVED, ...REVOKED]),
    words: {
      ...mean("gone", [...REMOVED, ...REVOKED]),
      ...mean("live", [...CLOSED, "beendet", "terminado", "დახურული"]),
    },
  },
  /** A cancelled service may run until the end of the paid term. Only its status marks that end. */
  services: { ends: new Set(REMOVED), words: {} },
} as const satisfies Readonly<Record<string, LifeRules>>;

/**
 * Returns the life of a record. Fields take precedence over the status, because hosts keep the last status of a deleted
 * object.
 */
export function lifeOf({ raw }: Pick<ApiRecord, "raw">, { client, settings }: LifeContext, rules: LifeRules): Life {
  const fields = fieldsOf(raw);
  for (const name in fields) {
    const end = endOf(name, fields[name], rules.ends, client);
    if (end !== undefined) return { phase: "gone", end };
  }
  const status = word(fields.status) ?? word(fields.state);
  if (phaseOfWord(status, settings, rules.words) === "gone")
    return { phase: "gone", end: `is ${JSON.stringify(status)}` };
  const off = rules.hasSwitch && switchOf(fields, status, settings, rules.words, client);
  return { phase: "live", ...(off && { off }) };
}

/** Names of the lists in {@link LIVES}. */
export type Lives = keyof typeof LIVES;

/**
 * Returns a note about an ended or disabled object: `ended: was deleted on 2026-11-20`, or `disabled: is_active is false`.
 * Undefined if the object is live, or if its status already contains this.
 */
export function lifeNote(listing: Lives, record: Pick<ApiRecord, "raw">, context: LifeContext): string | undefined {
  const { end, off } = lifeOf(record, context, LIVES[listing]);
  const status = "status" in record ? `is ${JSON.stringify(record.status)}` : undefined;
  if (end !== undefined) return end === status ? undefined : `ended: ${end}`;
  return off === undefined ? undefined : `disabled: ${off}`;
}

const NAME = /^(?:is_|was_|soft_)*(date_)?([a-z]+?)(_at|_on|_date|_time)?$/;
const YES = /^(?:true|1|yes|y|on)$/i;
const NO = /^(?:false|0|no|n|off)$/i;

/** Returns the participle in the name of a field: `deleted` for `is_deleted` and `deleted_at`. */
function participleOf(
  name: string,
  ofKind: ReadonlySet<string>,
): { readonly did: string; readonly isTime: boolean } | undefined {
  const [, before, did = "", after] = NAME.exec(name) ?? [];
  return ofKind.has(did) ? { did, isTime: (before ?? after) !== undefined } : undefined;
}

/** Returns the reason in one field. In a time field, any string except a future time is a reason. */
function endOf(
  name: string,
  value: unknown,
  ends: ReadonlySet<string>,
  clock: LifeContext["client"],
): string | undefined {
  const found = participleOf(name, ends);
  const said = found && instant(value);
  if (found === undefined || said == null) return undefined;
  const moment = readMoment(said);
  if ("at" in moment)
    return moment.at <= clock.hostNow()
      ? `was ${found.did} on ${new Date(moment.at).toISOString().slice(0, 10)}`
      : undefined;
  const isEnd = YES.test(said) || (found.isTime && !NO.test(said) && !/^[\d.]+$/.test(said));
  return isEnd ? `is listed with ${name} ${shown(value)}` : undefined;
}

const shown = (value: unknown) => JSON.stringify(value as Json).slice(0, 60);

const ON = /^(?:is_)?(?:active|enabled)$/;
const OFF = new Set(["disabled", "paused", "suspended", "deactivated", "inactive"]);

function switchOf(
  fields: Readonly<Record<string, unknown>>,
  status: string | null,
  settings: PhaseWords,
  kindWords: LifeRules["words"],
  clock: LifeContext["client"],
): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    const isOff = ON.test(name) ? NO.test(word(value) ?? "") : endOf(name, value, OFF, clock) !== undefined;
    if (isOff) return `${name} is ${shown(value)}`;
  }
  if (status === null) return undefined;
  const whole = phaseOfWord(status, settings, kindWords);
  const parts = words(status).map((part) => phaseOfWord(part, { statusWords: {} }, kindWords));
  // In "disabled after 10 failures", only the first word is the status.
  const isPart =
    whole === "unknown" &&
    parts.includes("suspended") &&
    parts.every((one) => one === "suspended" || one === "unknown");
  const isNegated = words(status).some((part) => part === "not" || part === "no");
  return whole === "suspended" || (isPart && !isNegated) ? `status is ${JSON.stringify(status)}` : undefined;
}
