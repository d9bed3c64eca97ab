/** Edits of blocks: remove, rename, hand over, add, and accept. */
import { kinds } from "../../core/kinds/index.ts";
import { formatAddress, type Json, parseAddress } from "../../core/model/index.ts";
import { literal } from "../../fronts/yaml/index.ts";
import { freeName, slug } from "../adopt/names.ts";
import { refuse } from "../messages.ts";
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

/** Removes a block. */
export async function removeResource(project: Project, text: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const resource = edit.resource(text);
  const place = edit.block(resource, "Remove the entry there, or set the entry to null in the block.");
  place.edit.remove(place.path);
  const changes = await edit.result(new Map(namedBy(resource.address).map((one) => [one, "gone"])));
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
    refuse("usage/rename", { to });
  const { edit: file, path } = edit.block(resource, "Rename the block there.");
  const types = namedBy(address).map((one) => parseAddress(one)?.type);
  const pattern = new RegExp(`\\b(${types.join("|")})\\.${name}(?![\\w-])`, "g");
  const renamed = `$1.${target.name}`;
  for (const one of edit.files) one.edit.replaceAll(pattern, renamed, ["moved", "removed"]);
  file.renameKey(path, target.name);
  file.addItems(path, "moved", [{ from: address, to: formatAddress(target) }]);
  const changes = await edit.result(new Map(), (value) => value.replace(pattern, renamed));
  return { changes, notes: [`${address} is renamed to ${formatAddress(target)}.`] };
}

/** Removes all blocks of a client, and adds `removed` so that an apply leaves the objects unchanged. */
export async function handOver(project: Project, client: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const { resources } = edit.desired;
  const chosen = new Set(selected([`client:${client}`], resources));
  const outer = resources.filter(({ address, type }) => chosen.has(address) && !kinds.get(type)?.nested);
  const places = outer.map((one) => ({ one, ...edit.block(one, "Remove the block there.") }));
  for (const { edit: file, path } of places) file.remove(path);
  for (const [, all] of Map.groupBy(places, ({ path }) => path[0].map)) {
    const items = all.map(({ one }) => ({ from: one.address, destroy: false }));
    for (const { edit: file, path } of all.slice(0, 1)) file.addItems(path, "removed", items);
  }
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
  const name = freeName(slug(domain), new Set(services.map(({ address }) => String(parseAddress(address)?.name))));
  const hasParameter = edit.files.some((file) => file.edit.find("templates", template, "parameters", "domain"));
  const named = client !== undefined && { client };
  const body = { template, ...(hasParameter ? { with: { domain } } : { domain }), ...named };
  const last =
    services.findLast((one) => client !== undefined && one.client === client) ??
    services.findLast((one) => {
      const place = edit.placeOf(one);
      const used = place?.edit.find(...place.path.map(({ key }) => key), "template");
      return used && place?.edit.textOf(used) === template;
    }) ??
    services.at(-1);
  const place = last && edit.block(last, "Add the block there.");
  const [first] = edit.files;
  if (place !== undefined) place.edit.add([place.path[0]], { [name]: body });
  else first?.edit.append(first.edit.paths[0]?.[0].map as never, { services: { [name]: body } }, "\n");
  const address = `hosting_service.${name}`;
  const changes = await edit.result(new Map(namedBy(address).map((one) => [one, "any"])));
  return { changes, notes: [`${address} is new. An apply orders it.`] };
}

/** Writes the live values of a resource into its block. Reads the account as a plan does. */
export async function acceptLive(project: Project, text: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project, true);
  const resource = edit.resource(text);
  const { address } = resource;
  const options = { command: "plan", mode: "apply", targets: [address], reorder: [] } as const;
  const { changes: planned } = await withPlan(project, options, async ({ plan }) => plan);
  const { before, reasons = [], sensitive = [] } = planned.find((one) => one.address === address) ?? {};
  const values: Record<string, Json> = {};
  for (const name of new Set(
    reasons.flatMap(({ attribute }) => attribute ?? []).filter((one) => typeof one === "string"),
  )) {
    if (before === null || before === undefined) break;
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
  return { changes, notes: Object.keys(values).map((name) => `${address}: ${name} now has the live value.`) };
}
