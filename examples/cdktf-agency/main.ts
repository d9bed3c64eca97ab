import { App } from "cdktf";
import { agency } from "./agency.ts";

const app = new App();
agency(app);
app.synth();
