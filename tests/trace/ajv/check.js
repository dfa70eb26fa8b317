// Judges events with ajv: the schema's path is the argument, events come one a line on standard
// input, and for each line `true` or `false` goes to standard output.

import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";

const schema = JSON.parse(readFileSync(process.argv[2], "utf8"));
const ajv = new Ajv2020({
  strict: true, // an unknown keyword or a misspelt one is an error
  strictRequired: false,
  allowUnionTypes: true,
  allowMatchingProperties: true,
});
const isValid = ajv.compile(schema);
const lines = readFileSync(0, "utf8").split("\n").slice(0, -1);
console.log(lines.map((line) => isValid(JSON.parse(line))).join("\n"));
