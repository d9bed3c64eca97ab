/** Exports the parts of plan and apply, for tests that use the built files with their own terminal. */
export { carryOut } from "../project/apply.ts";
export { withPlan } from "../project/plan.ts";
export { Project } from "../project/project.ts";
export { guardIo } from "./guarded-io.ts";
export { opened } from "./terminal.ts";
