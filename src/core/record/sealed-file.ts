import { z } from "zod";
import type { JsonObject } from "../model/index.ts";
import { fail, HostformError } from "../model/index.ts";
import type { Seal } from "./sealing.ts";

/** The newest form of an encrypted state that is understood here. */
const FORM = 1;

const file = z.strictObject({
  hostform_encryption: z.literal(FORM),
  /** In the clear, for programs that compare them; authenticated, so that they cannot be changed. */
  lineage: z.string(),
  serial: z.int().min(0),
  /** The header of the seal. */
  key: z.record(z.string(), z.json()),
  /** The state file, sealed. */
  data: z.string(),
});

/** An encrypted state as it is stored. */
export interface SealedFile {
  readonly lineage: string;
  readonly serial: number;
  readonly key: JsonObject;
  readonly data: string;
}

/** Seals the text of a state file and prints what is stored in its place. */
export function sealState(text: string, seal: Seal): string {
  const { lineage, serial } = JSON.parse(text) as { lineage: string; serial: number };
  const data = seal.seal(text, boundTo(lineage, serial));
  return `${JSON.stringify({ hostform_encryption: FORM, lineage, serial, key: seal.header, data }, null, 2)}\n`;
}

/**
 * The inverse of {@link sealState}.
 * @param source what it came from, for messages.
 * @throws HostformError `state.unreadable` when it was changed.
 */
export function openState({ lineage, serial, data }: SealedFile, seal: Seal, source: string): string {
  try {
    return seal.open(data, boundTo(lineage, serial));
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    return refuse(
      source,
      "The key is the right one, but the content is not what was encrypted with it, or its lineage or serial was changed.",
    );
  }
}

/**
 * Parses an encrypted state; undefined for what is none.
 * @param source what the text came from, for messages.
 * @throws HostformError `state.unreadable` when it is one, but damaged; `state.newer`.
 */
export function parseSealed(text: string, source: string): SealedFile | undefined {
  // A state in the clear may be large: it is not parsed only to find that it is one.
  if (!text.includes('"hostform_encryption"')) return undefined;
  const json = parse(text);
  if (json === undefined && /^\s*\{\s*"hostform_encryption"/.test(text))
    return refuse(source, "It was cut off, or is not JSON any more.");
  if (typeof json !== "object" || json === null || !("hostform_encryption" in json)) return undefined;
  if (Number(json.hostform_encryption) > FORM) {
    fail(
      "state.newer",
      `The encrypted state in ${source} has form ${json.hostform_encryption}, hostform knows forms up to ${FORM}`,
      {
        fix: "Use the version of hostform that wrote it, or a later one.",
      },
    );
  }
  const checked = file.safeParse(json);
  return checked.success ? checked.data : refuse(source, "A field of it is missing, malformed, or one too many.");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Journal lines are bound to something else, so that neither can stand in the place of the other. */
function boundTo(lineage: string, serial: number): string {
  return JSON.stringify(["state", lineage, serial]);
}

function refuse(source: string, detail: string): never {
  fail("state.unreadable", `The encrypted state in ${source} was changed or damaged`, {
    detail,
    fix: "Restore it from version control or a backup.",
  });
}
