/**
 * The edge: the one place where records become wire bodies, refusals become bodies of errors, and ids in requests become
 * numbers, by the profile. In: replies, refusals, records. Out: JSON values and texts as they are sent; what the
 * specification shows is the default, the rest follows the profile. Must not: change a record, know a route or HTTP.
 */
export { shape, unshape, type WireAnswer } from "./answer.ts";
export { eventData } from "./event-data.ts";
export { itemBody } from "./items.ts";
export { instant, readId } from "./notation.ts";
export { type RefusedAnswer, shapeRefusal } from "./refused.ts";
export { type Rendering, readParams, readQuery, renderRate } from "./rendering.ts";
