import { type Backend, ifExplained } from "../core/model/index.ts";
import { type StateKeys, stateKeys } from "./backend.ts";
import { ProjectDeclaration } from "./declaration.ts";
import type { Redaction } from "./redaction.ts";
import type { Host, Log, ProjectParts, ProjectSource } from "./source.ts";
import { ProjectState } from "./state.ts";

export class Project implements ProjectParts {
  readonly source: ProjectSource;
  readonly host: Host;
  readonly redaction: Redaction;
  readonly log: Log;
  readonly declaration: ProjectDeclaration;
  readonly state: ProjectState;
  readonly #keys: StateKeys;

  /** @param keys Keys of the state. Each key is derived or requested once per run. */
  constructor(parts: ProjectParts, keys = stateKeys(parts, () => tokensOf(this.declaration))) {
    const { source, host, redaction, log } = parts;
    this.source = source;
    this.host = host;
    this.redaction = redaction;
    this.log = log;
    this.#keys = keys;
    this.declaration = new ProjectDeclaration(source, redaction, (backend) => this.state.outputsAt(backend));
    this.state = new ProjectState(parts, this.declaration, keys);
  }

  /** Returns the declared backend. A mistake in the declaration counts as none: the run reports it elsewhere. */
  backend(): Promise<Backend | undefined> {
    return this.declaration.backend().catch(ifExplained(() => undefined));
  }

  /** Returns the same project with another source (such as one of its stacks), or other parts. Reads its declaration again. */
  on(source: ProjectSource, parts: Partial<Pick<ProjectParts, "host" | "log" | "redaction">> = {}): Project {
    const { host, redaction, log } = this;
    return new Project({ host, redaction, log, ...parts, source }, this.#keys);
  }
}

/** Returns the names of environment variables with tokens. Empty if the declared providers have mistakes. */
export const tokensOf = async (
  declaration: Pick<ProjectDeclaration, "providers">,
): Promise<readonly (string | undefined)[]> => {
  const providers = await declaration.providers().catch(ifExplained(() => new Map()));
  return [...providers.values()].map(({ tokenEnv }) => tokenEnv);
};
