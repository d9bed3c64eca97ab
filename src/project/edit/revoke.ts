/** Removes a person from all grants of a declaration, and adopts the grants that nobody declared. */
import { service } from "../../core/kinds/service/index.ts";
import {
  type DesiredResource,
  formatAddress,
  type JsonObject,
  parseAddress,
  sameEmail,
} from "../../core/model/index.ts";
import { keyOf } from "../../fronts/yaml/index.ts";
import { nestedKind, readGrants } from "../adopt/read.ts";
import { requireAccounts } from "../identity.ts";
import { interruptible } from "../interrupt.ts";
import type { Project } from "../project.ts";
import { withProviders } from "../providers.ts";
import { DeclarationEdit, type Edited, only } from "./declaration-edit.ts";

/** An undeclared grant of the account. */
interface Undeclared {
  readonly service: DesiredResource;
  readonly address: string;
  readonly email: string;
  readonly body: JsonObject;
}

/**
 * Removes every grant of an e-mail address, in all blocks, templates and anchors. Declares undeclared grants with their id: the next
 * apply adopts them, and a second run of the command removes them. Reads the grants of all declared services.
 */
export async function revokePerson(project: Project, email: string): Promise<Edited> {
  const edit = await DeclarationEdit.open(project);
  const isTheirs = (value: unknown) => typeof value === "string" && sameEmail(value, email);
  const grants = edit.desired.resources.filter(
    ({ type, config }) => type === nestedKind.type && isTheirs(config.email),
  );
  for (const grant of grants) {
    const place = edit.keyOf(grant);
    if (place === undefined) continue;
    const key = place.path.at(-1)?.pair;
    if (key === undefined || !isTheirs(keyOf(key)))
      throw place.edit.byHand(place.path, "expression", `Remove ${email} from the values of this key.`);
    place.edit.remove(place.path);
  }
  for (const file of edit.edits) {
    for (const path of file.paths) {
      const [section, key] = path.slice(-2).map(({ pair }) => keyOf(pair));
      if (section === nestedKind.nested?.section && isTheirs(key)) file.remove(path);
    }
  }
  const declared = new Set(grants.map(({ address }) => address));
  const found = await undeclaredGrants(project, edit, isTheirs, declared);
  for (const { service: of, email: key, body } of found) {
    const place = edit.block(of, "Add the grant there.");
    const inside = place.edit.inside(place.path, "grants");
    const entry = { [key]: body };
    place.edit.add(inside ?? place.path, inside === undefined ? { grants: entry } : entry);
  }
  const added = new Set(found.map(({ address }) => address));
  const changes = await edit.result(
    only((address) => (added.has(address) ? "any" : declared.has(address) ? undefined : "same")),
  );
  const revoked = [...declared].map((address) => `${address} is no longer declared. The next apply revokes the grant.`);
  const adopted = found.map(
    ({ address }) =>
      `${address} was not declared. The next apply adopts the grant. Then run this command again to revoke it.`,
  );
  return { changes, notes: [...revoked, ...adopted] };
}

function undeclaredGrants(
  project: Project,
  { desired }: DeclarationEdit,
  isTheirs: (email: unknown) => boolean,
  declared: ReadonlySet<string>,
): Promise<readonly Undeclared[]> {
  return interruptible(project.host, async (signal) => {
    const state = await project.state.read();
    const services = desired.resources.filter(
      ({ type, address }) => type === service.type && typeof state.resources.get(address)?.attributes.id === "string",
    );
    const aliases = new Set(services.map(({ provider }) => provider));
    const known = new Set(
      [...state.resources.values()].map(({ attributes: { id, service_id } }) => `${service_id}/${id}`),
    );
    return withProviders(desired.providers, project, signal, async (providers) => {
      await providers.prepare(aliases);
      requireAccounts(aliases, providers, state);
      const found: Undeclared[] = [];
      for (const alias of aliases) {
        const { account } = providers.get(alias);
        const own = new Map(
          services.flatMap((one) => {
            const id = String(state.resources.get(one.address)?.attributes.id);
            return one.provider === alias ? [[id, one] as const] : [];
          }),
        );
        const live = [...(await account.list(service)).values()].filter(
          ({ id, phase }) => own.has(id) && phase !== "gone",
        );
        const { objects, unread } = await readGrants(account, live, (open) => project.log.reading(open));
        for (const sentence of unread) project.log.say(sentence);
        for (const { id, attributes } of objects.get(nestedKind.type) ?? []) {
          const { email, permission = null, expires_at, service_id } = attributes;
          const of = own.get(String(service_id));
          if (of === undefined || !isTheirs(email) || known.has(`${service_id}/${id}`)) continue;
          const { name = "" } = parseAddress(of.address) ?? {};
          const address = formatAddress({ type: nestedKind.type, name, key: String(email) });
          if (declared.has(address)) continue;
          const ends = typeof expires_at === "string" && { expires_at };
          found.push({ service: of, address, email: String(email), body: { permission: permission as string, ...ends, import: id } });
        }
      }
      return found;
    });
  });
}
