import { elementsOf, isKnown, isWhollyKnown, list, text, unknown } from "../typed.ts";
import { shapeOf } from "../types.ts";
import type { Typed } from "../value.ts";
import { ArgumentError, CallError, type Definition } from "./definition.ts";
import { formatted } from "./format-verbs.ts";
import { NOTHING, textOf, texts } from "./parts.ts";

const parameters = [{ name: "format", type: "string" }] as const;
const rest = { name: "args", type: "any", nullable: true, unknown: true } as const;

const format: Definition = {
  parameters,
  rest,
  result: "string",
  run([template = NOTHING, ...args]) {
    return args.every(isWhollyKnown) ? text(formatted(textOf(template), args)) : unknown("string");
  },
};

const isSequence = ({ type }: Typed) => ["list", "set", "tuple"].includes(shapeOf(type));

/** One text for each element of the lists among the arguments; what is no list is the same for all of them. */
const formatlist: Definition = {
  parameters,
  rest,
  result: { list: "string" },
  run([template = NOTHING, ...args]) {
    const written = textOf(template);
    const sequences = args.map((arg) => isSequence(arg) && arg.content !== null);
    const count = sizeOf(args, sequences);
    if (args.some((arg) => arg.type === "any" && !isKnown(arg)) || args.some((arg, i) => sequences[i] && !isKnown(arg)))
      return unknown({ list: "string" });
    // The elements of a set may turn out to be fewer.
    if (args.some((arg) => shapeOf(arg.type) === "set" && !isWhollyKnown(arg))) return unknown({ list: "string" });
    if (count === 0) return texts([]);
    const made = Array.from({ length: count ?? 1 }, (_, k) => {
      const row = args.map((arg, i) => (sequences[i] === true ? (elementsOf(arg)[k] ?? NOTHING) : arg));
      return row.every(isWhollyKnown) ? text(iteration(written, row, k, args.length)) : unknown("string");
    });
    return list("string", made);
  },
};

/** How many elements the lists have, which must be the same of all; undefined when there is none whose length is known. */
function sizeOf(args: readonly Typed[], sequences: readonly boolean[]): number | undefined {
  const sizes = args.flatMap((arg, index) =>
    sequences[index] === true && isKnown(arg) ? [{ index, size: elementsOf(arg).length }] : [],
  );
  const [first] = sizes;
  const other = sizes.find(({ size }) => size !== first?.size);
  if (first !== undefined && other !== undefined)
    throw new ArgumentError(
      other.index + 1,
      `argument ${other.index + 1} has length ${other.size}, which is inconsistent with argument ${first.index + 1} of length ${first.size}`,
    );
  return first?.size;
}

function iteration(template: string, row: readonly Typed[], index: number, count: number): string {
  try {
    return formatted(template, row);
  } catch (error) {
    if (count === 0 || !(error instanceof CallError || error instanceof ArgumentError)) throw error;
    throw new CallError(`error on format iteration ${index}: ${error.message}`);
  }
}

export const FORMAT: Readonly<Record<string, Definition>> = { format, formatlist };
