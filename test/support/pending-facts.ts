/** Complete facts about a pending create. Tests replace some of them. */
import type { Remote } from "../../src/core/kinds/kind.ts";
import type { Attempt, HostFacts, IntentFacts, ObservedFacts, Row } from "../../src/core/lifecycle/decide.ts";
import type { Observation } from "../../src/core/lifecycle/index.ts";

/** Time at which the first attempt of each create was recorded and sent. */
export const SENT = Date.parse("2026-03-01T10:00:00Z");

export const LAG = 60_000;

/** Age of a request, in milliseconds, at which a list of these facts proves absence. */
export const PROOF = 80_000;

export const attempt = (over: Partial<Attempt> = {}, age = 0): Attempt => ({
  recordedAt: { wall: SENT + age },
  leavesBy: { wall: SENT + age },
  ofThisRun: false,
  outcome: "open",
  ...over,
});

export const intent = (over: Partial<IntentFacts> = {}): IntentFacts => ({
  id: "intent-1",
  creation: "listable",
  naturalKey: "alpha",
  attempts: [attempt()],
  before: { ids: new Set(["old"]), complete: true },
  secretLost: false,
  deletable: true,
  want: "it",
  ...over,
});

export const row = (over: Partial<Row> = {}): Row => ({
  id: "201",
  key: "same",
  ended: false,
  created: [SENT + 1_000, SENT + 1_000],
  ...over,
});

/** Returns the observed facts, `age` milliseconds after the first attempt. */
export const observed = (age: number, rows: readonly Row[] = [], over: Partial<ObservedFacts> = {}): ObservedFacts => ({
  now: { wall: SENT + age },
  readAt: { wall: SENT + age },
  gap: false,
  lock: "unknown",
  list: "whole",
  rows,
  ...over,
});

export const host = (over: Partial<HostFacts> = {}): HostFacts => ({
  keyRetentionMs: undefined,
  rewritesKey: "unknown",
  createdTimes: "unknown",
  listLagMs: LAG,
  ...over,
});

/** Returns the observation of a pending create whose kind lists these objects. */
export const listing = (readAt: number, ...objects: readonly Remote[]): Observation => ({
  status: "absent",
  matches: [],
  listed: { objects, plans: [], readAt },
});

/** Returns the same observation, with the complete list for a pending create. */
export const whole = (seen: Observation, readAt: number): Observation =>
  seen.status === "absent" && seen.listed === undefined ? listing(readAt, ...(seen.alike ?? [])) : seen;
