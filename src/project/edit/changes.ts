/** Edits that need no list of the account: remove, rename, hand over, add, and accept. */
import { kinds } from "../../core/kinds/index.ts";
import { formatAddress, type Json, type JsonObject, parseAddress } from "../../core/model/index.ts";
import { literal } from "../../fronts/yaml/index.ts";
import { freeName, slug } from "../adopt/names.ts";
import { environmentNames } from "../environments.ts";
import { refuse } from "../messages.ts";
import { withPlan } from "../plan.ts";
import type { Project } from "../project.ts";
import { selected } from "../selection.ts";
import { DeclarationEdit, type Edited, only, type Place } from "./declaration-edit.ts";

/** Returns the address and the addresses inside it: the grants of a service. */
export const isWithin = (outer: string) => {
  const { type, name, key } = parseAddress(outer) ?? {};
  const inner = new Set([...kinds.values()].flatMap(({ nested, type: of }) => (nested?.in === type ? [of] : [])));
  return (address: string): boolean => {
    const parsed = parseAddress(address);
    return address === outer || (key === undefined && inner.has(parsed?.type ?? "") && parsed?.name === name);
  };
};

/** Removes a block. */
export async function removeResource(project: Project, text: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const resource = edit.resource(text);
  const { address } = resource;
  const place = edit.block(resource, "Remove the entry there, or override it with null in the block.");
  place.edit.remove(place.path);
  const isGone = isWithin(address);
  const changes = await edit.result(only((one) => (isGone(one) ? undefined : "same")));
  return { changes, notes: [`${address} is no longer declared.`] };
}

/** Renames a block and all references to it, and adds `moved`. @param to an address, or a name. */
export async function renameResource(project: Project, text: string, to: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const resource = edit.resource(text);
  const { address, type } = resource;
  const { name = "", key } = parseAddress(address) ?? {};
  const target = parseAddress(to) ?? { type, name: to };
  if (key !== undefined || target.key !== undefined || target.type !== type) refuse("usage/rename", { address, to });
  if (target.name === name) return { changes: [], notes: [] };
  const place = edit.block(resource, "Rename the block there.");
  const names = [...kinds.values()].filter((kind) => kind.type === type || kind.nested?.in === type);
  const types = names.map((kind) => kind.type).join("|");
  const pattern = new RegExp(`\\b(${types})\\.${name}(?![\\w-])`, "g");
  const renamed = (value: string) => value.replace(pattern, `$1.${target.name}`);
  for (const file of edit.edits) file.replaceAll(pattern, `$1.${target.name}`, ["moved", "removed"]);
  place.edit.renameKey(place.path, target.name);
  const renamedTo = formatAddress(target);
  place.edit.addItems(place.path, "moved", [{ from: address, to: renamedTo }]);
  const { resources } = edit.desired;
  const former = new Map(resources.map((one) => [renamed(one.address), one]));
  const values = new Map<string, Json>();
  const changes = await edit.result((one, before) => {
    if (before !== undefined) values.set(renamed(one), JSON.parse(renamed(JSON.stringify(before))) as Json);
    return former.has(one) ? (values.get(one) ?? "any") : undefined;
  });
  return { changes, notes: [`${address} is renamed to ${renamedTo}.`] };
}

/** Removes all blocks of a client, and adds `removed` so that an apply leaves the objects unchanged. */
export async function handOver(project: Project, client: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const { resources } = edit.desired;
  const chosen = new Set(selected([`client:${client}`], resources));
  const outer = resources.filter(({ address, type }) => chosen.has(address) && !kinds.get(type)?.nested);
  const places = outer.map((one) => ({ one, ...edit.block(one, "Remove the block there.") }));
  for (const { edit: file, path } of places) file.remove(path);
  for (const [, inDocument] of Map.groupBy(places, ({ path }) => path[0].map)) {
    const [first] = inDocument;
    const items = inDocument.map(({ one }) => ({ from: one.address, destroy: false }));
    if (first !== undefined) first.edit.addItems(first.path, "removed", items);
  }
  const changes = await edit.result(only((one) => (chosen.has(one) ? undefined : "same")));
  const notes = outer.map(({ address }) => `${address} leaves the state with the next apply. The object stays.`);
  return { changes, notes };
}

/** Adds a service with a template, after the last service of its client or template. */
export async function addService(
  project: Project,
  domain: string,
  { template, client }: { readonly template: string; readonly client?: string },
): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const { resources } = edit.desired;
  const services = resources.filter(({ type }) => type === "hosting_service");
  const taken = new Set(services.map(({ address }) => parseAddress(address)?.name ?? ""));
  const name = freeName(slug(domain), taken);
  const hasParameter = edit.edits.some((file) => file.find("templates", template, "parameters", "domain"));
  const body: JsonObject = {
    template,
    ...(hasParameter ? { with: { domain } } : { domain }),
    ...(client !== undefined && { client }),
  };
  const places = services.flatMap((one) => {
    const place = edit.keyOf(one);
    return place === undefined ? [] : [{ ...place, one }];
  });
  const usesTemplate = ({ edit: file, path }: Place) => {
    const used = file.inside(path, "template");
    return used !== undefined && file.textOf(used) === template;
  };
  const after =
    (client === undefined ? undefined : places.findLast(({ one }) => one.client === client)) ??
    places.findLast(usesTemplate) ??
    places.at(-1);
  const [first] = edit.edits;
  if (after !== undefined) after.edit.add([after.path[0]], { [name]: body });
  else first?.addSection("services", { [name]: body });
  const address = `hosting_service.${name}`;
  const isNew = isWithin(address);
  const changes = await edit.result(only((one) => (isNew(one) ? "any" : "same")));
  return { changes, notes: [`${address} is new. An apply orders it.`] };
}

/** Writes the live values of a resource into its block. Reads the account as a plan does. */
export async function acceptLive(project: Project, text: string): Promise<Edited> {
  await refuseSharedBlocks(project);
  const edit = await DeclarationEdit.open(project);
  const resource = edit.resource(text);
  const { address } = resource;
  const options = { command: "plan", mode: "apply", targets: [address], reorder: [] } as const;
  const change = await withPlan(project, options, async ({ plan }) =>
    plan.changes.find((one) => one.address === address),
  );
  if (change?.before == null || change.importing !== undefined) return refuse("usage/no_live", { address });
  const names = new Set(change.reasons.flatMap(({ attribute: [name] = [] }) => (typeof name === "string" ? name : [])));
  const config: Record<string, Json> = { ...resource.config };
  for (const name of names) {
    const { edit: file, path } = edit.block(resource, `Change ${name} there.`);
    if (change.sensitive.includes(name) || resource.sources?.has(name) || !(name in change.before))
      throw file.byHand(path, "secret", `Change the source of ${name}.`);
    const value = escaped(change.before[name] ?? null);
    edit.set(resource, name, value);
    config[name] = value;
  }
  const changes = await edit.result(
    only((one, before) => (one === address && before !== undefined ? { ...before, config } : "same")),
  );
  return { changes, notes: [...names].map((name) => `${address}: ${name} now has the live value.`) };
}

const escaped = (value: Json): Json =>
  JSON.parse(JSON.stringify(value), (_, part: Json) => (typeof part === "string" ? literal(part) : part)) as Json;

/** Rejects an edit with values of one account if several environments share the blocks. */
export async function refuseSharedBlocks({ source }: Project): Promise<void> {
  const names = await environmentNames(source);
  if (names.length > 1) refuse("edit.by_hand/environments", { names });
}
