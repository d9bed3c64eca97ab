import path from "node:path";
import { kindsOf, resolveConfig, scopeOf } from "../../core/engine/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import {
  type Desired,
  type DesiredResource,
  type Diagnostic,
  errorOf,
  failWith,
  hasUnknown,
  UNKNOWN,
} from "../../core/model/index.ts";
import type { Project } from "../project.ts";
import type { ProjectSource } from "../source.ts";
import { declaredEnvironment } from "../trust.ts";
import { sourceOn } from "./choose.ts";
import { unlessMistaken } from "./files.ts";
import type { LoadedStack, StackRun } from "./stack.ts";

interface Holder {
  readonly stack: string;
  readonly address: string;
}

/**
 * Rejects stacks of one run that contain the same order: both would order it, or one would adopt the order of the other.
 * Sends no request. Mistakes in a stack are reported later.
 * @throws HostformError `config.duplicate` for each order.
 */
export async function refuseSharedOrders(
  project: Project,
  stacks: readonly LoadedStack[],
  run: StackRun,
): Promise<void> {
  const holders = new Map<string, Holder>();
  const twice: Diagnostic[] = [];
  for (const stack of stacks) {
    // This check does not need outputs of earlier stacks.
    const source = await unlessMistaken(sourceOn(project.source, stack, { ...run, purpose: "validate" }));
    const { desired } = (source && (await unlessMistaken(project.on(source).declaration.read()))) ?? {};
    if (desired === undefined) continue;
    for (const { resource, orders } of ordersIn(desired, stack.folder, declaredEnvironment(project.source))) {
      const taken = orders.find(({ key }) => (holders.get(key)?.stack ?? stack.name) !== stack.name);
      const holder = holders.get(taken?.key ?? "");
      if (taken && holder) twice.push(shared(stack.name, resource, holder, taken.same));
      for (const { key } of orders)
        if (!holders.has(key)) holders.set(key, { stack: stack.name, address: resource.address });
    }
  }
  failWith(twice);
}

function* ordersIn(desired: Desired, folder: string, env: ProjectSource["env"]) {
  const known = kindsOf(desired, kinds);
  const scope = scopeOf(() => UNKNOWN, env);
  for (const resource of desired.resources) {
    const kind = known.get(resource.type);
    // Duplicates of free objects can be corrected later, and the plan of the second stack reports them.
    if (kind === undefined || kind.creation === "listable") continue;
    const { config } = resolveConfig(kind, resource, scope);
    const account = accountOf(desired, resource.provider, folder, env);
    const natural = kind.naturalKey(config);
    const open = hasUnknown(config.reference ?? null) || hasUnknown(config.domain ?? null);
    // A service without a reference needs no check: it exists already or is adopted.
    const reference = kind.creation !== "keyed" || open ? undefined : kind.orderReference?.(config);
    const orderOf = (same: string, ...names: readonly string[]) => ({
      key: JSON.stringify([...account, kind.type, ...names]),
      same,
    });
    const named = `order reference ${JSON.stringify(reference)}`;
    yield {
      resource,
      orders: [
        ...(natural === undefined ? [] : [orderOf(`domain ${natural}`, "is", natural)]),
        ...(reference === undefined ? [] : [orderOf(named, "as", desired.project, reference)]),
      ],
    };
  }
}

/** Returns names that identify the account of a provider: its URL, and its token or the source of the token. */
function accountOf(
  { providers }: Desired,
  alias: string,
  folder: string,
  env: ProjectSource["env"],
): readonly string[] {
  const { baseUrl = env.HOSTING_BASE_URL ?? "", tokenEnv, tokenFile } = providers.get(alias) ?? {};
  const variable = tokenEnv ?? "HOSTING_TOKEN";
  const token = tokenFile === undefined ? (env[variable] ?? variable) : path.resolve(folder, tokenFile);
  return [baseUrl.replace(/\/+$/, ""), token];
}

function shared(stack: string, resource: DesiredResource, holder: Holder, same: string): Diagnostic {
  const { address } = resource;
  const summary = `Stack ${stack}, ${address}: stack ${holder.stack} declares the same as ${holder.address}, with the ${same}`;
  return errorOf("config.duplicate", summary, {
    detail: "Each would order it, or adopt the other's. No request was sent.",
    remedies: [
      "Remove one of the two. If they differ, give each its own `domain`, or its own `reference` where it has no domain.",
    ],
    address,
    range: resource.locate([]),
  });
}
