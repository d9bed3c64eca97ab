/**
 * fast-check with a fixed seed, so that `npm test` always has the same result. `npm run test:long` uses and prints a
 * new seed in each run. HOSTFORM_SEED repeats a seed.
 */
import fc from "fast-check";
import { LONG } from "../reliability/support/long.ts";

fc.configureGlobal({ seed: Number(process.env.HOSTFORM_SEED ?? 20_261_121) });

/**
 * Returns the number of runs of an expensive property: a quarter in `npm test`, and all in `npm run test:long
 * properties`.
 */
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
 * Any character except surrogates, for `fc.string({ unit: character })`. `unit: "binary"` has the same characters, but
 * its table takes one second and 85 megabytes in each process.
 */
export const character = fc.integer({ min: 0, max: 0x10ffff - SURROGATES }).map(toCharacter, toPlace);
