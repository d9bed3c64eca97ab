import { escapeLine } from "../../../report/index.ts";
import { type Invocation, printJson } from "../../io.ts";
import { withState } from "../../recorded.ts";

/** `hostform state mv FROM TO`: gives a resource, or all instances of one, another address. */
export async function runStateMv(invocation: Invocation, from: string, to: string): Promise<number> {
  return withState(invocation, "state mv", async (store) => {
    const moved = await store.move(from, to);
    if (invocation.options.json) printJson(invocation, { moved });
    else {
      for (const step of moved) invocation.io.out(`Moved ${escapeLine(step.from)} to ${escapeLine(step.to)}\n`);
    }
    return 0;
  });
}
