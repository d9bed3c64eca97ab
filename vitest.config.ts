import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // A proxy or token of the machine must not reach the tests.
    env: { HTTPS_PROXY: "", HTTP_PROXY: "", https_proxy: "", http_proxy: "", HOSTING_TOKEN: "", HOSTING_BASE_URL: "", NO_COLOR: "1", TZ: "UTC" },
    testTimeout: 20_000,
    hookTimeout: 20_000,
    restoreMocks: true,
    coverage: { provider: "v8", include: ["src/**/*.ts"] },
  },
});
