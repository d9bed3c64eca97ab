import { App } from "cdktn";
import { agency } from "./agency.ts";

// A password is write-only, which is known since these versions; cdktn wants to be told that you aim at them.
const app = new App({ context: { targetVersions: { terraform: ">=1.11.0", opentofu: ">=1.11.0" } } });
agency(app);
app.synth();
