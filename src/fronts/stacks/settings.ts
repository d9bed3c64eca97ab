import type { Backend } from "../../core/model/index.ts";
import { backendOfEntry } from "../source/backend.ts";
import { type DiagnosticCollector, didYouMean, reportTwice } from "../source/diagnostics.ts";
import { rangeOf } from "../source/source.ts";
import { type Entry, strings, toJson, valueSpan } from "../source/tree.ts";
import { argumentsOf, type Block, onlyBlock, textOf } from "./blocks.ts";
import { BACKENDS, KEYS } from "./keys.ts";
import { PROVIDER } from "./module.ts";

/** As Terraform calls the state of a folder without a backend. */
const DEFAULT_STATE = "terraform.tfstate";

/**
 * Reads the `terraform` blocks: which providers there are, and where the state is kept. A backend that hostform does not have
 * is refused: the state would be at another place than Terraform's, and everything would be ordered anew.
 * @returns the backend; "unclear" after a mistake in it.
 */
export function readSettings(blocks: readonly Block[], diags: DiagnosticCollector): Backend | "unclear" {
  const { known, refused } = KEYS.terraform;
  const entries = blocks.flatMap(({ body }) => argumentsOf(body));
  const backends: Entry[] = [];
  let clear = true;
  for (const entry of entries) {
    const { key, keySpan } = entry;
    if (key === "backend") {
      if (entry.value.form !== "leaf" || entry.value.value !== null) backends.push(entry);
    } else if (key === "required_providers") checkProviders(entry, diags);
    else if (key === "cloud") {
      clear = false;
      diags.add(keySpan, "config.unsupported", "hostform cannot keep its state in HCP Terraform (`cloud`)", {
        fix: refused.cloud,
      });
    } else if (key === "experiments") {
      diags.add(keySpan, "config.unsupported", "`experiments` are not supported in a stack", {
        fix: refused.experiments,
      });
    } else if (!known.includes(key)) {
      const near = diags.nearest(key, known);
      diags.add(keySpan, "config.unknown_key", `\`terraform\` has no "${key.slice(0, 100)}".${didYouMean(near)}`);
    }
  }
  const spans = backends.map(({ keySpan }) => keySpan);
  reportTwice(spans, "`backend`", diags);
  const [backend] = backends;
  const read =
    backend === undefined ? { type: "local" as const, settings: { path: DEFAULT_STATE } } : readBackend(backend, diags);
  return clear && backends.length < 2 && read !== undefined ? read : "unclear";
}

/** @returns undefined after a mistake. */
function readBackend(section: Entry, diags: DiagnosticCollector): Backend | undefined {
  const { value: tree } = section;
  const inner = tree.form === "list" && tree.items.length === 1 ? tree.items[0] : tree;
  const [entry, second] = inner?.form === "map" ? argumentsOf(inner) : [];
  if (entry === undefined || second !== undefined) {
    diags.add(valueSpan(section), "config.structure", "`backend` must say which one it is", {
      fix: 'Write `"backend": {"local": {"path": "terraform.tfstate"}}`.',
    });
    return undefined;
  }
  if (entry.key !== "local" && entry.key !== "http" && entry.key !== "pg") {
    const summary = `hostform cannot keep its state in the backend "${entry.key.slice(0, 100)}"`;
    diags.add(entry.keySpan, "config.unsupported", summary, { fix: BACKENDS });
    return undefined;
  }
  if (hasTemplate(entry, diags)) return undefined;
  if (entry.key === "local") return localBackend(entry, diags);
  return backendOfEntry(entry.key, withoutNulls(entry, diags), diags);
}

/** Terraform evaluates nothing there either. */
function hasTemplate(entry: Entry, diags: DiagnosticCollector): boolean {
  const found = [...strings(entry.value)].filter(({ text }) => /[$%]\{/.test(text));
  for (const { leaf } of found) {
    const fix = "Write the value itself.";
    diags.add(leaf.span, "config.expression", "The settings of a backend cannot be expressions", { fix });
  }
  return found.length > 0;
}

function localBackend(entry: Entry, diags: DiagnosticCollector): Backend | undefined {
  const block = onlyBlock(entry, diags);
  const entries = block === undefined ? [] : argumentsOf(block.body).filter(isGiven);
  const stray = entries.filter(({ key }) => key !== "path");
  for (const { key, keySpan } of stray) {
    const summary = `The backend local has no setting "${key.slice(0, 100)}" that is supported here`;
    diags.add(keySpan, "config.unsupported", summary, { detail: "The setting is path.", fix: "Remove it." });
  }
  const path =
    textOf(
      entries.find(({ key }) => key === "path"),
      diags,
    ) ?? DEFAULT_STATE;
  return stray.length > 0 ? undefined : { type: "local", settings: { path }, range: rangeOf(entry.keySpan) };
}

const isGiven = ({ value }: Entry) => value.form !== "leaf" || value.value !== null;

/** A setting that is null is not given. */
function withoutNulls(entry: Entry, diags: DiagnosticCollector): Entry {
  const block = onlyBlock(entry, diags);
  if (block === undefined) return entry;
  const given = argumentsOf(block.body).filter(isGiven);
  return { ...entry, value: { ...block.body, entries: new Map(given.map((one) => [one.key, one])) } };
}

const SOURCE = /^(?:[^/]+\/)?hostform\/hosting$/i;

function checkProviders(entry: Entry, diags: DiagnosticCollector): void {
  const block = onlyBlock(entry, diags);
  for (const one of block === undefined ? [] : argumentsOf(block.body)) {
    const required = toJson(one.value);
    const source =
      typeof required === "object" && required !== null && "source" in required ? required.source : undefined;
    if (one.key === PROVIDER) {
      if (typeof source === "string" && SOURCE.test(source)) continue;
      diags.add(valueSpan(one), "config.unsupported", "The provider hosting of this stack is another one", {
        detail: "hostform stands in for the provider hostform/hosting alone.",
        fix: 'Write `"source": "hostform/hosting"`, or apply this stack with Terraform.',
      });
    } else if (typeof source === "string" && SOURCE.test(source)) {
      diags.add(one.keySpan, "config.unsupported", `The provider is called "${one.key.slice(0, 100)}" here`, {
        fix: "Call it `hosting`, as its resources are called.",
      });
    } else {
      diags.add(one.keySpan, "config.unsupported", `This stack needs the provider "${one.key.slice(0, 100)}"`, {
        detail: "hostform applies stacks of hosting resources alone.",
        fix: "Apply this stack with Terraform, or keep what is of hosting in a stack of its own.",
      });
    }
  }
}
