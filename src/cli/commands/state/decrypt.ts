import type { State } from "../../../core/model/index.ts";
import { escapeLine, plural } from "../../../report/index.ts";
import { stateEncryption } from "../../encryption.ts";
import { type Invocation, printJson } from "../../io.ts";
import { resealState, secretNames } from "../../recorded.ts";

/** `hostform state decrypt`: writes the state and its backup in the clear, and says what can be read there now. */
export async function runStateDecrypt(invocation: Invocation): Promise<number> {
  const { key } = stateEncryption(invocation);
  const { found, changed, backup, state } = await resealState(invocation, "state decrypt", { to: "clear" });
  const secrets = secretsIn(state);
  if (invocation.options.json) printJson(invocation, { encrypted: false, changed, in_the_clear: secrets });
  else if (!found) invocation.io.out("There is no state yet.\n");
  else if (!changed) invocation.io.out("The state is not encrypted.\n");
  else {
    invocation.io.out(`The state is in the clear now${backup ? ", and its backup with it" : ""}.\n`);
    // Not kept back by --quiet: this is what the command is about.
    invocation.io.err(warning(secrets));
    if (key !== undefined)
      invocation.io.err(`Unset ${key.variable}: with it, a state that is not encrypted is refused.\n`);
  }
  return 0;
}

interface Secret {
  readonly address: string;
  readonly attributes: readonly string[];
}

function secretsIn({ resources, outputs = new Map() }: State): Secret[] {
  const ofOutputs = [...outputs].filter(([, { sensitive }]) => sensitive).map(([name]) => `output.${name}`);
  const ofResources = [...resources.values()].flatMap((resource) => {
    const attributes = [...secretNames(resource)].filter((name) => (resource.attributes[name] ?? null) !== null);
    return attributes.length === 0 ? [] : [{ address: resource.address, attributes }];
  });
  return [...ofResources, ...ofOutputs.map((address) => ({ address, attributes: ["value"] }))];
}

function warning(secrets: readonly Secret[]): string {
  if (secrets.length === 0)
    return "WARNING: whoever reads these files reads all that hostform knows. No secret is among it.\n";
  const lines = secrets.map(
    ({ address, attributes }) => `  ${escapeLine(address)}: ${attributes.map(escapeLine).join(", ")}\n`,
  );
  const count = plural(
    secrets.reduce((sum, { attributes }) => sum + attributes.length, 0),
    "secret",
  );
  return `WARNING: whoever reads these files reads ${count}:\n${lines.join("")}`;
}
