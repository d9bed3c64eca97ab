import { didYouMean, EVENTS, type EventName, fail } from "../../../core/model/index.ts";

/**
 * Names of events as they are typed: several in one word with commas between, or several words. @returns each once.
 * @throws HostformError `usage` for one that §6 does not list.
 */
export function eventNames(words: readonly string[]): readonly EventName[] {
  const names = words.flatMap((word) => word.split(",")).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== "").map(eventName))];
}

function eventName(name: string): EventName {
  const known = EVENTS.find((one) => one === name);
  if (known !== undefined) return known;
  return fail("usage", `There is no event ${JSON.stringify(name)}.${didYouMean(name, EVENTS)}`, {
    fix: `The events are ${EVENTS.join(", ")}.`,
  });
}
