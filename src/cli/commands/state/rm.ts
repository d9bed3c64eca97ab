import { isDoubtful } from "../../../core/lifecycle/index.ts";
import { HostformError, inQuotes } from "../../../core/model/index.ts";
import { selectResources } from "../../../core/record/index.ts";
import { escapeLine, plural } from "../../../report/index.ts";
import { type Invocation, printJson, say } from "../../io.ts";
import { withState } from "../../recorded.ts";

/** `hostform state rm ADDRESS…`: forgets resources, which stay in the account. All of them, or none when one is unknown. */
export async function runStateRm(invocation: Invocation, addresses: readonly string[]): Promise<number> {
  return withState(invocation, "state rm", async (store) => {
    const problems: HostformError[] = [];
    const chosen = addresses.flatMap((address) => {
      try {
        return selectResources(store.state, address);
      } catch (error) {
        if (!(error instanceof HostformError)) throw error;
        problems.push(error);
        return [];
      }
    });
    for (const resource of chosen.filter(isDoubtful)) {
      const diagnostic = {
        severity: "error" as const,
        code: "plan.pending" as const,
        summary: `${resource.address} was not forgotten: it is not known whether it was ordered`,
        detail: "Its record is what keeps it from being ordered again.",
        fix: `\`hostform resolve ${inQuotes(resource.address)}\` shows what is known of it; \`--absent\` forgets it when it was not.`,
        address: resource.address,
      };
      problems.push(new HostformError([diagnostic]));
    }
    if (problems.length > 0) throw new HostformError(problems.flatMap(({ diagnostics }) => diagnostics));
    const removed = [...new Set(chosen.map(({ address }) => address))];
    await store.remove(...removed);
    if (invocation.options.json) printJson(invocation, { removed });
    else {
      invocation.io.out(removed.map((address) => `Forgot ${escapeLine(address)}\n`).join(""));
      const what = plural(removed.length, "resource");
      say(invocation, `${what} left the state. Nothing was changed in the account.`);
    }
    return 0;
  });
}
