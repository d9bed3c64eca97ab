/** Status words by chance: synonyms in any spelling, with what hosts put before and after them, in other languages, as numbers. */

import type { Fill } from "./draw.ts";

type Words = Readonly<Record<string, readonly string[]>>;

/** What hosts call a service that is not paid, live, suspended, ended; and how far its provisioning is. */
const SYNONYMS: Readonly<Record<"status" | "provisioning_status", Words>> = {
  status: {
    pending: ["pending", "new", "created", "ordered", "awaiting payment", "unpaid", "pending payment", "processing"],
    active: ["active", "live", "running", "online", "enabled", "ok", "up", "ready", "operational", "activated"],
    suspended: ["suspended", "paused", "disabled", "locked", "blocked", "on hold", "frozen", "stopped", "offline"],
    terminated: ["terminated", "closed", "deleted", "removed", "ended"],
    cancelled: ["cancelled", "canceled", "withdrawn"],
  },
  provisioning_status: {
    pending: ["pending", "queued", "waiting", "new", "not started", "scheduled"],
    provisioning: ["provisioning", "in progress", "installing", "building", "creating", "deploying"],
    provisioned: [
      "provisioned",
      "done",
      "complete",
      "completed",
      "ready",
      "active",
      "ok",
      "finished",
      "success",
      "deployed",
    ],
    failed: ["failed", "error"],
  },
};

const LANGUAGES: readonly Words[] = [
  {
    pending: ["ausstehend"],
    active: ["aktiv"],
    suspended: ["gesperrt"],
    provisioned: ["fertig"],
    terminated: ["beendet"],
  },
  {
    pending: ["pendiente"],
    active: ["activo"],
    suspended: ["suspendido"],
    provisioned: ["listo"],
    terminated: ["terminado"],
  },
  {
    pending: ["en attente"],
    active: ["actif"],
    suspended: ["suspendu"],
    provisioned: ["prêt"],
    terminated: ["résilié"],
  },
  {
    pending: ["მოლოდინში"],
    active: ["აქტიური"],
    suspended: ["შეჩერებული"],
    provisioned: ["მზადაა"],
    terminated: ["დახურული"],
  },
];

const SPELLINGS: readonly ((words: readonly string[]) => string)[] = [
  (words) => words.join("_"),
  (words) => words.join("-"),
  (words) => words.join(" "),
  (words) => words.join("_").toUpperCase(),
  (words) => words.map(capital).join(" "),
  (words) => words.map(capital).join(""),
  (words) => words.map((word, at) => (at === 0 ? word : capital(word))).join(""),
  (words) => capital(words.join(" ")),
];

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Words that hosts add, and that mean nothing by themselves: before, and after a suspension. */
const BEFORE = ["service", "status", "state"];
const AFTER_SUSPENSION = ["by owner", "by client", "by customer", "by user", "on request", "manually", "by admin"];

/** Fills the gap of one field of services. */
export function drawnStatuses(
  field: "status" | "provisioning_status",
  place: (kind: string, ...path: string[]) => string[],
): Fill {
  return (draw, add) => {
    const known = SYNONYMS[field];
    const none = field === "status" ? 0 : 2;
    const how = draw.weighted({ usual: 3, synonyms: 6, languages: 0.5, numbers: 0.5, none });
    if (how === "usual") return;
    if (how === "none") return add(["profile", "provisioning"], draw.oneOf(["null", "empty"]));
    const spell = draw.oneOf(SPELLINGS);
    const language = draw.oneOf(LANGUAGES);
    const [before, after] = [draw.once(0.15) ? draw.oneOf(BEFORE) : undefined, draw.once(0.35)];
    for (const [at, [meaning, words]] of Object.entries(known).entries()) {
      const word = how === "languages" ? (language[meaning]?.[0] ?? meaning) : draw.oneOf(words);
      const suffix = after && meaning === "suspended" ? draw.oneOf(AFTER_SUSPENSION) : undefined;
      const parts = [before, word, suffix].flatMap((part) => part?.split(" ") ?? []);
      const value = how === "numbers" ? String(at) : spell(parts);
      if (value !== meaning) add(place("service", "words", field, meaning), value);
    }
  };
}
