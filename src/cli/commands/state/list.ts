import { didYouMean, fail } from "../../../core/model/index.ts";
import { escapeLine, renderListing } from "../../../report/index.ts";
import { type Invocation, printJson } from "../../io.ts";
import { readState } from "../../recorded.ts";

export interface StateListFlags {
  /** With ids and providers, as a table. */
  readonly long?: boolean;
}

/** `hostform state list [ADDRESS-PREFIX]`: what is recorded. Takes no lock. */
export async function runStateList(invocation: Invocation, flags: StateListFlags, prefix = ""): Promise<number> {
  const { resources } = await readState(invocation);
  const rows = [...resources.values()]
    .filter(({ address }) => address.startsWith(prefix))
    .map(({ address, provider, attributes }) => ({ address, id: attributes.id ?? null, provider }));
  if (rows.length === 0 && prefix !== "") {
    fail("plan.address", `No address in the state begins with ${prefix}.${didYouMean(prefix, resources.keys())}`);
  }
  if (invocation.options.json) printJson(invocation, rows);
  else if (flags.long) invocation.io.out(renderListing("state", rows, invocation.outLook));
  else invocation.io.out(rows.map(({ address }) => `${escapeLine(address)}\n`).join(""));
  return 0;
}
