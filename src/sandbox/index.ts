/**
 * Stateful implementation of the complete Hosting Automation API, for demonstrations and tests. In: options, requests on the
 * API port, calls on the control port. Out: responses according to the specification. The profile fills its gaps.
 *
 * Must not: import any other part of this project (written only from the specification, it cannot repeat a mistake of the
 * client); listen on an address other than 127.0.0.1; perform work when a timer says so (a timer only reads the clock again,
 * see `start.ts`).
 */
export type { Control, EventSubject, SandboxState } from "./control/control.ts";
export type { BrokenInvariant, InvariantReport } from "./control/invariants.ts";
export type { NewRecord, OpenCollection } from "./control/records.ts";
export type { Span, Time } from "./control/time.ts";
export type { DeliverTo } from "./events/target.ts";
export type { Fault, FaultPhase, FaultRequest } from "./faults.ts";
export type { RequestEntry } from "./http/journal.ts";
export type { Exchange, SandboxOptions } from "./options.ts";
export {
  PROFILE_SETS,
  PROFILE_SWITCHES,
  type Profile,
  type ProfileSet,
  type ProfileSwitch,
  parseProfile,
  profileText,
} from "./profile/profile.ts";
export { Refusal, SandboxOptionError } from "./refusal.ts";
export type { ServiceSeed } from "./seed.ts";
export { type Sandbox, startSandbox } from "./start.ts";
export type * from "./store/records.ts";
export { ABILITIES, EVENTS } from "./store/records.ts";
