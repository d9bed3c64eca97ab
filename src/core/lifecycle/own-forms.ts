/**
 * Normalized values: the host stored a value in another format than hostform sent, for example a rounded time, a shortened
 * name or a masked query. If the difference affects neither cost nor access, the normalized value is treated as equal to the
 * sent value (`AttributeMeta.ownForm`). Otherwise the plan contains a change. After two changes without effect, hostform
 * stops (decision 53).
 */
import { type AttributeEntry, identityOf, type Kind, type Remote } from "../kinds/kind.ts";
import { conditionFor, problem } from "../messages/index.ts";
import {
  type Condition,
  conditionWarning,
  type Diagnostic,
  equal,
  type Forms,
  type Json,
  type JsonObject,
  type OwnForm,
  openValue,
  type PrivateMark,
  type ResourceState,
  type Value,
} from "../model/index.ts";
import { attributesOf, isBelieved, isLeftOut, mayBeSame, refreshed, sameValue } from "./attributes.ts";
import { isOfPlan } from "./sold-plan.ts";

/** Number of changes without effect after which hostform accepts the host's value. */
const MOST_TIMES = 2;

/** Origin of a value: the response to a create request; the first list with the new object; any later reading. */
type Occasion = "made" | "first" | "later";

/**
 * Returns the normalized values after reading an object.
 * @param sent Values of the request or the state.
 * @param live Values in the response. Missing values are unknown.
 * @param before Earlier normalized values. For `made`: of the replaced object.
 */
export function formsSeen(
  kind: Kind,
  { sent, live, before }: { readonly sent: JsonObject; readonly live: JsonObject; readonly before: Forms },
  occasion: Occasion,
): Forms {
  const forms = attributesOf(kind).flatMap((entry): [string, OwnForm][] => {
    const form = formSeen(entry, { sent, is: live[entry.name], before: before[entry.name] }, occasion);
    return form === undefined ? [] : [[entry.name, form]];
  });
  return Object.fromEntries(forms);
}

function formSeen(
  { name, type, meta }: AttributeEntry,
  {
    sent,
    is,
    before,
  }: { readonly sent: JsonObject; readonly is: Json | undefined; readonly before: OwnForm | undefined },
  occasion: Occasion,
): OwnForm | undefined {
  const isMade = occasion === "made";
  const was = (isMade ? sent[name] : (before?.sent ?? sent[name])) ?? null;
  const earlier = before !== undefined && sameValue(meta, before.sent, was) ? before : undefined;
  const isFixed = (meta.change === "replace" || meta.change === "immutable") && !meta.unreadable;
  if (!isFixed) return isMade || (is !== undefined && sameValue(meta, was, is)) ? undefined : before;
  if (is === undefined || isLeftOut(type, meta, is) || meta.unclear?.(is)) return earlier;
  // hostform sent no value, so the host chose one.
  if (was === null && (meta.computed || meta.change === "immutable")) return undefined;
  if (sameValue(meta, was, is)) {
    if (isMade) return earlier && { ...earlier, earlier: true };
    return earlier && !earlier.earlier && isBelieved(meta, earlier) ? earlier : undefined;
  }
  const form = { sent: was, is, times: 1 };
  // Somebody changed the value. The declaration may still contain the sent value.
  const foreign = meta.change === "immutable" ? ({ ...form, foreign: true } as const) : undefined;
  if (occasion === "later") return before ?? foreign;
  if (!isMade && earlier !== undefined && !earlier.earlier) return before;
  const isChange = foreign !== undefined || isBelieved(meta, form);
  if (!isMade && isChange && !mayBeSame(meta, was, is)) return earlier ?? foreign;
  return { ...form, times: (earlier?.times ?? 0) + 1 };
}

/** Returns the normalized values after in-place changes. @param after Values that the host returned after the changes. */
export function formsTried(
  kind: Kind,
  { from, wanted, after }: { readonly from: JsonObject; readonly wanted: JsonObject; readonly after: JsonObject },
  before: Forms,
): Forms {
  const forms: Record<string, OwnForm> = { ...before };
  for (const { name, meta } of attributesOf(kind)) {
    const was = from[name] ?? null;
    const sent = wanted[name] ?? null;
    const is = after[name] ?? null;
    if (meta.change !== "in-place" || meta.unreadable || meta.writeOnly || sameValue(meta, was, sent)) continue;
    const earlier = forms[name];
    const times = earlier !== undefined && sameValue(meta, earlier.sent, sent) ? earlier.times : 0;
    delete forms[name];
    if (!sameValue(meta, sent, is)) forms[name] = { sent, is, times: times + 1 };
  }
  return forms;
}

/**
 * Returns the attributes and normalized values of a live object.
 * @param occasion Default: from the state entry.
 * @param more Normalized values from another source.
 */
export function reread(
  kind: Kind,
  { attributes: sent, private: mark }: Pick<ResourceState, "attributes" | "private">,
  remote: Pick<Remote, "id" | "attributes">,
  more: Forms = {},
  occasion: Occasion = mark.created === undefined ? "later" : "first",
): { readonly attributes: JsonObject; readonly forms: Forms } {
  const seen = formsSeen(kind, { sent, live: remote.attributes, before: mark.shown ?? {} }, occasion);
  const forms = { ...seen, ...more };
  return { attributes: refreshed(kind, sent, remote, forms), forms };
}

/** Returns the attributes whose live value differs from the create request. A similar name counts as equal. */
export function otherForms(kind: Kind, sent: JsonObject, live: JsonObject): Forms {
  const forms = formsSeen(kind, { sent, live, before: {} }, "made");
  const named = kind.mayMatch?.(sent, live, []) ? identityOf(kind) : [];
  const others = attributesOf(kind).flatMap(({ name, meta }): [string, OwnForm][] => {
    const form = forms[name];
    const isSame = form === undefined || named.includes(name) || mayBeSame(meta, form.sent, form.is);
    return isSame ? [] : [[name, form]];
  });
  return Object.fromEntries(others);
}

/**
 * Returns normalized values for an object that the user adopts unchanged. They cause no change until the declaration changes.
 */
export const takenForms = (forms: Forms): Forms =>
  Object.fromEntries(
    Object.entries(forms).map(([name, form]) => [name, { ...form, times: MOST_TIMES, foreign: true }]),
  );

/** Returns the private part of a state entry with these normalized values. */
export function withForms({ shown: _, ...mark }: PrivateMark, forms: Forms): PrivateMark {
  return Object.keys(forms).length === 0 ? mark : { ...mark, shown: forms };
}

/** Returns true if the last two changes sent the declared value and the host still has another value. */
export const isUnkept = ({ meta }: AttributeEntry, form: OwnForm | undefined, declared: Value, live: Value): boolean =>
  form !== undefined &&
  form.times >= MOST_TIMES &&
  !form.earlier &&
  sameValue(meta, form.sent, declared) &&
  equal(form.is, live);

/** Returns true if the declared value is the host's normalized form of the value in the state. */
export const isOwnForm = ({ meta }: AttributeEntry, form: OwnForm | undefined, declared: Value, live: Value): boolean =>
  form !== undefined &&
  isBelieved(meta, form) &&
  sameValue(meta, form.is, declared) &&
  sameValue(meta, form.sent, live);

/** Resource of a message. Messages hide the sensitive attributes. */
interface Subject {
  readonly kind: Pick<Kind, "noun">;
  readonly address: string;
  readonly sensitive: readonly string[];
}

const isUrl = (value: Json): value is string => typeof value === "string" && /^https?:/i.test(value);

/** Returns both values for a message. Empty if they are secret or differ only in a secret part. */
export function openValues({ sent, is }: OwnForm, isSecret: boolean): { readonly sent?: Json; readonly is?: Json } {
  const open = { sent: openValue(sent), is: openValue(is) };
  return isSecret || equal(open.sent, open.is) ? {} : open;
}

/** Returns the condition of an attribute for which the host does not keep the sent value. */
export function unkept({ kind: { noun }, address, sensitive }: Subject, name: string, form: OwnForm): Condition {
  const { sent: declared, is } = openValues(form, sensitive.includes(name));
  const isAdopted = form.foreign === true;
  return conditionFor("own_form", { address, noun, name, times: form.times, isAdopted, is, declared });
}

/**
 * Returns warnings about new normalized values.
 * @param isAnswer True after a change. A plan contains the difference anyway.
 */
export function formNotices(
  subject: Subject & { readonly kind: Kind },
  before: Forms,
  forms: Forms,
  isAnswer = false,
): Diagnostic[] {
  const { kind, address, sensitive } = subject;
  return attributesOf(kind).flatMap(({ name, meta }): Diagnostic[] => {
    const form = forms[name];
    if (form === undefined || form.earlier || isOfPlan(kind, name) || equal(form, before[name] ?? null)) return [];
    const isOwn = isBelieved(meta, form);
    if (!isOwn && !isAnswer) return [];
    if (!isOwn && form.times >= MOST_TIMES) return [conditionWarning(unkept(subject, name, form))];
    if (meta.change === "in-place") return [];
    const values = openValues(form, sensitive.includes(name));
    const about = { address, noun: kind.noun, name, attribute: [name], isMasked: isOwn && isUrl(form.is), ...values };
    return [problem(isOwn ? "api.form" : "api.form/other", about)];
  });
}
