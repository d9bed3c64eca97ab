/**
 * Converts YAML to the desired state in four steps: source texts (`files`), trees of values with their locations (`yaml`),
 * documents with resources and settings (`document`, `resource`, `settings`), and the merged declaration with its references and
 * outputs (`declaration`, `references`, `outputs`, with the settings and values of an `environment`). Only `yaml` knows about
 * YAML. In: files, the kinds (as a parameter), the environment. Out: `Desired`, and every error with line and column. Must not:
 * check the values of attributes (the lifecycle does, and gets locations from `locate`), evaluate the templates of resources,
 * show a token, or throw for the content of a file.
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
