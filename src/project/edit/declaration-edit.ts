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
  resourceOf,
  type SourceRange,
} from "../../core/model/index.ts";
import { declarationText, FileEdit, type KeyPath } from "../../fronts/yaml/index.ts";
import type { FileChange } from "../adopt/write.ts";
import { valueIn } from "../base.ts";
import { environmentNames } from "../environments.ts";
import { problem, raise } from "../messages.ts";
import type { Project } from "../project.ts";

/** The result of an edit. Nothing is written yet. */
export interface Edited {
  readonly changes: readonly FileChange[];
  /** One sentence for each edited resource. */
  readonly notes: readonly string[];
}

/** A key in a file. */
export interface Place {
  readonly edit: FileEdit;
  readonly path: KeyPath;
}

/** Expected effects by address, or by address without key. A map has the new values of attributes. Other resources must not change. */
export type Effects = ReadonlyMap<string, "gone" | "any" | JsonObject>;

export class DeclarationEdit {
  readonly project: Project;
  readonly desired: Desired;
  /** Files with their complete text. */
  readonly files: readonly { readonly edit: FileEdit; readonly before: string }[];
  /** The declaration after the edits. Undefined before `result`, and without a change. */
  after: Desired | undefined;

  private constructor(project: Project, desired: Desired, files: DeclarationEdit["files"]) {
    this.project = project;
    this.desired = desired;
    this.files = files;
  }

  /**
   * Opens a valid declaration.
   * @param ofAccount true for an edit with values of one account. Blocks that several environments share are rejected.
   */
  static async open(project: Project, ofAccount = false): Promise<DeclarationEdit> {
    const names = ofAccount ? await environmentNames(project.source) : [];
    if (names.length > 1) raise("config.by_hand/environments", { names });
    const { desired } = await project.declaration.load();
    const opened = desired.files.map(async (file, index) => {
      const before = declarationText(file, await read(path.resolve(project.source.cwd, file)));
      return { before, edit: new FileEdit({ path: file, text: before }, index) };
    });
    return new DeclarationEdit(project, desired, await Promise.all(opened));
  }

  /** Returns the resource with an address, or the service with a domain. @throws HostformError `plan.address`. */
  resource(text: string): DesiredResource {
    const { resources } = this.desired;
    const parsed = parseAddress(text);
    const address = parsed && formatAddress(parsed);
    const domain = foldedDomain(text) ?? "";
    const isNamed = (one: DesiredResource) =>
      one.address === address || (one.type === "hosting_service" && foldedDomain(one.config.domain) === domain);
    const [found, other] = resources.filter(isNamed);
    if (found !== undefined && other === undefined) return found;
    if (found !== undefined) {
      const addresses = resources.filter(isNamed).map((one) => one.address);
      raise("plan.address/several", { text, addresses });
    }
    const known = resources.flatMap((one) => [one.address, String(one.config.domain)]);
    const longer = known.find((name) => name.endsWith(`.${text}`) || text.endsWith(`.${name}`));
    return raise("plan.address", { text, near: longer ? ` Did you mean "${longer}"?` : didYouMean(text, known) });
  }

  /** Returns the place of a resource or its attribute: in its block, or in a template or an anchor. */
  placeOf({ locate }: DesiredResource, attribute: readonly string[] = []): Place | undefined {
    return this.placeAt(locate(attribute));
  }

  /** Returns the place at the beginning of a range. */
  placeAt(range: SourceRange | undefined): Place | undefined {
    const { edit } = this.files.find((file) => file.edit.source.path === range?.file) ?? {};
    const found = range && edit?.at(range);
    return edit && found && { edit, path: found };
  }

  /** Returns the own block of a resource. @throws HostformError `config.by_hand` for a block of a template or an anchor. */
  block(resource: DesiredResource, fix: string): Place {
    const place = this.placeOf(resource) ?? raise("plan.address", { text: resource.address, near: "" });
    const { section } = kinds.get(kinds.get(resource.type)?.nested?.in ?? resource.type) ?? {};
    const [top, block] = place.path;
    if (top.key === section && block?.key === parseAddress(resource.address)?.name) return place;
    throw place.edit.byHand(place.path, "shared", fix);
  }

  /**
   * Returns the own blocks of resources that are removed. @param names their addresses, without keys if all instances are removed.
   * @throws HostformError `config.by_hand` for an anchor, an output or another resource that uses a block.
   */
  removable(
    resources: readonly DesiredResource[],
    names: ReadonlySet<string>,
    fix: string,
    outputs = this.desired.outputs,
  ): readonly (Place & { readonly id: string })[] {
    const isNamed = (address: string) => names.has(address) || names.has(resourceOf(address));
    const declared = [...this.desired.resources, ...(this.desired.data ?? [])].filter((one) => !isNamed(one.address));
    const users = [
      ...(outputs ?? []).map(({ name, range, references }) => ({ user: `output ${name}`, range, references })),
      ...declared.map((one) => ({ user: one.address, range: one.locate([]), references: one.references })),
    ];
    for (const { user, range, references } of users)
      for (const { reference } of references)
        if (reference.to === "resource" && isNamed(reference.address))
          raise("config.by_hand/used", { user, used: reference.address, range });
    return resources.map((one) => {
      const place = this.block(one, fix);
      const found = place.edit.userOf(place.path);
      if (found !== undefined) {
        const { key: user } = found.path[1] ?? found.path[0];
        const range = place.edit.rangeOf(found.path);
        raise("config.by_hand/used", { user, used: `the anchor &${found.anchor} of ${one.address}`, range });
      }
      return { id: one.address, ...place };
    });
  }

  /** Adds blocks to `removed` of their documents, so that an apply leaves the objects unchanged. */
  addRemoved(blocks: readonly (Place & { readonly id: string })[]): void {
    for (const [, all] of Map.groupBy(blocks, ({ path: at }) => at[0].map)) {
      const items = all.map(({ id }) => ({ from: id, destroy: false }));
      for (const { edit, path: at } of all.slice(0, 1)) edit.addItems(at, "removed", items);
    }
  }

  /** Returns the parts of the comment at `suspended` in the block of a resource. */
  comments(resource: DesiredResource): readonly string[] {
    const place = this.placeOf(resource);
    const own = place?.edit.find(...place.path.map(({ key }) => key), "suspended");
    const text = own === undefined ? "" : (place?.edit.comment(own) ?? "");
    return text.split(/;\s*|\s+#\s*/).filter((part) => part !== "");
  }

  /**
   * Sets an attribute where its block declares it. Otherwise adds it to the block, which overrides a template.
   * @param comment replaces the comment at the line.
   */
  set(resource: DesiredResource, attribute: string, value: Json, comment?: string): void {
    const fix = `Set ${attribute} of ${resource.address} to ${JSON.stringify(value)}.`;
    const { edit, path: block } = this.block(resource, fix);
    const own = edit.find(...block.map(({ key }) => key), attribute);
    const isDeclared = attribute in resource.config;
    const place = own ? { edit, path: own } : isDeclared ? this.placeOf(resource, [attribute]) : undefined;
    if (place?.path.some(({ pair }) => pair === block.at(-1)?.pair)) {
      place.edit.set(place.path, value);
      if (comment !== undefined) place.edit.setComment(place.path, comment);
    } else if (place?.edit.textOf(place.path).includes("${")) throw place.edit.byHand(place.path, "expression", fix);
    else edit.add(block, { [attribute]: value }, comment);
  }

  /**
   * Returns the changed files after a check: the result is a valid declaration with exactly these effects.
   * @param rename replaces a name in addresses and values. @throws HostformError `config.by_hand`, and the mistakes of the result.
   */
  async result(effects: Effects, rename = (text: string) => text): Promise<readonly FileChange[]> {
    const changes = this.files.flatMap(({ edit, before }): FileChange[] => {
      const text = (before.startsWith("\uFEFF") ? "\uFEFF" : "") + edit.result();
      return text === before ? [] : [{ file: path.resolve(this.project.source.cwd, edit.source.path), before, text }];
    });
    if (changes.length > 0)
      this.after = await checkEffects(this.project, this.desired, changes, effects, rename, (range) =>
        this.files.find(({ edit }) => edit.source.path === range.file)?.edit.originOf(range),
      );
    return changes;
  }
}

/**
 * Checks the texts of a project. @param before undefined for a new project. @param origin returns the range in the present files of a
 * range in the texts. @throws HostformError as `result` does.
 */
export async function checkEffects(
  { declaration }: Project,
  before: Desired | undefined,
  changes: readonly FileChange[],
  effects: Effects,
  rename = (text: string) => text,
  origin: (range: SourceRange) => SourceRange | undefined = () => undefined,
): Promise<Desired> {
  const { desired, diagnostics } = await declaration.check(new Map(changes.map(({ file, text }) => [file, text])));
  if (desired === undefined)
    for (const { range, ...first } of diagnostics.filter(isError).slice(0, 1)) {
      const present = range && origin(range);
      throw new HostformError([
        ...(present ? [] : [problem("config.by_hand/invalid")]),
        { ...first, ...(present && { range: present }) },
      ]);
    }
  if (desired === undefined) return raise("config.by_hand/invalid", {});
  const valuesOf = (of: Desired | undefined) =>
    new Map(of?.resources.map((one) => [one.address, valueIn(of, one) as JsonObject]));
  const earlier = [...valuesOf(before)].map(([address, value]): [string, JsonObject] => [
    rename(address),
    JSON.parse(rename(JSON.stringify(value))),
  ]);
  const [then, now] = [new Map(earlier), valuesOf(desired)];
  const others = [...new Set([...then.keys(), ...now.keys()])].filter((address) => {
    const effect = effects.get(address) ?? effects.get(resourceOf(address));
    const was = then.get(address);
    const isSet = was !== undefined && typeof effect === "object";
    const expected = isSet ? { ...was, config: { ...(was.config as JsonObject), ...effect } } : was;
    return effect !== "any" && !equal(effect === "gone" ? null : (expected ?? null), now.get(address) ?? null);
  });
  const first = desired.resources.find(({ address }) => others.includes(address));
  if (others.length > 0) raise("config.by_hand/effect", { others, range: first?.locate([]) });
  return desired;
}
