import { problem } from "../messages/index.ts";
import { walk } from "../model/graph.ts";
import {
  type DesiredData,
  type DesiredOutput,
  type EvalScope,
  ExpressionError,
  type Expressions,
  equal,
  HostformError,
  hasUnknown,
  isNoOp,
  type JsonObject,
  type Origins,
  type Plan,
  resourceOf,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../model/index.ts";
import { declaredOrigins } from "./resolve-config.ts";

/** Reads one data source with GET requests. @param config Arguments; all are known. @throws HostformError. */
export type ReadData = (source: DesiredData, config: JsonObject) => Promise<JsonObject>;

/** Result and arguments of a data source. */
export interface DataReading {
  readonly config: JsonObject;
  readonly value: JsonObject;
}

/** Resource, output or data source that can refer to data sources. */
type Referring = Pick<Expressions | DesiredOutput, "references">;

/**
 * Data sources of a declaration. Each source is read once its arguments are known: before the plan, or during the apply if it
 * depends on a new object. A source that nothing refers to is never read.
 */
export class DataSources {
  readonly #sources: ReadonlyMap<string, DesiredData>;
  /** Addresses of all instances of a source, by its name without instance key. */
  readonly #instances: ReadonlyMap<string, readonly string[]>;
  readonly #read: ReadData | undefined;
  readonly #readings: Map<string, DataReading>;
  readonly #reading = new Map<string, Promise<void>>();

  /** @param read Undefined if the declaration has no source. @param readings Results of an earlier reading. */
  constructor(
    sources: readonly DesiredData[] = [],
    read: ReadData | undefined = undefined,
    readings: ReadonlyMap<string, DataReading> = new Map(),
  ) {
    this.#sources = new Map(sources.map((source) => [source.address, source]));
    this.#instances = Map.groupBy(this.#sources.keys(), resourceOf);
    this.#read = read;
    this.#readings = new Map(readings);
  }

  get readings(): ReadonlyMap<string, DataReading> {
    return this.#readings;
  }

  has(address: string): boolean {
    return this.#sources.has(address);
  }

  /**
   * Returns the result of a source. Unknown if the source was not read with the arguments that this scope gives.
   * @param changing Addresses that a plan changes, with and without instance key. A source that depends on one of them is
   * read during the apply.
   * @throws ExpressionError.
   */
  value(address: string, scope: EvalScope, changing: ReadonlySet<string> = new Set()): Value {
    const source = this.#sources.get(address);
    const reading = this.#readings.get(address);
    if (source === undefined || reading === undefined) return UNKNOWN;
    if (source.dependsOn.some((name) => changing.has(name))) return UNKNOWN;
    return equal(configOf(source, scope), reading.config) ? reading.value : UNKNOWN;
  }

  /** Returns the sensitive arguments of a source. Undefined if the address is no data source. */
  origins(address: string, scope: EvalScope): Origins | undefined {
    const source = this.#sources.get(address);
    return source && declaredOrigins(source, scope);
  }

  /** Reads all sources that `of` refers to, directly or through other sources, if their arguments are known. */
  async ensure(of: readonly Referring[], scope: EvalScope): Promise<void> {
    await Promise.all([...this.named(of)].map((address) => this.#ensure(address, scope)));
  }

  /** Returns the addresses of the sources that `of` refers to directly. */
  named(of: readonly Referring[]): Set<string> {
    const named = new Set<string>();
    if (this.#sources.size === 0) return named;
    for (const { references } of of) {
      for (const { reference } of references) {
        if (reference.to !== "resource" || !reference.address.startsWith("data.")) continue;
        if (this.#sources.has(reference.address)) named.add(reference.address);
        else for (const address of this.#instances.get(reference.address) ?? []) named.add(address);
      }
    }
    return named;
  }

  /**
   * Returns the resources that each source depends on, directly or through other sources. Keys: source names with and without
   * instance key.
   */
  dependencies(): Map<string, string[]> {
    const found = new Map<string, string[]>();
    const sourcesOf = (address: string) => {
      const source = this.#sources.get(address);
      return source && this.named([source]);
    };
    const resourcesOf = (address: string) => {
      const { references = [], dependsOn = [] } = this.#sources.get(address) ?? {};
      const referred = references.flatMap(({ reference }) => (reference.to === "resource" ? [reference.address] : []));
      return [...referred, ...dependsOn].filter((name) => !name.startsWith("data."));
    };
    for (const address of this.#sources.keys()) {
      const names = [...new Set(walk([address], sourcesOf).order.flatMap(resourcesOf))];
      found.set(address, names);
      const whole = resourceOf(address);
      if (whole !== address) found.set(whole, [...new Set([...(found.get(whole) ?? []), ...names])]);
    }
    return found;
  }

  #ensure(address: string, scope: EvalScope): Promise<void> {
    const known = this.#reading.get(address) ?? this.#readNow(address, scope);
    this.#reading.set(address, known);
    return known;
  }

  async #readNow(address: string, scope: EvalScope): Promise<void> {
    const source = this.#sources.get(address);
    if (source === undefined || this.#read === undefined) return;
    await this.ensure([source], scope);
    const config = configOf(source, scope);
    if (hasUnknown(config)) {
      // The arguments may become known later in the run.
      this.#reading.delete(address);
      return;
    }
    const known = config as JsonObject;
    if (equal(this.#readings.get(address)?.config, known)) return;
    this.#readings.set(address, { config: known, value: await this.#read(source, known) });
  }
}

/** Evaluates the arguments of a source. @throws HostformError with the location of the expression. */
function configOf(source: DesiredData, scope: EvalScope): ValueObject {
  return Object.fromEntries(
    Object.keys(source.config).map((name) => {
      try {
        return [name, source.evaluate(name, scope)];
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        const place = { address: source.address, attribute: [name], range: source.locate([name]) };
        throw new HostformError([problem("config.expression", { name, message: error.message, ...place })]);
      }
    }),
  );
}

/** Returns the readings of the plan, without sources that depend on a change. The apply reads these sources again. */
export function readingsBefore(
  { changes }: Pick<Plan, "changes">,
  readings: ReadonlyMap<string, DataReading> = new Map(),
  sources: readonly DesiredData[] = [],
): ReadonlyMap<string, DataReading> {
  const changing = changes.filter((change) => !isNoOp(change));
  const names = new Set(changing.flatMap(({ address }) => [address, resourceOf(address)]));
  const later = sources.filter(({ dependsOn }) => dependsOn.some((name) => names.has(name)));
  const addresses = new Set(later.map(({ address }) => address));
  return new Map([...readings].filter(([address]) => !addresses.has(address)));
}
