import { hasReferences, referencesIn, resolveReferences } from "../../core/expression/references.ts";
import { metaOf } from "../../core/kinds/attribute.ts";
import {
  type Desired,
  type DesiredOutput,
  isName,
  type OutputValue,
  type Reference,
  type Scope,
} from "../../core/model/index.ts";
import { reportTwice } from "../source/duplicates.ts";
import type { Mistakes } from "../source/mistakes.ts";
import { rangeOf, type Span } from "../source/source.ts";
import { type Entry, type MapTree, strings, type Tree, templateSpans, toJson, valueSpan } from "../source/tree.ts";
import type { Draft } from "./block.ts";
import { conforming, declaredType } from "./output-type.ts";
import { checkValue, type Known } from "./references.ts";

type ToResource = Reference & { readonly to: "resource" };

/** An output as it stands in a document, before anything is known of the resources. */
interface OutputDraft {
  readonly name: string;
  readonly keySpan: Span;
  readonly value: Tree;
  readonly description?: string;
  readonly sensitive: boolean;
}

const SETTINGS = ["value", "description", "sensitive"];

/** What the checks of outputs may look at. */
interface Surroundings extends Known, Pick<Desired, "providers" | "resources"> {}

/** Variables of the environment that hold a token or a key, whatever is declared. */
const SECRET_VARIABLES = /^HOSTING_TOKEN$|^HOSTFORM_STATE_(?:NEW_)?(?:KEY|PASSPHRASE)$|^TF_HTTP_PASSWORD$|^PGPASSWORD$/;

/**
 * The outputs of all documents, merged: `NAME: VALUE`, or `NAME: {value: …, description: …, sensitive: true}`. Checks names,
 * forms and references, and that a secret is in no output but a sensitive one.
 */
export function readOutputs(entries: readonly Entry[], known: Surroundings, mistakes: Mistakes): DesiredOutput[] {
  const byName = Map.groupBy(entries, ({ key }) => key);
  for (const same of byName.values()) {
    reportTwice(
      same,
      ({ keySpan }) => keySpan,
      ({ key }) => `The output "${key}"`,
      mistakes,
    );
  }
  const drafts = [...byName.values()].flatMap(([first]) => (first && readOutput(first, mistakes)) ?? []);
  return drafts.map((draft) => desiredOutput(draft, known, mistakes));
}

function readOutput(entry: Entry, mistakes: Mistakes): OutputDraft | undefined {
  const { key: name, keySpan, value: tree } = entry;
  if (!isName(name)) {
    mistakes.add(keySpan, "config.structure", `"${name.slice(0, 100)}" cannot be the name of an output`, {
      fix: "Use letters, digits, `_` and `-`, beginning with a letter or `_`.",
    });
    return undefined;
  }
  const settings = tree.form === "map" ? readSettings(name, tree, mistakes) : { value: tree, sensitive: false };
  const { value } = settings;
  if (value !== undefined && (value.form !== "leaf" || value.value !== null))
    return { name, keySpan, ...settings, value };
  mistakes.add(
    value === undefined ? keySpan : valueSpan(entry),
    "config.missing_attribute",
    `The output "${name}" has no value`,
    {
      fix: `Write \`${name}: \${hosting_service.NAME.id}\`; a map of values goes under \`value:\`.`,
    },
  );
  return undefined;
}

function readSettings(name: string, { entries }: MapTree, mistakes: Mistakes) {
  for (const { key, keySpan } of entries.values()) {
    if (SETTINGS.includes(key)) continue;
    const fix = "A map of values goes under `value:`.";
    const detail = `It can have ${SETTINGS.join(", ")}.`;
    mistakes.add(keySpan, "config.unknown_key", `An output has no "${key.slice(0, 100)}"`, { detail, fix });
  }
  const [description, sensitive] = [entries.get("description"), entries.get("sensitive")];
  const text = description?.value.form === "leaf" ? description.value.value : undefined;
  if (description !== undefined && (typeof text !== "string" || hasReferences(text))) {
    const summary = `The \`description\` of the output "${name}" must be a text without expressions`;
    mistakes.add(valueSpan(description), "config.structure", summary);
  }
  const flag = sensitive?.value.form === "leaf" ? sensitive.value.value : undefined;
  if (sensitive !== undefined && typeof flag !== "boolean") {
    const summary = `\`sensitive\` of the output "${name}" must be true or false`;
    mistakes.add(valueSpan(sensitive), "config.structure", summary);
  }
  return {
    value: entries.get("value")?.value,
    ...(typeof text === "string" && { description: text }),
    sensitive: flag === true,
  };
}

function desiredOutput(draft: OutputDraft, known: Surroundings, mistakes: Mistakes): DesiredOutput {
  const { name, keySpan, value, description, sensitive } = draft;
  refuseSecretVariables(draft, known, mistakes);
  const found = checkValue(value, known, mistakes);
  const secrets = found.filter(({ reference }) => isSecret(reference, known, new Set()));
  if (!sensitive) {
    for (const { reference, span } of secrets) {
      mistakes.add(span, "config.secret", `The output "${name}" would show a secret`, {
        detail: `${reference.text} is one, and outputs are shown after each apply.`,
        fix: `Write \`${name}: {value: …, sensitive: true}\`, or leave it out.`,
      });
    }
  }
  const config = toJson(value);
  const type = declaredType(value, known);
  return {
    name,
    ...(description !== undefined && { description }),
    sensitive,
    config,
    references: referencesIn(config),
    evaluate: (scope: Scope): OutputValue => ({
      ...conforming(resolveReferences(config, scope), type),
      secret: secrets.length > 0,
    }),
    range: rangeOf(keySpan),
  };
}

/** A token, a key or a password is recorded nowhere, and a sensitive output is recorded in the clear. */
function refuseSecretVariables({ name, value }: OutputDraft, known: Surroundings, mistakes: Mistakes): void {
  const tokens = [...known.providers.values()].map(({ tokenEnv }) => tokenEnv);
  const sources = known.resources.flatMap(({ sources: own }) => [...(own?.values() ?? [])]);
  const secret = new Set([...tokens, ...sources.map((source) => ("env" in source ? source.env : undefined))]);
  for (const { text, leaf } of strings(value)) {
    for (const { reference } of referencesIn(text)) {
      if (reference.to !== "env" || !(SECRET_VARIABLES.test(reference.name) || secret.has(reference.name))) continue;
      const summary = `The output "${name}" would write a secret into the state: the environment variable ${reference.name}`;
      mistakes.add(templateSpans(leaf)(reference.offset), "config.secret", summary, {
        detail: "It holds a token, a key or a password, and outputs are recorded.",
        fix: "Leave it out; whoever needs it can be given the variable itself.",
      });
    }
  }
}

/** Whether an attribute holds a secret: by its kind, or because one is declared to flow into it. */
function isSecret({ address, path: [name] }: ToResource, known: Known, seen: Set<string>): boolean {
  const draft = known.drafts.get(address);
  const type = typeof name === "string" && draft !== undefined ? ownAttribute(draft, name) : undefined;
  const place = `${address}.${name}`;
  if (draft === undefined || type === undefined || seen.has(place)) return false;
  seen.add(place);
  const { sensitive, writeOnly } = metaOf(type);
  // A reference to what is only written is refused by itself.
  if (writeOnly) return false;
  if (sensitive) return true;
  const declared = draft.attributes.get(String(name));
  if (declared === undefined) return false;
  return [...strings(declared.value)].some(({ text }) =>
    referencesIn(text).some(({ reference }) => reference.to === "resource" && isSecret(reference, known, seen)),
  );
}

function ownAttribute({ kind: { attributes } }: Draft, name: string) {
  return Object.hasOwn(attributes.shape, name) ? attributes.shape[name] : undefined;
}
