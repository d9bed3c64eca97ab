/** The idle clock of a rehearsal, for tests that measure durations. It starts at the time of every test. */
import { type IdleClock, idleClock } from "../../src/project/rehearse/idle-clock.ts";
import { isBeat, START } from "./clock.ts";

export type CalmClock = IdleClock;

export const calmClock = (start = START): CalmClock => idleClock(start, isBeat);
