import { availableParallelism } from "node:os";
import path from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";

// Each test file is a process that loads the same tools, and so is each command that a test starts: compiled once.
process.env.NODE_COMPILE_CACHE ??= path.join(import.meta.dirname, "node_modules/.cache/hostform-tests");
// And those of Go (the compiler, Terraform) end before there is much garbage to collect, and another test runs beside them.
process.env.GOGC ??= "400";
process.env.GOMAXPROCS ??= "1";

/**
 * Files with a process of their own, each with the reason. All others share processes: what a support module opens for them it
 * closes by `onTestFinished`, as a hook at its top level runs for the first file of a process alone.
 */
export const APART = [
  // Replaces node:crypto.
  "test/unit/webhooks/signature.test.ts",
];

/** What takes longest comes first, so that at the end no worker waits for the last of them: files, then folders. */
const LONGEST = [
  "docs/pages",
  "terraform/chaos",
  "simulation",
  "package/package",
  "conformance/terraform-crash",
  "reliability/error-table",
  "hostile/api",
  "reliability/kill-sweep",
  "unit/project/trust-table",
  "terraform",
  "docs",
  "dashboard",
  "conformance",
  "reliability",
  "servers",
  "journeys",
  "hostile",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer["sort"]>[0]) {
    const rank = ({ moduleId }: (typeof files)[number]) => {
      const file = path.relative(path.join(import.meta.dirname, "test"), moduleId).replaceAll(path.sep, "/");
      const at = LONGEST.findIndex((start) => file.startsWith(`${start}.`) || file.startsWith(`${start}/`));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    // A proxy or token of the machine must not reach the tests.
    env: { HTTPS_PROXY: "", HTTP_PROXY: "", https_proxy: "", http_proxy: "", HOSTING_TOKEN: "", HOSTING_BASE_URL: "", NO_COLOR: "1", TZ: "UTC" },
    globalSetup: "test/support/own-state-home.ts",
    // For what hangs: other work on the machine may make a test five times as slow.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    // One for each core: with one more, each test takes longer and all of them no less.
    maxWorkers: availableParallelism(),
    // Node itself loads the modules: those that vite rewrites run a fifth slower.
    experimental: { viteModuleRunner: false },
    // Small projects by the thousand: with room for new objects, an eighth of the time is saved that collecting them takes. And
    // one thread beside each worker: the other core has a worker of its own.
    execArgv: ["--max-semi-space-size=64", "--v8-pool-size=1"],
    sequence: { sequencer: LongestFirst },
    coverage: { provider: "v8", include: ["src/**/*.ts"] },
    projects: [
      { extends: true, test: { name: "apart", include: APART } },
      { extends: true, test: { name: "shared", include: ["test/**/*.test.ts"], exclude: [...configDefaults.exclude, ...APART], isolate: false, setupFiles: "test/support/resolve-once.ts" } },
    ],
  },
});
