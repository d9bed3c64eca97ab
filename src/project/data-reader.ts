/** Reads the data sources of a declaration with the open providers of a run. */
import type { ReadData } from "../core/engine/index.ts";
import {
  amended,
  type Clock,
  type Desired,
  type Diagnostic,
  fail,
  failWith,
  isError,
  type JsonObject,
  located,
} from "../core/model/index.ts";
import type { Provider, Providers } from "./providers.ts";

type DataSession = import("../fronts/terraform/index.ts").DataSession;

/**
 * Returns the function that reads the data sources of a declaration. Undefined if there are none.
 * @param fresh True during an apply: earlier lists lack the objects that the apply created.
 */
export async function dataReader(
  clock: Clock,
  { data = [] }: Desired,
  providers: Providers,
  stop: AbortSignal,
  fresh = false,
): Promise<ReadData | undefined> {
  if (data.length === 0) return undefined;
  const [{ dataSources }, { checkSource }] = await Promise.all([
    import("../fronts/terraform/data/index.ts"),
    import("../fronts/terraform/data/define.ts"),
  ]);
  const byName = new Map(dataSources.map((source) => [source.name, source]));
  // One session per account, so that parallel reads share lists.
  const sessions = new Map<Provider, DataSession>();
  const sessionOf = (provider: Provider): DataSession => {
    const {
      client,
      account,
      config: { moneyScale },
    } = provider;
    const collections: DataSession["collections"] = {
      isAlone: () => Promise.resolve(true),
      upToDate: (kind, parent) => account.forget(kind, parent),
    };
    const known = sessions.get(provider) ?? { client, account, moneyScale, clock, stop, ...(fresh && { collections }) };
    sessions.set(provider, known);
    return known;
  };
  return async (source, declared) => {
    const at = ({ attribute = [], ...rest }: Diagnostic) =>
      located({ address: source.address, attribute, ...rest }, source.locate(attribute));
    const found = byName.get(source.type) ?? fail("internal", `There is no data source ${source.type}`);
    const session = sessionOf(await providers.use(source.provider));
    const absent = Object.keys(found.schema.attributes).map((name) => [name, null]);
    const asked: JsonObject = { ...Object.fromEntries(absent), ...declared };
    const refused = checkSource(found, asked, "data").filter(isError);
    failWith(refused.map(at));
    try {
      return await found.read(asked, session);
    } catch (error) {
      throw amended(error, at);
    }
  };
}
