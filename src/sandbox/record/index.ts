/**
 * What a sandbox remembers of what was done to it, for tests: assertions about the requests received, snapshots of
 * everything, sessions that can be repeated. In: the journal, the store, the steps as they happen. Out: matching entries or
 * a refusal that says what came instead; texts that are the same for the same state. Must not: change how a request is
 * answered, write a secret that did not come from the sandbox, know the control (which knows this).
 */
export { type BrokenInvariant, checkInvariants, type InvariantReport, type InvariantRule } from "./invariants.ts";
export { Recorder, sessionOf } from "./recorder.ts";
export type { ControlStep, RequestStep, Session, SessionStep } from "./session.ts";
export { restoreSnapshot, type Snapshot, snapshotText, takeSnapshot } from "./snapshot.ts";
export { type RequestExpectation, verifyRequests } from "./verify.ts";
