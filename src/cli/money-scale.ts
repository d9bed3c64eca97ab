import { moneyScaleOf } from "../core/kinds/provider-settings.ts";
import type { ProviderConfig } from "../core/model/index.ts";

/** The providers with the scale that the environment adds. @throws HostformError as {@link moneyScaleOf} does. */
export function withMoneyScale(
  providers: ReadonlyMap<string, ProviderConfig>,
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, ProviderConfig> {
  const scaled = (config: ProviderConfig): ProviderConfig => {
    const moneyScale = moneyScaleOf(config, env);
    return moneyScale === undefined ? config : { ...config, moneyScale };
  };
  return new Map([...providers].map(([alias, config]) => [alias, scaled(config)]));
}
