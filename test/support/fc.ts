/**
 * fast-check with a fixed seed, so that `npm test` says the same each time. `npm run test:long` takes another seed at each
 * run and prints it; HOSTFORM_SEED repeats one.
 */
import fc from "fast-check";
import { LONG } from "../reliability/support/long.ts";

fc.configureGlobal({ seed: Number(process.env.HOSTFORM_SEED ?? 20_261_121) });

/** Runs of a costly property: a quarter in `npm test`, all of them in `npm run test:long properties`. */
export const runs = (all: number): number => (LONG ? all : Math.ceil(all / 4));

export default fc;
export { fc };

const SURROGATES = 0x800;
const toCharacter = (place: number): string => String.fromCodePoint(place < 0xd800 ? place : place + SURROGATES);
const toPlace = (text: unknown): number => {
  const code = typeof text === "string" ? (text.codePointAt(0) ?? -1) : -1;
  const place = code < 0xd800 ? code : code - SURROGATES;
  if (place < 0 || toCharacter(place) !== text) throw new Error("not one whole character");
  return place;
};

/**
 * Any character but half a surrogate pair, for `fc.string({ unit: character })`. The same as `unit: "binary"`, which keeps a table
 * of all of them: a second and 85 megabytes in each process.
 */
export const character = fc.integer({ min: 0, max: 0x10ffff - SURROGATES }).map(toCharacter, toPlace);
