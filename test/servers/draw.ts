/** Random choices from a seed, and deviations of records and words that the specification leaves open. */
import { createHash } from "node:crypto";
import type { Json } from "../../src/sandbox/shape/rendering.ts";

/** Generator of random choices. The same seed returns the same values in the same order. */
export class Draw {
  readonly #seed: string;
  #state: number;

  constructor(seed: number | string) {
    this.#seed = String(seed);
    this.#state = createHash("sha256").update(this.#seed).digest().readUInt32BE();
  }

  /** Returns an independent generator for one subject. Its values do not depend on other subjects. */
  of(subject: string): Draw {
    return new Draw(`${this.#seed}:${subject}`);
  }

  /** Returns a number from 0 up to, but not including, 1 (mulberry32). */
  real(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  once(probability: number): boolean {
    return this.real() < probability;
  }

  oneOf<T>(list: readonly T[]): T {
    return list[Math.floor(this.real() * list.length)] as T;
  }

  /** Returns the items of the list, each with this probability. */
  some<T>(probability: number, list: readonly T[]): T[] {
    return list.filter(() => this.once(probability));
  }

  /** Adds one value of the list at this path, with this probability. */
  vary(add: Add, probability: number, path: readonly string[], list: readonly Json[]): void {
    if (this.once(probability)) add(path, this.oneOf(list));
  }

  /** Returns one of the names, by their weights. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.real() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries.at(-1)?.[0] as K;
  }

  /** Returns one of the sizes, positive or negative. */
  around(sizes: readonly number[]): number {
    return this.oneOf(sizes) * (this.once(0.5) ? 1 : -1);
  }
}

/** Adds a deviation: a path in the options of a sandbox, and its value. */
export type Add = (path: readonly string[], value: Json) => void;
export type Fill = (draw: Draw, add: Add) => void;

export const kind = (name: string, ...path: string[]): string[] => ["rendering", "kinds", name, ...path];
export const profile = (name: string): string[] => ["profile", name];

/** Record types whose ids and fields the specification leaves open. */
export const OPEN = ["grant", "webhook", "account", "migration_request"] as const;

/** Adds deviations of grants. */
export function grants(draw: Draw, add: Add): void {
  const names = "user.email user_email email_address grantee.email recipient invitee_email member.email grantee";
  const emails = `${names} shared_with collaborator.login`.split(" ");
  draw.vary(add, 0.45, kind("grant", "fields", "email"), emails);
  draw.vary(add, 0.2, kind("grant", "values", "email"), ["upper", "capital"]);
  draw.vary(add, 0.3, kind("grant", "fields", "permission"), ["role", "access", "access_level", "level"]);
  draw.vary(add, 0.3, kind("grant", "values", "permission"), ["upper", "capital", "listed", "named"]);
  const ends = ["expires", "expiry", "expiration", "valid_until", "expires_on", "ends_at", "expiration_date", null];
  draw.vary(add, 0.35, kind("grant", "fields", "expires_at"), ends);
  created(draw, add, "grant");
}

/** Adds deviations of webhooks. A webhook has a URL and events (§2), and its secret only at registration. */
export function webhooks(draw: Draw, add: Add): void {
  const names = ["signing_secret", "webhook_secret", "signingSecret", "secret_key", "shared_secret", "signing_key"];
  const rare = ["key", "token", "hmac_key", "signature_secret", "credentials.secret", "secret.value"];
  if (draw.once(0.5)) add(kind("webhook", "fields", "secret"), draw.oneOf(draw.once(0.3) ? rare : names));
  draw.vary(add, 0.3, kind("webhook", "fields", "url"), ["endpoint", "target_url", "callback", "delivery.uri"]);
  draw.vary(add, 0.4, kind("webhook", "values", "events"), ["flags", "objects", "commas", "flags"]);
  if (draw.once(0.2)) {
    add(kind("webhook", "created"), {
      status: draw.oneOf([200, 201]),
      only: draw.oneOf([["id", "secret"], ["id", "url", "secret"], ["secret"]]),
    });
  } else if (draw.once(0.3)) add(kind("webhook", "created", "status"), draw.oneOf([200, 202]));
}

/** Adds deviations of client accounts. */
export function accounts(draw: Draw, add: Add): void {
  draw.vary(add, 0.2, kind("account", "fields", "name"), ["display_name", "client_name", "title", "label"]);
  if (draw.once(0.15)) add(kind("account", "values", "name"), "upper");
  draw.vary(add, 0.3, kind("account", "fields", "company_name"), ["company.name", "company", null]);
  draw.vary(add, 0.3, kind("account", "fields", "vat_number"), ["company.vat", "vat", "vat_id", null]);
  draw.vary(add, 0.2, kind("account", "fields", "currency"), ["default_currency", null]);
  created(draw, add, "account");
}

/** Adds deviations of migration requests. */
export function migrations(draw: Draw, add: Add): void {
  const domains = "domain_name domain.name hostname site fqdn website target_domain source_domain".split(" ");
  draw.vary(add, 0.4, kind("migration_request", "fields", "domain"), domains);
  draw.vary(add, 0.1, kind("migration_request", "values", "domain"), ["upper", "website"]);
  const orders = ["service_id", "order.id", "service.id", "order", null];
  draw.vary(add, 0.4, kind("migration_request", "fields", "order_id"), orders);
  if (draw.once(0.2)) add(kind("migration_request", "values", "order_id"), "text");
  if (draw.once(0.4)) add(profile("migration"), "nested");
  const word = draw.oneOf(["NEW", "In Progress", "requested", "7", "offen", "pending_review"]);
  if (draw.once(0.5)) add(kind("migration_request", "words", "status", "draft"), word);
  created(draw, add, "migration_request");
}

/** Adds deviations of the response to a create whose fields are not specified. */
export function created(draw: Draw, add: Add, of: string): void {
  const how = draw.weighted({ usual: 5, body: 3, only: 1, empty: 1, status: 2 });
  const status = draw.oneOf([200, 201, 202]);
  if (how === "body") {
    const bodies: readonly Json[] = [
      { job_id: "b1946ac9", status: "queued" },
      { message: "Created." },
      { success: true },
      {},
      { data: null },
      { status: "ok" },
    ];
    add(kind(of, "created"), { status, body: draw.oneOf(bodies) });
  }
  if (how === "only") add(kind(of, "created"), { status, only: ["id", "grant_id"] });
  if (how === "empty") add(kind(of, "created", "status"), 204);
  if (how === "status") add(kind(of, "created", "status"), status);
}

/** Adds deviations of removed list items that hosts mark in different ways. */
export function ends(draw: Draw, add: Add): void {
  const was = "2026-11-20T10:00:00Z";
  const marks: readonly Json[] = [
    ...[
      { deleted_at: was },
      { revoked_at: was },
      { ended_at: 1_795_168_800 },
      { removedAt: was },
      { is_deleted: true },
    ],
    ...[
      { deleted: 1 },
      { status: "deleted" },
      { status: "Revoked" },
      { state: "removed" },
      { deleted_at: was, status: "active" },
    ],
  ];
  for (const name of ["grant", "webhook"]) {
    draw.vary(add, 0.25, kind(name, "ended"), marks);
    draw.vary(add, 0.1, kind(name, "more"), [
      { deleted_at: null },
      { is_deleted: false },
      { deleted_at: "2099-01-01T00:00:00Z" },
    ]);
  }
}

/** Adds deviations of the ids and id fields of records other than services and invoices. */
export function ids(draw: Draw, add: Add): void {
  if (draw.once(0.3)) add(profile("record_ids"), "uuid");
  for (const of of OPEN) {
    draw.vary(add, 0.4, kind(of, "ids"), ["text", "prefixed"]);
    const named = [`${of}_id`, "uuid", "_id", `${of.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())}Id`];
    draw.vary(add, 0.2, kind(of, "fields", "id"), named);
  }
}

/** Adds wrappers, naming styles and unknown fields. */
export function names(draw: Draw, add: Add): void {
  const camel = draw.once(0.25);
  const wrapped = draw.once(0.15) ? draw.oneOf(["data", "item", "*", "attributes"]) : undefined;
  const single = draw.once(0.5) ? draw.oneOf(["", "data", "*", "data.*", "result", "item"]) : undefined;
  for (const of of [...OPEN, "plan", "domain"]) {
    const place = single?.replace("*", of);
    if (place !== undefined && of !== "plan") add(kind(of, "single"), place);
    if (camel) add(kind(of, "camel"), true);
  }
  const all = [...OPEN, "plan", "service", "invoice"];
  for (const of of all) {
    if (wrapped === "attributes" && of !== "service" && of !== "invoice") add(kind(of, "nested"), "attributes");
    else if (wrapped !== undefined && wrapped !== "attributes") add(kind(of, "wrapped"), wrapped.replace("*", of));
    for (const [name, value] of draw.some(0.05, RECORD_EXTRAS)) add(kind(of, "more", name), value);
  }
  if (draw.once(0.3)) add(kind("service", "values", "domain"), "blank");
}

const RECORD_EXTRAS: readonly (readonly [string, Json])[] = [
  ["object", "record"],
  ["links", { self: "/x/1" }],
  ["_links", { self: { href: "/x/1" } }],
  ["meta", { version: 3 }],
  ["tags", []],
  ["labels", { team: "web" }],
  ["owner", { id: 7, name: "Ana", email: "ana@owner.example" }],
  ["errors", []],
  ["archived", false],
  ["parent", null],
  ["version", "2"],
  ["customer", { id: 3, status: "active" }],
  ["success", true],
  ["deleted_at", null],
  ["data", null],
];

type Words = Readonly<Record<string, readonly string[]>>;

/** Status words of hosts for an unpaid, live, suspended or ended service, and for its provisioning. */
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
    provisioned: "provisioned done complete completed ready active ok finished success deployed".split(" "),
    failed: ["failed", "error"],
  },
};

const LANGUAGES: readonly Readonly<Record<string, string>>[] = [
  { pending: "ausstehend", active: "aktiv", suspended: "gesperrt", provisioned: "fertig", terminated: "beendet" },
  { pending: "pendiente", active: "activo", suspended: "suspendido", provisioned: "listo", terminated: "terminado" },
  { pending: "en attente", active: "actif", suspended: "suspendu", provisioned: "prêt", terminated: "résilié" },
  { pending: "მოლოდინში", active: "აქტიური", suspended: "შეჩერებული", provisioned: "მზადაა", terminated: "დახურული" },
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

/** Words that hosts add without changing the meaning: before the status, and after a suspension. */
const BEFORE = ["service", "status", "state"];
const AFTER_SUSPENSION = ["by owner", "by client", "by customer", "by user", "on request", "manually", "by admin"];

/** Returns a function that adds deviations of one status field of services. */
export function statuses(field: "status" | "provisioning_status"): Fill {
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
      const word = how === "languages" ? (language[meaning] ?? meaning) : draw.oneOf(words);
      const suffix = after && meaning === "suspended" ? draw.oneOf(AFTER_SUSPENSION) : undefined;
      const parts = [before, word, suffix].flatMap((part) => part?.split(" ") ?? []);
      const value = how === "numbers" ? String(at) : spell(parts);
      if (value !== meaning) add(kind("service", "words", field, meaning), value);
    }
  };
}
