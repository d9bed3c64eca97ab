import type { Kinds } from "../kinds/kind.ts";
import type { Desired, State } from "../model/index.ts";
import type { Environment } from "./evaluate.ts";
import type { Move } from "./moves.ts";
import type { Observed } from "./observe.ts";
import type { Limits } from "./orders.ts";

/** Everything that a plan is a function of. */
export interface PlanOptions {
  readonly desired: Desired;
  readonly state: State;
  /** The whole state, when `state` was narrowed to targets: what is recorded elsewhere still counts. */
  readonly recorded?: State;
  readonly observed: Observed;
  readonly kinds: Kinds;
  readonly env: Environment;
  readonly mode: "apply" | "destroy";
  /** Addresses of gone services to order anew on purpose. */
  readonly reorder: ReadonlySet<string>;
  /** Addresses of services to order although something like them exists. */
  readonly orderAnyway?: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** API requests that were made to observe. */
  readonly readRequests: number;
  /** The smallest request budget among the providers in use. */
  readonly requestsPerMinute?: number;
  /** What the plan is held against; nothing when absent. */
  readonly limits?: Limits;
  /** The addresses of the whole declaration, when `desired` was narrowed to targets. */
  readonly declared?: ReadonlySet<string>;
  /** What has another address in `state` than it is recorded under. */
  readonly moves?: readonly Move[];
}
