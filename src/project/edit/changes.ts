/** Edits of blocks: remove, rename, hand over, add, and accept. */
import path from "node:path";
import { kinds } from "../../core/kinds/index.ts";
import { type DesiredResource, foldedDomain, formatAddress, type Json, parseAddress } from "../../core/model/index.ts";
import { literal } from "../../fronts/yaml/index.ts";
import { freeName, slug } from "../adopt/names.ts";
import { raise } from "../messages.ts";
import { withPlan } from "../plan.ts";
import type { Project } from "../project.ts";
import { selected } from "../selection.ts";
import { DeclarationEdit, type Edited } from "./declaration-edit.ts";

/** Returns the addresses of a resource and of the resources with its name: a service and its grants. */
export const namedBy = (address: string): readonly string[] => {
  const { type, name, key } = parseAddress(address) ?? {};
  if (key !== undefined) return [address];
  return [...kinds.values()].flatMap((kind) =>
    kind.type === type || kind.nested?.in === type ? [`${kind.type}.${name}`] : [],
  );
};

/** Removes the items of `moved` that lead to removed addresses, also through other items. */
export function dropMoves(edit: DeclarationEdit, names: ReadonlySet<string>): void {
  const moved = edit.desired.moved ?? [];
  const dropped = new Set(names);
  for (const _ of moved) for (const { from, to } of moved) if (dropped.has(to)) dropped.add(from);
  for (const one of edit.files) one.edit.dropItems("moved", "to", (to) => dropped.has(to));
}

/** Removes a block. */
export async function removeResource(project: Project, text: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const resource = edit.resource(text);
  const names = new Set(namedBy(resource.address));
  const fix = "Remove the entry there, or set the entry to null in the block.";
  for (const { edit: file, path } of edit.removable([resource], names, fix)) file.remove(path);
  dropMoves(edit, names);
  const changes = await edit.result(new Map([...names].map((one) => [one, "gone"])));
  return { changes, notes: [`${resource.address} is no longer declared.`] };
}

/** Renames a block and all references to it, and adds `moved`. @param to an address, or a name. */
export async function renameResource(project: Project, text: string, to: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const resource = edit.resource(text);
  const { address, type } = resource;
  const { name, key } = parseAddress(address) ?? {};
  const target = parseAddress(to) ?? { type, name: to };
  if (key !== undefined || target.key !== undefined || target.type !== type || target.name === name)
    raise("usage/rename", { to });
  const renamedTo = formatAddress(target);
  if (parseAddress(renamedTo)?.name !== target.name) raise("usage/rename", { to });
  const taken = edit.desired.resources.find((one) => one.address === renamedTo);
  if (taken) raise("config.by_hand/declared", { text: renamedTo, address: renamedTo, range: taken.locate([]) });
  const { edit: file, path } = edit.block(resource, "Rename the block there.");
  const types = namedBy(address).map((one) => parseAddress(one)?.type);
  const pattern = new RegExp(`\\b(${types.join("|")})\\.${name}(?![\\w-])`, "g");
  const renamed = `$1.${target.name}`;
  for (const one of edit.files) one.edit.replaceAll(pattern, renamed, ["moved", "removed"]);
  file.renameKey(path, target.name);
  // A name that the resource had before: its `moved` items are reversed.
  const later = new Set<string>();
  let earlier: string | undefined = address;
  while (earlier !== undefined && earlier !== renamedTo && !later.has(earlier)) {
    const at: string = earlier;
    later.add(at);
    earlier = edit.desired.moved?.find((one) => one.to === at)?.from;
  }
  const reversed = (start: string, end: string): [string, string] =>
    later.has(end) ? [end, start] : [start, end === renamedTo ? address : end];
  if (earlier === renamedTo) for (const one of edit.files) one.edit.setMoves(reversed);
  else file.addItems(path, "moved", [{ from: address, to: renamedTo }]);
  const rename = (value: string) => value.replace(pattern, renamed);
  const own = new Map(namedBy(renamedTo).map((one) => [one, "any"] as const));
  const { domain } = resource.config;
  await edit.result(own, rename);
  const now = edit.after?.resources.find((one) => one.address === renamedTo)?.config.domain;
  if (now !== domain)
    raise("config.by_hand/name", {
      address,
      domain: String(domain),
      renamed: String(now),
      range: resource.locate(["domain"]),
    });
  return { changes: await edit.result(new Map(), rename), notes: [`${address} is renamed to ${renamedTo}.`] };
}

/** Removes all blocks of a client, and adds `removed` so that an apply leaves the objects unchanged. */
export async function handOver(project: Project, client: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const { resources } = edit.desired;
  const chosen = new Set(selected([`client:${client}`], resources));
  const outer = resources.filter(({ address, type }) => chosen.has(address) && !kinds.get(type)?.nested);
  const names = new Set(outer.flatMap(({ address }) => namedBy(address)));
  const places = edit.removable(outer, names, "Remove the block there.");
  for (const { edit: file, path } of places) file.remove(path);
  edit.addRemoved(places);
  const changes = await edit.result(new Map([...chosen].map((address) => [address, "gone"])));
  return { changes, notes: outer.map(({ address }) => `The next apply removes ${address} from the state only.`) };
}

/** Adds a service with a template, after the last service of its client, of its template, or of all. */
export async function addService(
  project: Project,
  domain: string,
  { template, client }: { readonly template: string; readonly client?: string },
): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const services = edit.desired.resources.filter(({ type }) => type === "hosting_service");
  const same = services.find((one) => foldedDomain(one.config.domain) === foldedDomain(domain));
  if (same) raise("config.by_hand/declared", { text: domain, address: same.address, range: same.locate([]) });
  const name = freeName(slug(domain), new Set(services.map(({ address }) => String(parseAddress(address)?.name))));
  const hasParameter = edit.files.some((file) => file.edit.find("templates", template, "parameters", "domain"));
  const named = client !== undefined && { client };
  const body = { template, ...(hasParameter ? { with: { domain } } : { domain }), ...named };
  const usesTemplate = (one: DesiredResource) => {
    const place = edit.placeOf(one);
    const used = place?.edit.find(...place.path.map(({ key }) => key), "template");
    return used !== undefined && place?.edit.textOf(used) === template;
  };
  const last =
    client !== undefined
      ? services.findLast((one) => one.client === client)
      : (services.findLast(usesTemplate) ?? services.at(-1));
  const place = last && edit.block(last, "Add the block there.");
  const main = (edit.files.find((file) => path.basename(file.edit.source.path) === "hosting.yaml") ?? edit.files[0])
    ?.edit;
  const section = main?.find("services");
  if (place !== undefined) place.edit.add([place.path[0]], { [name]: body });
  else if (section !== undefined) main?.add(section, { [name]: body });
  else main?.append(main.paths[0]?.[0].map as never, { services: { [name]: body } }, "\n");
  const address = `hosting_service.${name}`;
  const changes = await edit.result(new Map(namedBy(address).map((one) => [one, "any"])));
  const declared = String(edit.after?.resources.find((one) => one.address === address)?.config.domain);
  const isSame = foldedDomain(declared) === foldedDomain(domain);
  // A template may add a prefix: www.${domain}.
  const prefix = declared.endsWith(`.${domain}`) ? declared.slice(0, -domain.length) : undefined;
  if (!isSame && (prefix === undefined || domain.startsWith(prefix)))
    raise("config.by_hand/domain", { domain, declared, fix: prefix === undefined ? "" : domain.slice(prefix.length) });
  const known = client === undefined || last !== undefined ? [] : [`${client} is a new client.`];
  const notes = [`${address} is new${isSame ? "" : `, with the domain ${declared}`}. An apply orders it.`, ...known];
  return { changes, notes };
}

/** Writes the live values of a resource into its block. Reads the account as a plan does. */
export async function acceptLive(project: Project, text: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project, true);
  const resource = edit.resource(text);
  const { address } = resource;
  const options = { command: "plan", mode: "apply", targets: [address], reorder: [] } as const;
  const { changes: planned } = await withPlan(project, options, async ({ plan }) => plan);
  const { before, reasons = [], sensitive = [] } = planned.find((one) => one.address === address) ?? {};
  if (before === null || before === undefined)
    return { changes: [], notes: [`${address} does not exist in the account. Remove its block, or apply.`] };
  // A plan does not compare an undeclared suspension.
  const isSuspended = before.suspended === true && resource.config.suspended === undefined;
  const values: Record<string, Json> = {};
  for (const name of new Set([
    ...reasons.flatMap(({ attribute }) => attribute ?? []).filter((one) => typeof one === "string"),
    ...(isSuspended ? ["suspended"] : []),
  ])) {
    const { edit: file, path } = edit.block(resource, `Change ${name} there.`);
    if (sensitive.includes(name) || resource.sources?.has(name) || !(name in before))
      throw file.byHand(path, "secret", `Change the source of ${name}.`);
    const value: Json = JSON.parse(JSON.stringify(before[name]), (_, one) =>
      typeof one === "string" ? literal(one) : one,
    );
    edit.set(resource, name, value);
    values[name] = value;
  }
  const changes = await edit.result(new Map([[address, values]]));
  const notes = Object.keys(values).map((name) => `${address}: ${name} now has the live value.`);
  return { changes, notes: notes.length > 0 ? notes : [`${address} is declared with its live values.`] };
}
