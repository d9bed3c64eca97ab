import type { Kind, Remote } from "../kinds/kind.ts";
import { type Diagnostic, type JsonObject, UNKNOWN, type Value } from "../model/index.ts";

/** Why a resource is left alone, in words that name the ways out. One function per reason. */
interface Subject {
  readonly kind: Kind;
  readonly address: string;
  readonly prior?: { readonly attributes: JsonObject } | undefined;
  readonly importId?: string;
  holder?(remote: Remote): string | undefined;
}

const shown = (value: Value) => (value === UNKNOWN ? "(known after apply)" : JSON.stringify(value));

export function immutable(
  { kind, address }: Subject,
  name: string,
  { before, after, secret }: { before: Value; after: Value; secret: boolean },
): Diagnostic {
  const [is, becomes] = secret ? ["(a secret)", "another"] : [shown(before), shown(after)];
  const paid = kind.quote !== undefined;
  const anew = paid
    ? "declare the other one under a new name (a new order, with its own invoice)"
    : "declare the other one under a new name";
  return {
    severity: "error",
    code: "plan.immutable",
    summary: `${name} of ${address} cannot be changed`,
    detail: `It is ${is} and would become ${becomes}. The API has no call that changes the ${name} of a ${kind.noun}${
      paid ? ", and hostform never orders a replacement by itself" : ""
    }.`,
    fix: `Either put ${is} back into the declaration, or ${anew} and remove this block (deletion_policy says what that means).`,
    address,
    attribute: [name],
  };
}

export function existing({ kind, address, holder }: Subject, matches: readonly Remote[]): Diagnostic {
  const ids = matches.map(({ id }) => id);
  const [id = ""] = ids;
  const full = kind.parent === undefined ? id : `${String(matches[0]?.attributes[kind.parent])}/${id}`;
  const known = matches.length === 1 && matches[0] !== undefined ? holder?.(matches[0]) : undefined;
  if (known !== undefined) {
    return {
      severity: "error",
      code: "plan.exists",
      summary: `${address} exists already as ${kind.noun} ${id}, which is ${known}`,
      detail: "An object can be managed under one address only.",
      fix: `If it was renamed: \`hostform state mv '${known}' '${address}'\`. If there are to be two, declare something else.`,
      address,
    };
  }
  return {
    severity: "error",
    code: "plan.exists",
    summary:
      ids.length === 1
        ? `${address} exists already as ${kind.noun} ${id}`
        : `${address} could be any of ${ids.length} existing ones: ${ids.join(", ")}`,
    detail: `It is not in the state, so nothing says that it is this one; ${kind.quote === undefined ? "creating it would make a second one" : "ordering it would buy a second one"}.`,
    fix: `Adopt it: \`hostform import '${address}' ${full}\`, or \`import: ${JSON.stringify(full)}\` in its block. If it is another's, declare something else.`,
    address,
  };
}

export function gone({ kind, address, prior, importId }: Subject, how: string, case_: "import" | "paid"): Diagnostic {
  const id = String(prior?.attributes.id ?? importId);
  const common = { address, code: "plan.gone" as const };
  if (case_ === "import") {
    const summary = `${address} cannot be adopted: ${kind.noun} ${id} ${how}`;
    return {
      ...common,
      severity: "error",
      summary,
      fix: "Correct the id of `import`, or remove the entry.",
      attribute: ["import"],
    };
  }
  return {
    ...common,
    severity: "warning",
    summary: `${address} is declared, but ${kind.noun} ${id} ${how}`,
    detail: "It is not ordered again by itself: that would raise another invoice.",
    fix: `Remove the block, or order it anew on purpose with \`--reorder '${address}'\`.`,
  };
}

export function pending({ kind, address }: Subject): Diagnostic {
  const unseen =
    kind.list === undefined ? "The API has no call that shows it" : `Nothing tells it from other ${kind.noun}s`;
  return {
    severity: "warning",
    code: "plan.pending",
    summary: `It is not known whether ${address} was ordered`,
    detail: `An earlier run asked for this ${kind.noun} and the answer was lost. ${unseen}, so it is not asked for again.`,
    fix: `Look for its invoice (\`hostform invoices\`) or in the dashboard. If it was ordered: \`hostform import '${address}' ID\`. If not: \`hostform state rm '${address}'\`, and apply again.`,
    address,
  };
}

export function unknownPhase({ kind, address }: Subject, before: JsonObject, names: readonly string[]): Diagnostic {
  const word = JSON.stringify(before.status);
  return {
    severity: "warning",
    code: "plan.unknown_status",
    summary: `${names.join(", ")} of ${address} is left alone: the status ${word} is not understood`,
    detail: `hostform does not act on a ${kind.noun} whose status it does not know.`,
    fix: `Say what it means: \`providers: { default: { status_words: { ${word}: live } } }\` (pending, live, suspended or gone).`,
    address,
  };
}
