import { didYouMean, fail, parseAddress, resourceOf } from "../core/model/index.ts";
import { selectResources } from "../core/record/index.ts";
import type { Invocation } from "./io.ts";
import { readState } from "./recorded.ts";

/** A service that a command is about. */
export interface ServiceTarget {
  readonly id: string;
  /** The provider that it belongs to. */
  readonly alias: string;
  /** Null when it is not recorded. */
  readonly productType: string | null;
}

const SERVICE = "hosting_service";

/**
 * The service that an argument names: the address of a recorded one, or an id as it is.
 * @param alias `--provider`; for an address the state knows it.
 * @throws HostformError `usage`, `plan.address`, `plan.pending`.
 */
export async function serviceTarget(
  invocation: Invocation,
  text: string,
  alias: string | undefined,
): Promise<ServiceTarget> {
  const parsed = parseAddress(text);
  if (parsed === undefined) return byId(invocation, text, alias);
  if (parsed.type !== SERVICE) {
    fail("usage", `${text} is not a service`, { fix: `Give a ${SERVICE} address, or the id of a service.` });
  }
  const state = await readState(invocation);
  const [resource, another] = selectResources(state, text);
  if (resource === undefined || another !== undefined) {
    fail("usage", `${text} names several services`, { fix: `Name one of them, such as '${resource?.address}'.` });
  }
  const { address, provider, attributes } = resource;
  if (typeof attributes.id !== "string") {
    fail("plan.pending", `The state knows no id of ${address}`, {
      detail: "Its order has no known outcome.",
      fix: "Run `hostform apply`, which finds out.",
      address,
    });
  }
  if (alias !== undefined && alias !== provider) {
    fail("usage", `${address} belongs to provider ${provider}, not ${alias}`, { fix: "Leave --provider out." });
  }
  const type = attributes.product_type;
  return { id: attributes.id, alias: provider, productType: typeof type === "string" ? type : null };
}

async function byId(invocation: Invocation, text: string, alias = "default"): Promise<ServiceTarget> {
  const fix = `Give an id such as 1001, or an address such as ${SERVICE}.acme-www (\`hostform state list\`).`;
  if (!/^[A-Za-z0-9_-]+$/.test(text)) {
    fail("usage", `${JSON.stringify(text)} is neither the id nor the address of a service`, { fix });
  }
  // An id may be any word, but a word that names a recorded service was hardly meant as an id.
  if (!/^\d+$/.test(text)) {
    const services = [...(await readState(invocation)).resources.keys()].filter((key) => key.startsWith(`${SERVICE}.`));
    const names = services.map((address) => resourceOf(address).slice(SERVICE.length + 1));
    if (names.includes(text)) {
      fail("usage", `${text} is the name of a service, not its id.${didYouMean(`${SERVICE}.${text}`, services)}`, {
        fix,
      });
    }
  }
  return { id: text, alias, productType: null };
}
