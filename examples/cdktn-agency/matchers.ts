// The matchers of CDK Terrain, which are written for Jest, in Vitest. Tests import this file.
import { Testing } from "cdktn";
import { expect } from "vitest";

Object.assign(globalThis, { expect });
Testing.setupJest();

interface ResourceClass {
  readonly tfResourceType: string;
}

declare module "vitest" {
  interface Matchers<R extends void | Promise<void>, T = unknown> {
    toHaveResource(resource: ResourceClass): R;
    toHaveResourceWithProperties(resource: ResourceClass, properties: Readonly<Record<string, unknown>>): R;
    toHaveProviderWithProperties(provider: ResourceClass, properties: Readonly<Record<string, unknown>>): R;
  }
}
