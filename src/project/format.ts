/** The one form of a file of a declaration, for the command line. */
import { kinds } from "../core/kinds/index.ts";
import { formatYaml } from "../fronts/yaml/index.ts";

/** @param path for messages. @throws HostformError with the mistakes of its syntax. */
export const formatted = (path: string, text: string): string => formatYaml({ path, text }, kinds);
