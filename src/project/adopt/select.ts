/** Which part of an account is adopted. */
import type { Kind, Remote } from "../../core/kinds/kind.ts";
import { fail } from "../../core/model/index.ts";
import { preferredName, slug } from "./names.ts";
import type { Selection } from "./read.ts";
import type { AdoptOptions } from "./types.ts";

/** @param clients id of a service -> client. @throws HostformError `usage` for a client without the file that names them. */
export function selectionOf(
  { select = [], client, clients: file }: Pick<AdoptOptions, "select" | "client" | "clients">,
  clients: ReadonlyMap<string, string>,
): Selection {
  if (client !== undefined && file === undefined) {
    fail("usage", "--client needs --clients: the API ties no service to a client", {
      remedies: ["Write a CSV file `service id,client`, and pass it with `--clients FILE`."],
    });
  }
  const globs = select.map(globOf);
  const owner = client === undefined ? undefined : slug(client);
  const ownerOf = (service: unknown) => slug(clients.get(String(service)) ?? "");
  const isOwned: Record<string, (kind: Kind, object: Remote) => boolean> = {
    services: (_, { id }) => ownerOf(id) === owner,
    migration_requests: (_, { attributes }) => ownerOf(attributes.order_id) === owner,
    client_accounts: (kind, object) => preferredName(kind, object) === owner,
  };
  return {
    lists: ({ section, attributes }) =>
      (owner === undefined || Object.hasOwn(isOwned, section)) &&
      (globs.length === 0 || Object.hasOwn(attributes.shape, "domain")),
    wants(kind, object) {
      const { domain } = object.attributes;
      const isSelected = globs.length === 0 || (typeof domain === "string" && globs.some((glob) => glob.test(domain)));
      return isSelected && (owner === undefined || (isOwned[kind.section]?.(kind, object) ?? false));
    },
  };
}

/** `*.acme.example`: `*` stands for any text, `?` for a character. */
function globOf(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "i");
}
