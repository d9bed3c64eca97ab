import type { App } from "cdktf";
import { clients } from "./clients.ts";
import { DevelopmentStack } from "./development-stack.ts";
import { ProductionStack } from "./production-stack.ts";
import { StagingStack } from "./staging-stack.ts";

/** The three environments. Each is a stack, with its own state. */
export function agency(app: App) {
  const development = new DevelopmentStack(app, "development");
  const { build } = development;
  return {
    development,
    staging: new StagingStack(app, "staging", { clients, build }),
    production: new ProductionStack(app, "production", { clients, build }),
  };
}
