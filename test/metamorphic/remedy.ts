/** Executes the fix that a message prints, exactly as printed. */
import { addressesOf, type Declaration } from "./declaration.ts";
import { FACTS } from "./kinds.ts";
import { type Place, type Ran, STATE } from "./place.ts";

/** One command of the message, for one object. */
export interface Step {
  readonly key: string;
  /** True if the object is adopted without the response to its create. */
  readonly imports: boolean;
  run(): Promise<unknown>;
}

/** Returns the commands of the message in their order, or undefined if the message contains no known command. */
export function remedyIn(ran: Ran, declared: Declaration, place: Place): readonly Step[] | undefined {
  const steps = /hostform resolve/.test(ran.text) ? verdicts(ran, declared, place) : imports(ran, declared, place);
  return steps.length === 0 ? undefined : steps;
}

/** Returns a `hostform resolve` command for each pending create. The account decides between adopting and dropping. */
function verdicts({ front }: Ran, declared: Declaration, place: Place): Step[] {
  const state = place.terraform.state(STATE);
  return [...addressesOf(declared)].flatMap(([key, address]) => {
    const id = place.books.live().find((one) => one.key === key)?.id;
    if (id !== undefined && state.get(address)?.attributes.id === id) return [];
    const verdict = id === undefined ? ["--absent"] : ["--adopt", id];
    return { key, imports: false, run: () => place.resolve(front, address, ...verdict) };
  });
}

function imports({ text, front }: Ran, declared: Declaration, place: Place): Step[] {
  const addresses = addressesOf(declared);
  const [, keyValue] = FACTS[declared.kind].key;
  const state = place.terraform.state(STATE);
  const found = [...text.matchAll(/(terraform|hostform) import (\S+) '?([^'`\s]+)'?/g)];
  const byId = new Map(found.map(([, program, , id = ""]) => [id, program]));
  return [...byId].flatMap(([id, program]) => {
    const key = place.books.live().find((one) => one.id === id.split("/").at(-1) || keyValue(one.key) === id)?.key;
    const address = key === undefined ? undefined : addresses.get(key);
    if (key === undefined || address === undefined) return [];
    const run = async () => {
      if (state.has(address)) await place.run("terraform", "state", "rm", address);
      if (program === "hostform") await place.run(front, "import", address, id);
      else await place.run("terraform", "import", "-no-color", "-input=false", address, id);
    };
    return { key, imports: true, run };
  });
}
