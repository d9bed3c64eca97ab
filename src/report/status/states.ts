// States of services in a report, and their words.
import { formatNumber } from "../../core/model/index.ts";

/** States of services in the account. `suspended`: as declared. `offline`: not live for any other reason. `waiting`: an open order. */
const IN_ACCOUNT = ["live", "offline", "suspended", "suspended_undeclared", "waiting", "unknown_status"] as const;
/** States of declared services that the account does not list. */
const ABSENT = ["gone", "handed_over", "outside", "not_ordered", "not_listed"] as const;
export const SERVICE_STATES = [...IN_ACCOUNT, ...ABSENT] as const;
export type ServiceState = (typeof SERVICE_STATES)[number];

type StateCounts = Readonly<Record<ServiceState, number>>;

const WORDS: Readonly<Record<ServiceState, string>> = {
  live: "live",
  offline: "offline",
  suspended: "suspended as declared",
  suspended_undeclared: "suspended and not declared",
  waiting: "waiting for activation",
  unknown_status: "with an unknown status",
  gone: "gone",
  handed_over: "transferred",
  outside: "outside the token's scope",
  not_ordered: "not ordered yet",
  not_listed: "not listed",
};

/** Returns the words of a state, and the conditions that the words do not contain. */
export const stateText = (state: ServiceState, conditions: readonly string[]): string =>
  [WORDS[state], ...conditions.filter((name) => !Object.hasOwn(WORDS, name))].join(", ");

const named = (states: StateCounts, which: readonly ServiceState[]) =>
  which.flatMap((state) => (states[state] > 0 ? { count: states[state], words: WORDS[state] } : []));

/** Problems in the order of the first sentence. */
const REMARKABLE = ["suspended_undeclared", "gone", "handed_over", "outside", "waiting", "unknown_status"] as const;

/** Returns the states that the first sentence names after the offline services, with their numbers. */
export const remarkableStates = (states: StateCounts) => named(states, REMARKABLE);

/** Returns the numbers of services in the account, and of the other declared services. Empty if all services are live. */
export function stateNote({ services, states }: { readonly services: number; readonly states: StateCounts }): string {
  const [here = "", absent = ""] = [IN_ACCOUNT, ABSENT].map((which) =>
    named(states, which)
      .map(({ count, words }) => `${formatNumber(count)} ${words}`)
      .join(", "),
  );
  if (absent === "" && states.live === services) return "";
  return `${formatNumber(services)} in the account: ${here || "none"}. ${absent && `Declared, but not in the account: ${absent}. `}`;
}
