/**
 * A fake sidecar for tests, which answers and misbehaves as configured.
 *
 * Its behaviour is an argument, as JSON: {answers: {method: result}, hang: [method], die: [method],
 * once: file, log: file, lingers: ms, errors: {method: error}, before: {method: [message]}, raw: {method: text}}. A method in `hang` or `die` does so
 * only until `once` exists, if that is given. Each call is appended to `log`; further arguments are written beside it.
 */
import { appendFileSync, existsSync, writeFileSync } from "node:fs";

const { answers = {}, hang = [], die = [], errors = {}, before = {}, raw = {}, once, lingers = 0, stderr, log: logFile } = JSON.parse(process.argv[2]);
if (stderr) process.stderr.write(stderr);
if (logFile && process.argv.length > 3) writeFileSync(`${logFile}.arguments`, JSON.stringify(process.argv.slice(3)));

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const log = (entry) => logFile && appendFileSync(logFile, `${JSON.stringify(entry)}\n`);

/** Returns true while it should misbehave. */
function shouldMisbehave() {
  if (!once) return true;
  if (existsSync(once)) return false;
  writeFileSync(once, "");
  return true;
}

let isHanging = false;
function onLine(line) {
  const message = JSON.parse(line);
  log(message);
  const { id, method } = message;
  if (isHanging || method === undefined) return;
  if (hang.includes(method) && shouldMisbehave()) {
    isHanging = true;
    return;
  }
  if (die.includes(method) && shouldMisbehave()) process.exit(7);
  for (const earlier of before[method] ?? []) send(earlier);
  if (raw[method] !== undefined) process.stdout.write(raw[method].replaceAll("<id>", String(id)));
  else if (errors[method]) send({ id, error: errors[method] });
  else if (id !== undefined) send({ id, result: answers[method] ?? (method === "shutdown" ? null : {}) });
  if (method === "shutdown") process.exit(0);
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) onLine(line);
});
process.stdin.on("end", () =>
  setTimeout(() => {
    if (lingers) log({ method: "finished" });
    process.exit(0);
  }, lingers),
);
