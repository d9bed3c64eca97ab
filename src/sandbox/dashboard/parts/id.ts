/** Records by their ids. */
import type { OpenCollection } from "../../control/records.ts";
import type { Control } from "../../control/control.ts";
import { Refusal } from "../../refusal.ts";
import type { Collections } from "../../store/records.ts";
import type { Visit } from "../page.ts";

/** The id in the page's path. @throws Refusal 404 for what is none */
export function idOf({ params }: Visit, what: string): number {
  const text = params.id ?? "";
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(404, `There is no ${what} "${text}".`);
  return Number(text);
}

/** The record, or undefined where there is none: what one record says of another need not be there any more. */
export function find<K extends OpenCollection>(
  control: Control,
  collection: K,
  id: number,
): Collections[K] | undefined {
  try {
    return control.get(collection, id);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
