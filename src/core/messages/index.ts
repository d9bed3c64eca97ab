/**
 * The catalogue: each message of the core, by its code. In: a name and typed parameters. Out: a diagnostic. One file for each
 * subject. Must not: import any room but `core/model`, name a command, a flag or a line of a declaration: remedies are data.
 */
import { type Condition, conditionOf } from "../model/index.ts";
import { conditions } from "./conditions.ts";
import { creates } from "./creates.ts";
import { type Given, problemsOf } from "./message.ts";
import { objects } from "./objects.ts";
import { processes } from "./processes.ts";
import { statusWords } from "./status-words.ts";

/** Every message of the core. No two subjects have one name in common. */
export const catalogue = { ...objects, ...creates, ...statusWords, ...processes, ...conditions };

/**
 * Makes a diagnostic from a message. An unknown name, a missing and a wrong parameter are errors of the compiler.
 * @example problem("plan.gone/paid", { address: "hosting_service.www", noun: "service", object: "1004", how: "no longer exists" })
 */
export const problem = problemsOf(catalogue);

/** Makes a condition from its message: `conditionFor("own_form", …)`. */
export const conditionFor = <Name extends Condition["condition"]>(
  name: Name,
  given: Given<(typeof catalogue)[`condition.${Name}`]>,
): Condition => conditionOf(problem(`condition.${name}`, given as never));
