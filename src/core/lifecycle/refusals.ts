import { importIdOf, type Kind, type Remote } from "../kinds/kind.ts";
import {
  type Diagnostic,
  errorOf,
  hasUnknown,
  type Json,
  type JsonObject,
  some,
  UNKNOWN,
  type Value,
  type ValueObject,
  warningOf,
} from "../model/index.ts";
import { ownForms, unreadableOf } from "./attributes.ts";
import { madeThen, type Sent } from "./pending-create.ts";
import type { PendingDecision } from "./pending-facts.ts";

/** Why a resource is not changed, with remedies. One function per reason. */
interface Subject {
  readonly kind: Kind;
  readonly address: string;
  readonly prior?: { readonly attributes: JsonObject } | undefined;
  readonly importId?: string;
  ownerOf?(remote: Remote): string | undefined;
}

/** The id by which the first of some objects is imported. */
const importIdOfFirst = (kind: Kind, [first]: readonly Remote[]) =>
  first && importIdOf(kind, first.id, first.attributes);

/** The value that was there before, for a remedy: no secret, and nothing that is not known yet. */
const oldValue = (value: Value, secret: boolean): { value?: Json } =>
  secret || value === undefined || hasUnknown(value) ? {} : { value: value as Json };

const ANOTHERS = "If it belongs to someone else, declare something else.";

const shown = (value: Value) => (value === UNKNOWN ? "(known after apply)" : JSON.stringify(value));

export function immutable(
  { kind, address }: Subject,
  name: string,
  { before, after, secret }: { before: Value; after: Value; secret: boolean },
): Diagnostic {
  const [is, becomes] = secret ? ["(a secret)", "another"] : [shown(before), shown(after)];
  const paid = kind.quote !== undefined;
  return errorOf("plan.immutable", `${name} of ${address} cannot be changed`, {
    detail: `It is ${is} and would become ${becomes}. The API cannot change the ${name} of a ${kind.noun}${
      paid ? ", and a replacement is never ordered automatically" : ""
    }.`,
    remedies: [{ do: "redeclare", attribute: name, ...oldValue(before, secret), paid }],
    address,
    attribute: [name],
  });
}

/** What is adopted cannot be made into what is declared; another one is not ordered in its place. */
export function mismatch(
  { kind, address, importId, prior }: Subject,
  name: string,
  { before, after, secret }: { before: Value; after: Value; secret: boolean },
): Diagnostic {
  const [is, declared] = secret ? ["(a secret)", "another"] : [shown(before), shown(after)];
  const id = String(prior?.attributes.id ?? importId);
  const summary = `${address} cannot adopt ${kind.noun} ${id}: its ${name} is ${is}, but ${declared} is declared`;
  return errorOf("plan.mismatch", summary, {
    detail: `The API cannot change the ${name} of a ${kind.noun}.`,
    remedies: [{ do: "correct_import", attribute: name, ...oldValue(before, secret) }],
    address,
    attribute: [name],
  });
}

/** Two declarations came to the same thing; which values they have may be known only now. */
export function duplicate({ noun }: Pick<Kind, "noun">, address: string, other: string): Diagnostic {
  return errorOf("config.duplicate", `${address} and ${other} would be the same ${noun}`, {
    detail: "Both have the same natural key. No request was sent.",
    remedies: ["Remove one of the two, or correct what it refers to."],
    address,
  });
}

export function existing({ kind, address, ownerOf, prior }: Subject, matches: readonly Remote[]): Diagnostic {
  const ids = matches.map(({ id }) => id);
  const full = importIdOfFirst(kind, matches);
  const [only, ...others] = matches;
  const known = only !== undefined && others.length === 0 ? ownerOf?.(only) : undefined;
  if (known !== undefined) {
    return errorOf("plan.exists", `${address} exists already as ${kind.noun} ${ids[0]}, which is ${known}`, {
      detail: "An object can be managed under one address only.",
      remedies: [
        { do: "move", from: known, when: "it was renamed" },
        "If there are to be two, declare something else.",
      ],
      address,
    });
  }
  const recorded = prior?.attributes.id;
  if (typeof recorded === "string") {
    const summary = `${address} is ${kind.noun} ${recorded} in the state, which is gone; ${kind.noun} ${some(ids)} is in its place`;
    return errorOf("plan.exists", summary, {
      detail: "It is not tracked in the state at this address.",
      object: full,
      remedies: [{ do: "import", id: full, forgetFirst: true }, ANOTHERS],
      address,
    });
  }
  const summary =
    others.length === 0
      ? `${address} exists already as ${kind.noun} ${ids[0]}`
      : `${address} could be any of ${ids.length} existing ones: ${some(ids)}`;
  return errorOf("plan.exists", summary, {
    detail: `It is not in the state: ${kind.quote === undefined ? "creating it would make a second one" : "ordering it would buy a second one"}.`,
    object: full,
    remedies: [{ do: "import", id: full }, ANOTHERS],
    address,
  });
}

export function gone({ kind, address, prior, importId }: Subject, how: string, case_: "import" | "paid"): Diagnostic {
  const id = String(prior?.attributes.id ?? importId);
  const common = { address, object: id, code: "plan.gone" as const };
  if (case_ === "import") {
    const summary = `${address} cannot be adopted: ${kind.noun} ${id} ${how}`;
    return {
      ...common,
      severity: "error",
      summary,
      remedies: ["Correct the id of the import, or remove it."],
      attribute: ["import"],
    };
  }
  return {
    ...common,
    severity: "warning",
    summary: `${address} is declared, but ${kind.noun} ${id} ${how}`,
    detail: "It is not ordered again automatically: that would raise another invoice.",
    remedies: ["Remove its block if it is no longer wanted.", { do: "reorder" }],
  };
}

/** The attributes of the natural key that some objects do not show in a form that can be read; empty: none. */
const hiddenNames = (kind: Kind, config: ValueObject, live: readonly Remote[]) =>
  [...new Set(live.flatMap(({ attributes }) => unreadableOf(kind, config, attributes)))].join(", ");

/** The API shows objects that may be the declared one, and not enough of them to be sure. */
export function unreadable({ kind, address }: Subject, config: ValueObject, live: readonly Remote[]): Diagnostic {
  const ids = live.map(({ id }) => id);
  const full = importIdOfFirst(kind, live);
  const names = hiddenNames(kind, config, live);
  const which = ids.length === 1 ? `${kind.noun} ${ids[0]}` : `one of the ${kind.noun}s ${some(ids)}`;
  const summary = `${address} may exist already as ${which}: the API shows no ${names} of it that can be read`;
  return errorOf("plan.unreadable", summary, {
    detail: `It may be the declared ${kind.noun}, so none is created beside it. The specification does not say how the API shows ${names}.`,
    object: full,
    remedies: [
      { do: "import", id: full, when: "it is the declared one" },
      "If it is not, import it under an address of its own, or remove it.",
      { do: "report_shape" },
    ],
    address,
  });
}

/** The API shows values of one object that cannot be read. */
export function unknownValues(address: string, values: JsonObject): Diagnostic[] {
  return Object.entries(values).map(([name, value]) =>
    warningOf("plan.unknown_date", `${name} of ${address} cannot be read: the API shows ${shown(value)}`, {
      detail: `No change is planned on a date that cannot be read, so ${name} stays as it is.`,
      remedies: [`Compare ${name} with the dashboard.`, { do: "report_shape" }],
      address,
      attribute: [name],
    }),
  );
}

/** What is to be adopted cannot be seen yet. */
export function shownLater({ kind, address }: Subject, waitsFor: string): Diagnostic {
  const summary = `${address} is adopted when ${waitsFor} is live: the API shows no ${kind.noun}s of it until then`;
  return warningOf("apply.waiting", summary, { remedies: [{ do: "apply_again" }], address });
}

/** Nothing that can be read shows whether a create was carried out. */
export function pending({ kind, address }: Subject): Diagnostic {
  return warningOf("plan.pending", `It is not known whether ${address} was ordered`, {
    detail: `The answer to the request for this ${kind.noun} was lost. The API cannot show a ${kind.noun}, so the request is not sent again.`,
    remedies: [{ do: "resolve" }],
    address,
  });
}

/** What was made is shown in another form than it was sent in. */
export function ownForm({ kind, address }: Subject, name: string, sent: Json, form: Json): Diagnostic {
  return warningOf("api.form", `The API shows ${name} of ${address} as ${shown(form)}; ${shown(sent)} was sent`, {
    detail: `The ${kind.noun} was created as declared; the API writes the value differently. Both count as equal.`,
    remedies: ["If that is not what you meant, declare it as the API shows it."],
    address,
    attribute: [name],
  });
}

/** Why it is not certain that a create made some objects, as the end of a sentence. */
function whyUndecided(kind: Kind, { attributes, private: { pending } }: Sent, candidates: readonly Remote[]): string {
  const one = candidates.length === 1;
  const [other] = candidates.flatMap((live) => Object.entries(ownForms(kind, attributes, live.attributes)));
  if (other !== undefined) {
    const [name, is] = other;
    const sent = shown(attributes[name] ?? null);
    return `its ${name} is ${shown(is)}, but ${sent} was requested. A host may write it differently.`;
  }
  const hidden = hiddenNames(kind, attributes, candidates);
  if (hidden !== "") return `the API shows no ${hidden} of ${one ? "it" : "them"} that can be read.`;
  const { since } = pending;
  // Of one that does not show when it was made, the time decides nothing.
  const elsewhen = candidates.find((live) => !madeThen(pending, live, Date.parse(since)));
  if (elsewhen === undefined) return `nothing else shows whose ${one ? "it is" : "they are"}.`;
  const made = `${one ? "it" : elsewhen.id} was made at ${String(elsewhen.attributes.created_at)}`;
  return `the API says that ${made}, and the request left at ${since}. Does a clock differ?`;
}

/** Several objects could be what a create without known outcome made, or one that could be somebody else's. */
export function undecided({ kind, address }: Subject, sent: Sent, candidates: readonly Remote[]): Diagnostic {
  const ids = some(candidates.map(({ id }) => id));
  const one = candidates.length === 1;
  const answer = sent.private.pending.accepted
    ? `The API accepted a request for this ${kind.noun}; its answer does not show which one it made.`
    : `The answer to the request for this ${kind.noun} was lost.`;
  const why = whyUndecided(kind, sent, candidates);
  const object = importIdOfFirst(kind, candidates);
  const summary = `It is not known whether ${address} is ${one ? `${kind.noun} ${ids}` : `one of the ${kind.noun}s ${ids}`}`;
  return warningOf("plan.pending", summary, {
    detail: `${answer} ${one ? "This one was" : "These were"} not there before; ${why}`,
    object: one ? object : undefined,
    remedies: [{ do: "resolve", ...(one && object !== undefined && { object }) }],
    address,
  });
}

/** The question that a decision about a pending create leaves to the user. */
export function questionOf(subject: Subject, sent: Sent, { row, objects }: PendingDecision): Diagnostic {
  if (row === "blind") return pending(subject);
  return row === "accepted" ? notShown(subject) : undecided(subject, sent, objects);
}

/** The plan adopted an object for a pending create, and the account of now says otherwise. */
export function changedSince({ kind, address }: Subject, id: string): Diagnostic {
  return errorOf("plan.pending", `${address} is not ${kind.noun} ${id}: the account changed since the plan`, {
    detail: "The plan adopts that object for a create without an answer. No request was sent.",
    remedies: ["Plan again, then apply."],
    address,
  });
}

/** The API accepted a create without saying what it made, and no list shows it. */
export function notShown({ kind, address }: Subject): Diagnostic {
  const summary = `The API accepted the request for ${address}, and no list shows the ${kind.noun} yet`;
  return warningOf("plan.pending", summary, {
    detail: `Its answer named no ${kind.noun}: it may be made by a job. It is looked for by each run, and not sent again.`,
    remedies: ["Apply again later.", { do: "resolve", as: "absent", when: "it was not made" }],
    address,
  });
}

/** A server that is no longer declared may be the one that is declared now. */
export function renamed({ address }: Pick<Subject, "address">, former: string): Diagnostic {
  return errorOf("plan.lookalike", `${address} may be ${former} under a new name`, {
    detail: `${former} has the same plan and is no longer declared; without a domain the two cannot be distinguished.`,
    remedies: [{ do: "move", from: former, when: "it was renamed" }, { do: "order_anyway" }],
    address,
  });
}

/** A host may have rewritten or cut the name of an object that no address owns. */
function similar({ kind, address }: Subject, live: readonly Remote[], config: ValueObject): Diagnostic {
  const [name = kind.words.name] = kind.identity ?? [];
  const [first] = live;
  const ids = live.map(({ id }) => id);
  const one = ids.length === 1;
  const which = one ? `${kind.noun} ${ids[0]}` : `one of the ${kind.noun}s ${some(ids)}`;
  const is = shown(first?.attributes[name] ?? null);
  const summary = `${address} may be ${which}, which ${one ? "is" : "are"} not in the state`;
  return errorOf("plan.lookalike", summary, {
    detail: `Its ${name} is ${is}; ${shown(config[name] ?? null)} is declared. A host may rewrite or cut a ${name}. Was the state lost?`,
    object: importIdOfFirst(kind, live),
    remedies: [
      { do: "import", ...(one && { id: importIdOfFirst(kind, live) ?? "" }), when: "it is" },
      { do: "order_anyway" },
    ],
    address,
  });
}

/** A declared server without a domain could be one that exists and that no address owns. */
export function lookalike(subject: Subject, live: readonly Remote[], config: ValueObject = {}): Diagnostic {
  const { kind, address, ownerOf } = subject;
  const named = live.filter(({ attributes }) => kind.naturalKey(attributes) !== undefined);
  if (kind.naturalKey(config) !== undefined && named.length > 0) return similar(subject, named, config);
  const ids = live.map(({ id }) => id);
  const one = ids.length === 1;
  const left = live.map((remote) => ownerOf?.(remote)).find((held) => held !== undefined);
  if (left !== undefined) return renamed({ address }, left);
  const summary = `${address} may be ${one ? `${kind.noun} ${ids[0]}` : `one of the ${kind.noun}s ${some(ids)}`}, which ${one ? "is" : "are"} not in the state`;
  return errorOf("plan.lookalike", summary, {
    detail: `${one ? "It is" : "They are"} of the same plan, and without a domain nothing distinguishes them. Was the state lost?`,
    remedies: [
      { do: "import", ...(one && ids[0] !== undefined && { id: ids[0] }), when: "it is" },
      { do: "order_anyway" },
    ],
    address,
  });
}
