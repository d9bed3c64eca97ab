/**
 * Converts YAML to a declaration in four steps: source texts (`files`); trees of values with locations (`yaml`, the only
 * module that knows YAML syntax); documents with resources and settings (`document`, `resource`, `settings`); the merged
 * declaration with references and outputs (`declaration`, `references`, `outputs`, `environment`). In: files, the kinds (as a
 * parameter), environment variables. Out: `Desired`, and all errors with line and column. Must not: validate attributes (the
 * lifecycle does this, with locations from `locate`), evaluate references between resources, print a token, or throw because
 * of the content of a file.
 */
export { providerSettings } from "../../core/kinds/provider-settings.ts";
export { parseDeclaration } from "./declaration.ts";
export { FileEdit, insertNested, type KeyPath, type NestedPlace } from "./edit.ts";
export { environmentState } from "./environment.ts";
export { type DeclarationFiles, declarationText, type ReadOptions, readDeclaration } from "./files.ts";
export { expandedYaml, formatYaml } from "./format.ts";
export { channelList } from "./notify.ts";
export {
  appendDocument,
  type Block,
  literal,
  printDocument,
  printTemplates,
} from "./print.ts";
export { guardSettings, secretSourceForms } from "./settings.ts";
export { variableForm } from "./variables.ts";
export { OWN_LIMITS } from "./yaml.ts";
