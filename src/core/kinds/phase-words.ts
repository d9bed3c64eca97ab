import type { Phase } from "../model/index.ts";

/** The user's words of a provider. */
export interface PhaseWords {
  /** Lower-cased status word -> phase, beside the built-in words. */
  readonly statusWords: Readonly<Record<string, Phase>>;
}

/** The words of texts that were read before: a host describes thousands of services with a few texts. */
const known = new Map<string, readonly string[]>();
const MOST_KNOWN = 1000;

/**
 * The words of a status are not specified (§2, gaps in field definitions). They are classified
 * here, case-insensitively and whatever joins them; a word that is not known stays unknown and is never acted upon.
 */
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

/** Words that say nothing of the phase: prefixes, and who or what caused it. */
const NOISE = new Set(
  "status state service account order is by the for of on in en due to request manually owner staff support client customer user admin administrator agency host system reseller payment nonpayment overdue abuse".split(
    " ",
  ),
);

/** The words of a text without case, accents and what joins them. */
export function words(text: string): readonly string[] {
  const found = known.get(text) ?? split(text);
  if (known.size < MOST_KNOWN) known.set(text, found);
  return found;
}

function split(text: string): string[] {
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
 * The phase of a status word. Words of the user's own (`status_words`) come first. Conflicting or unknown words: unknown.
 * @param others words that mean something else for a kind.
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
