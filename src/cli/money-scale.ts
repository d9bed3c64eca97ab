import { fail, type ProviderConfig } from "../model/index.ts";

/**
 * HOSTING_MONEY_SCALE goes with HOSTING_BASE_URL: it is the scale of the host there, for providers that declare neither.
 * `hostform sandbox` prints both. @throws HostformError `config.invalid_value`.
 */
export function withMoneyScale(
  providers: ReadonlyMap<string, ProviderConfig>,
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, ProviderConfig> {
  const text = env.HOSTING_MONEY_SCALE || undefined;
  if (text === undefined) return providers;
  if (!/^[0-4]$/.test(text)) {
    fail("config.invalid_value", "The environment variable HOSTING_MONEY_SCALE is not a number of digits", {
      fix: "Set it to 0 to 4, or unset it.",
    });
  }
  const scaled = (config: ProviderConfig): ProviderConfig =>
    config.moneyScale === undefined && config.baseUrl === undefined ? { ...config, moneyScale: Number(text) } : config;
  return new Map([...providers].map(([alias, config]) => [alias, scaled(config)]));
}
