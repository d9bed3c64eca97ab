import { createHash } from "node:crypto";
import { fail } from "../../../core/model/index.ts";
import type { Invocation } from "../../io.ts";
import { loadProject } from "../../project.ts";
import { chooseStacks, invocationOn } from "../../stack/activate.ts";

/** How long a declaration has to stay the same before it is acted upon. */
const SETTLE_MS = 3_000;
/** A declaration that changes this often in succession is written by something that does not stop. */
const MOST_READINGS = 12;

/** The declaration as it is now: an invocation of its own, as every command reads the declaration once. */
export async function readAnew(invocation: Invocation): Promise<Invocation> {
  const { stack } = invocation;
  if (stack === undefined) return { ...invocation };
  const source = { path: stack.run.source, only: [stack.name], variables: stack.run.options };
  const { stacks, run } = await chooseStacks(invocation, source, stack.run.purpose);
  const [only] = stacks;
  return only === undefined ? { ...invocation } : invocationOn(invocation, only, run);
}

/** Reads the declaration, look after look, and holds back what is being written just now. */
export class SettledDeclaration {
  readonly #invocation: Invocation;
  #known = "";

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  /**
   * The declaration, once it has stayed the same for {@link SETTLE_MS}, if it differs from what was read last time: half of
   * a file that an editor or a checkout is writing can be valid, and would mean that the other half is to be removed.
   * @throws HostformError with the mistakes in it; `config.unreadable` when it does not stop changing.
   */
  async read(signal: AbortSignal, onWait: () => void): Promise<Invocation> {
    let { own, digest } = await this.#read();
    for (let readings = 0; digest !== this.#known; readings++) {
      if (readings === 0) onWait();
      if (readings === MOST_READINGS) {
        fail("config.unreadable", "The declaration does not stop changing, so it is not acted upon", {
          detail: `It was another one at each of ${MOST_READINGS} readings.`,
          fix: "Find out what writes it again and again; if a template makes it, write it once.",
        });
      }
      await this.#invocation.io.clock.sleep(SETTLE_MS, signal);
      const again = await this.#read();
      if (again.digest === digest) this.#known = digest;
      ({ own, digest } = again);
    }
    return own;
  }

  async #read(): Promise<{ own: Invocation; digest: string }> {
    const own = await readAnew(this.#invocation);
    const { desired } = await loadProject(own);
    // What a stack's expressions mean stands in its files and variables, not in what is shown of them.
    return { own, digest: digestOf([desired, own.stack?.files, own.stack?.given]) };
  }
}

/** The same for two declarations that were written alike. */
function digestOf(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts, (_, value: unknown) => (value instanceof Map ? [...value] : value));
  return createHash("sha256").update(text).digest("hex");
}
