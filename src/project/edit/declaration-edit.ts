/** Edits the files of a declaration, and checks the effect of all edits before any file is written. */
import path from "node:path";
import { read } from "../../core/files/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import {
  type Desired,
  type DesiredResource,
  didYouMean,
  equal,
  foldedDomain,
  formatAddress,
  HostformError,
  isError,
  type Json,
  type JsonObject,
  parseAddress,
} from "../../core/model/index.ts";
import { declarationText, FileEdit, type KeyPath, keyOf } from "../../fronts/yaml/index.ts";
import type { FileChange } from "../adopt/write.ts";
import { valueIn } from "../base.ts";
import { problem, refuse } from "../messages.ts";
import type { Project } from "../project.ts";

/** The result of an edit. Nothing is written yet. */
export interface Edited {
  readonly changes: readonly FileChange[];
  /** One sentence for each edited resource, and for each next step. */
  readonly notes: readonly string[];
}

/** A key in a file. */
export interface Place {
  readonly edit: FileEdit;
  readonly path: KeyPath;
}

/** Returns the value of a resource after the edit. Undefined if the resource is no longer declared. */
export type Expected = (address: string, before: JsonObject | undefined) => Json | undefined | "any";

interface OpenFile {
  readonly edit: FileEdit;
  /** Complete text, with its byte order mark. */
  readonly before: string;
}

export class DeclarationEdit {
  readonly project: Project;
  readonly desired: Desired;
  readonly #files: ReadonlyMap<string, OpenFile>;

  private constructor(project: Project, desired: Desired, files: ReadonlyMap<string, OpenFile>) {
    this.project = project;
    this.desired = desired;
    this.#files = files;
  }

  /** Opens a valid declaration. @throws HostformError with its mistakes. */
  static async open(project: Project): Promise<DeclarationEdit> {
    const { desired } = await project.declaration.load();
    const files = new Map<string, OpenFile>();
    for (const [index, file] of desired.files.entries()) {
      const before = declarationText(file, await read(path.resolve(project.source.cwd, file)));
      files.set(file, { before, edit: new FileEdit({ path: file, text: before }, index) });
    }
    return new DeclarationEdit(project, desired, files);
  }

  get edits(): readonly FileEdit[] {
    return [...this.#files.values()].map(({ edit }) => edit);
  }

  /** Returns the resource with an address, or the service with a domain. @throws HostformError `plan.address`. */
  resource(text: string): DesiredResource {
    const { resources } = this.desired;
    const parsed = parseAddress(text);
    const address = parsed === undefined ? text : formatAddress(parsed);
    const domain = foldedDomain(text);
    const [found, other] = resources.filter(
      (one) =>
        one.address === address ||
        (one.type === "hosting_service" && domain !== undefined && foldedDomain(one.config.domain) === domain),
    );
    if (found !== undefined && other === undefined) return found;
    const known = resources.flatMap(({ address: of, config }) => [of, ...[config.domain ?? []].flat().map(String)]);
    return refuse("plan.address", { text, near: didYouMean(text, known), isTwice: other !== undefined });
  }

  /** Returns the place of a key that a resource uses: in its block, or in a template or an anchor. */
  keyOf({ locate }: DesiredResource, attribute?: string): Place | undefined {
    const range = locate(attribute === undefined ? [] : [attribute]);
    const edit = range && this.#files.get(range.file)?.edit;
    const found = edit?.at(range as NonNullable<typeof range>);
    return edit && found && { edit, path: found };
  }

  /** Returns the own block of a resource. @throws HostformError `edit.by_hand` for a block of a template or an anchor. */
  block(resource: DesiredResource, fix: string): Place {
    const place = this.keyOf(resource);
    const { name = "" } = parseAddress(resource.address) ?? {};
    const outer = kinds.get(kinds.get(resource.type)?.nested?.in ?? resource.type);
    const [section, block] = place?.path ?? [];
    if (place !== undefined && section && block && keyOf(section.pair) === outer?.section && keyOf(block.pair) === name)
      return place;
    if (place !== undefined) throw place.edit.byHand(place.path, "shared", fix);
    return refuse("plan.address", { text: resource.address, near: "", isTwice: false });
  }

  /** Sets an attribute where the block declares it. A value of a template is overridden in the block. */
  set(resource: DesiredResource, attribute: string, value: Json): void {
    const fix = `Set ${attribute} of ${resource.address} to ${JSON.stringify(value)}.`;
    const { edit, path: block } = this.block(resource, fix);
    const declared = attribute in resource.config ? this.keyOf(resource, attribute) : undefined;
    const last = block.at(-1)?.pair;
    const isInside = declared?.path.some(({ pair }) => pair === last);
    if (declared !== undefined && isInside) {
      declared.edit.set(declared.path, value);
      return;
    }
    if (declared?.edit.textOf(declared.path).includes("${"))
      throw declared.edit.byHand(declared.path, "expression", fix);
    const { shorthand } = kinds.get(resource.type)?.nested ?? {};
    const isShort =
      shorthand !== undefined && /^[a-z]/.test(edit.textOf(block)) && edit.at(edit.range(block)) === block;
    if (isShort && edit.inside(block, shorthand) === undefined)
      edit.set(block, { [shorthand]: resource.config[shorthand] ?? null, [attribute]: value });
    else edit.add(block, { [attribute]: value });
  }

  /**
   * Returns the changed files after a check: the result is a valid declaration, and no other resource changes.
   * @param more new files. @throws HostformError `edit.by_hand`, or with the mistakes of the result.
   */
  async result(expected: Expected, more: readonly FileChange[] = []): Promise<readonly FileChange[]> {
    const { cwd } = this.project.source;
    const changes = [...this.#files].flatMap(([file, { edit, before }]): FileChange[] => {
      const text = (before.startsWith("\uFEFF") ? "\uFEFF" : "") + edit.result();
      return text === before ? [] : [{ file: path.resolve(cwd, file), before, text }];
    });
    const all = [...changes, ...more];
    if (all.length > 0) await checkResult(this.project, this.desired, all, expected);
    return all;
  }
}

/** Checks the texts of a project against the values that an edit expects. @throws HostformError as `result` does. */
export async function checkResult(
  project: Project,
  before: Desired | undefined,
  changes: readonly FileChange[],
  expected: Expected,
): Promise<Desired> {
  const { desired, diagnostics } = await project.declaration.check(
    new Map(changes.map(({ file, text }) => [file, text])),
  );
  const errors = diagnostics.filter(isError);
  if (desired === undefined || errors.length > 0) throw new HostformError([problem("edit.by_hand/invalid"), ...errors]);
  const [then, now] = [before, desired].map((one) => new Map(one?.resources.map((each) => [each.address, each])));
  const others = [...new Set([...(then?.keys() ?? []), ...(now?.keys() ?? [])])].filter((address) => {
    const was = before && then?.get(address);
    const want = expected(address, was && (valueIn(before, was) as JsonObject));
    const got = now?.get(address);
    return want !== "any" && !equal(want ?? null, got === undefined ? null : valueIn(desired, got));
  });
  const [first] = others;
  if (first !== undefined)
    refuse("edit.by_hand/effect", { others, range: (then?.get(first) ?? now?.get(first))?.locate([]) });
  return desired;
}

/** Expects no change of the resources that a function does not name. */
export const only =
  (named: (address: string, before: JsonObject | undefined) => Json | undefined | "same" | "any"): Expected =>
  (address, before) => {
    const value = named(address, before);
    return value === "same" ? before : value;
  };
