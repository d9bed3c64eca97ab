import { App } from "cdktf";
import { SiteStack } from "./site-stack.ts";

const app = new App();
new SiteStack(app, "site");
app.synth();
