import { fail, type Json, type ResourceState } from "../../../core/model/index.ts";
import { selectResources } from "../../../core/record/index.ts";
import { escapeLine, jsonText } from "../../../report/index.ts";
import { type Invocation, printJson, revealJson } from "../../io.ts";
import { readState, secretNames } from "../../recorded.ts";

export interface StateShowFlags {
  readonly reveal?: boolean;
}

const HIDDEN = "(sensitive value)";

/** `hostform state show ADDRESS`: the recorded attributes of one resource; secrets only with `--reveal`. Takes no lock. */
export async function runStateShow(invocation: Invocation, flags: StateShowFlags, address: string): Promise<number> {
  const [resource, ...others] = selectResources(await readState(invocation), address);
  if (resource === undefined || others.length > 0) {
    fail("usage", `${address} names ${others.length + 1} resources`, {
      detail: [resource, ...others].map((one) => one?.address).join(", "),
      fix: "Name one of them, in quotes for the shell.",
    });
  }
  const secrets = secretNames(resource);
  const attributes = Object.entries(resource.attributes).map(([name, value]): [string, Json] => [
    name,
    secrets.has(name) && value !== null && !flags.reveal ? HIDDEN : value,
  ]);
  if (invocation.options.json) {
    const { provider, dependencies, private: mark } = resource;
    const print = flags.reveal ? revealJson : printJson;
    print(invocation, {
      address: resource.address,
      provider,
      dependencies,
      sensitive: [...secrets],
      ...(mark.pending && { pending: mark.pending }),
      attributes: Object.fromEntries(attributes),
    });
  } else if (flags.reveal) invocation.io.reveal(textOf(resource, attributes, new Set()));
  else invocation.io.out(textOf(resource, attributes, secrets));
  return 0;
}

function textOf(
  { address, provider, dependencies, private: mark }: ResourceState,
  attributes: readonly (readonly [string, Json])[],
  hidden: ReadonlySet<string>,
): string {
  const shown = attributes.filter(([, value]) => value !== null);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  const lines = shown.map(([name, value]) => {
    const text = hidden.has(name) ? HIDDEN : jsonText(value, 2).replaceAll("\n", "\n    ");
    return `    ${escapeLine(name).padEnd(width)} = ${text}`;
  });
  return [
    `# ${escapeLine(address)}`,
    `# account: ${escapeLine(provider)}`,
    ...(dependencies.length > 0 ? [`# depends on: ${dependencies.map(escapeLine).join(", ")}`] : []),
    ...(mark.pending ? [`# pending since ${escapeLine(mark.pending.since)}: its create has no known outcome`] : []),
    ...lines,
    "",
  ].join("\n");
}
