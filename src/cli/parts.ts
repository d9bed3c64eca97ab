/** The parts of a plan and an apply, for suites that drive the built files with their own terminal. */
export { carryOut } from "../project/apply.ts";
export { withPlan } from "../project/plan.ts";
export { Project } from "../project/project.ts";
export { guardIo } from "./guarded-io.ts";
export { opened } from "./terminal.ts";
