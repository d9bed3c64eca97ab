/**
 * Sessions done again: a fresh sandbox, the same words and requests at the same instants, and where the answers differ. In:
 * a session, or the same as JSON. Out: differences as sentences, or a file that is a test. Must not: deliver events (the
 * receivers of then may be somebody else's now), wait in real time, trust the session (it may come from a file).
 */
export { replaySession } from "./replay.ts";
export { sessionTest } from "./test-file.ts";
