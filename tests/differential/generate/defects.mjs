/**
 * Defects and oddities of definitions: each changes the model of one workflow, or adds one.
 *
 * @module
 */

import { phase, workflow } from "./definitions.mjs";
import { raw } from "./yaml-text.mjs";

/**
 * @typedef {object} Scene
 * @property {import("../random.mjs").Random} random
 * @property {import("./definitions.mjs").Model[]} models
 * @property {Record<string, any>} files   further files of the tier
 */

/** @typedef {(scene: Scene, model: import("./definitions.mjs").Model) => void} Defect */

const parts = (model) => model.phases.filter((p) => !("ref" in p));
const replaceYaml = (model, change) => model.rewrite.push((content, path) => (path === "workflow.yaml" ? change(content) : content));

/** Changes one concrete phase, and adds one if there is none. */
const onPhase = (change) => (scene, model) => {
  if (parts(model).length === 0) model.phases.push(phase(scene.random, 9));
  change(scene.random.pick(parts(model)), scene, model);
};

const setField = (name, values) => ({ random }, model) => {
  model.fields[name] = random.pick(values);
};

const YAML_TEXTS = [
  "name: [unclosed\n", "name: a\nname: b\n", "\tname: a\n", "name: a\n---\nname: b\n", "- a\n- b\n", "just text\n", "", "# only a comment\n",
  "name: *nowhere\n", "name: \"unclosed\n", "? complex\n", "null\n", "{}\n", "name: a: b\n", "name: @at\n", "key: |\n a\nb\n",
];

const NOT_STRINGS = [raw("5"), raw("true"), raw("~"), raw("[a]"), raw("{a: b}"), raw("1e3"), raw("0x1F"), raw("0o17"), raw("017"), raw(".inf"), raw("True"), raw("")];
const STRINGS_AFTER_ALL = [raw("yes"), raw("on"), raw("off"), raw("2024-01-01"), raw("12:30:45"), raw("0b1"), raw("1_000"), raw("'5'"), raw("! 5"), raw("!!str 5"), raw("~x"), raw("<<"), raw("tRue")];

/** Valid and invalid YAML values, indented for a top-level field. */
const ODD_SCALARS = [
  ">-\n  folded\n  text", ">\n  a\n\n  b\n", ">+\n  a\n\n", "|+\n  keep\n\n", "|2-\n    x", "|1\n  x", "|-\n  a\n   b\n\n  c", "|\n\n  late", "| # comment\n  x", ">1-\n   x",
  "plain\n  continued", "plain\n\n  twice", "plain # comment", "plain#no comment", "plain  ", "plain\t", "\tplain", "  plain", "-", "- a", "-a", "--- a", "?", "? a", "?a", ":", ":a", "a:", "a:b", "a: b", "a ::b",
  '"a\\x41\\u263a\\n\\t\\/"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\U0001F600"', '"\\e\\_\\N\\L\\P\\a\\0"', '"\\q"', '"multi\n  line"', '"a\\\n  b"', '"a\n\n  b"', "'it''s'", "'a\n\n  b'", "'it's'", '"x" y', "'x' y", '"x"# y', '""', "''", '"a\tb"',
  "! x", "!!str 12", "!!int 12", "!!int x", "!!bool true", "!!null ''", "!custom x", "!!float 1", "&a x", "&a", "*a", "&a &b x", "!!str &a 5", "&a !!str 5",
  "+1", "-0", "-0.0", ".5", "1.", "1.5", "0b11", "0xZZ", "0x1F", "0xff", "1_000", "1e3", "1e3x", "1e400", "+.inf", ".INF", "-.Inf", ".NaN", ".nan", "0o8", "0o17", "08", "017", "1:30", "12345678901234567890", "9007199254740993",
  "Null", "NULL", "nUll", "null", "~", "TRUE", "True", "tRUE", "false", "y", "Yes", "OFF", "2001-12-14t21:59:43.10-05:00", "2001-12-14", "=", "<<", "{}", "[]", "{a}", "{a: }", "[a, b]", "[a,, b]", "[a, b", "{a: b", "a]", "a}", "a, b", ", a",
  "@x", "`x`", "%x", "a%b", "#x", "x\u00a0", "\u00a0x", "\ufeffx", "x\u0085y", "x\u2028y", "\u{1f600}", "x\u0007y", "*.ts", "&", "*", "|", ">", "!", '"', "'",
];

/** The fields of a workflow and of a phase for such a value. */
const SCALAR_FIELDS = ["name", "name", "initialMessage", "commandName", "sessionNamePrefix", "sessionNameMaxLength", "loopable", "completionMessage", "notDoneReminder", "show"];
const PHASE_SCALAR_FIELDS = ["id", "name", "name", "emoji"];

/** The defects that both sides treat alike. @type {[number, string, Defect][]} */
const AGREED = [
  [3, "yaml is broken", ({ random }, model) => replaceYaml(model, () => random.pick(YAML_TEXTS))],
  [2, "required field missing", ({ random }, model) => void (model.fields[random.pick(["name", "commandName", "initialMessage"])] = undefined)],
  [2, "required field of another type", ({ random }, model) => void (model.fields[random.pick(["name", "commandName", "initialMessage"])] = random.pick(NOT_STRINGS))],
  [2, "string that looks like something else", ({ random }, model) => void (model.fields.name = random.pick(STRINGS_AFTER_ALL))],
  [1, "required field blank", ({ random }, model) => void (model.fields[random.pick(["name", "initialMessage"])] = random.pick(["", "   ", "\u00a0", "\ufeff ", "\u200b", "\u0085"]))],
  [1, "command name of odd characters", setField("commandName", ["a b", "ä", "a.b", "a/b", "-", "_", "A9", "x\n"])],
  [1, "optional text of another type", ({ random }, model) => void (model.fields[random.pick(["sessionNamePrefix", "roleInstruction", "advanceReminder", "blockReasonTemplate", "completionMessage", "notDoneReminder"])] = random.pick(NOT_STRINGS))],
  [2, "phases of another type", ({ random }, model) => void (model.phasesText = random.pick([raw("[]"), raw("a.md"), raw("~"), raw("[5]"), raw("[{}]"), raw("[{subworkflow: 3}]"), raw("[null]"), raw("{a: b}"), raw("[[a.md]]")]))],
  [2, "phase file missing", onPhase((part) => void (part.omit = true))],
  [1, "phase file without frontmatter", onPhase((part) => void (part.whole = "Just text.\n"))],
  [1, "frontmatter not closed", onPhase((part) => void (part.whole = "---\nid: a\nname: b\nemoji: c\nText\n"))],
  [1, "frontmatter is broken yaml", onPhase((part, { random }) => void (part.whole = `---\n${random.pick(YAML_TEXTS)}\n---\nText\n`))],
  [1, "frontmatter closed by a longer rule", onPhase((part) => void (part.whole = `---\n${front(part)}${"----\n"}Body after.\n`))],
  [1, "frontmatter closed by a rule with words", onPhase((part) => void (part.whole = `---\n${front(part)}--- words\nBody after.\n`))],
  [1, "frontmatter opened by a longer rule", onPhase((part) => void (part.whole = `----\n${front(part)}---\nBody after.\n`))],
  [1, "phase with a blank line before the frontmatter", onPhase((part) => void (part.whole = `\n---\n${front(part)}---\nBody.\n`))],
  [2, "phase field missing", onPhase((part, { random }) => void (part.front[random.pick(["id", "name"])] = undefined))],
  [2, "phase field of another type", onPhase((part, { random }) => void (part.front[random.pick(["id", "name", "emoji"])] = random.pick(NOT_STRINGS)))],
  [1, "phase field blank", onPhase((part, { random }) => void (part.front[random.pick(["id", "name", "emoji"])] = random.pick(["", " ", "\ufeff"])))],
  [1, "phase string that looks like something else", onPhase((part, { random }) => void (part.front.name = random.pick(STRINGS_AFTER_ALL)))],
  [1, "empty body", onPhase((part, { random }) => void (part.body = random.pick(["", "  \n ", "\ufeff", "\u00a0"])))],
  [1, "body of odd blanks", onPhase((part, { random }) => void (part.body = random.pick(["\u0085x\u0085", "\u200bx\u200b", "\ufeffx\ufeff", "\u00a0x\u2003"])))],
  [2, "both lists", onPhase((part) => void (part.front.tools = { blacklist: ["bash"], whitelist: ["read"] }))],
  [1, "duplicate phase id", ({ random }, model) => void model.phases.push({ ...phase(random, 7), file: "p7.md" }, { ...phase(random, 7), file: "p7b.md" })],
  [1, "empty lists", onPhase((part, { random }) => void (part.front.tools = random.pick([{ blacklist: [] }, { whitelist: [] }])))],
  [2, "reference to nothing", ({ random }, model) => void model.phases.splice(random.int(0, model.phases.length), 0, { ref: random.pick(["nowhere", "", "Release", " "]) })],
  [1, "path out of the tier", onPhase((part, { random }, model) => {
    part.file = random.pick(["../../outside.md", "../../../../../../etc/hostname", "..", ".", "../../workflows-evil/x.md"]);
    part.omit = true;
    model.extra["../outside.md"] = "---\nid: o\nname: Outside\nemoji: o\n---\nOutside.\n";
  })],
  [1, "link out of the tier", onPhase((part, _scene, model) => {
    part.file = "link.md";
    part.omit = true;
    model.extra["../outside.md"] = "---\nid: o\nname: Outside\nemoji: o\n---\nOutside.\n";
    model.extra[`${model.key}/link.md`] = { link: "../../outside.md" };
  })],
  [1, "link within the tier", onPhase((part, _scene, model) => {
    part.file = "link.md";
    part.omit = true;
    model.extra["_shared/linked.md"] = "---\nid: linked\nname: Linked\nemoji: l\n---\nLinked.\n";
    model.extra[`${model.key}/link.md`] = { link: "../_shared/linked.md" };
  })],
  [1, "workflow.yaml is a directory", (_scene, model) => {
    model.extra[`${model.key}/workflow.yaml`] = { dir: true };
  }],
  [1, "stray files", ({ random, files }) => {
    files["readme.md"] = "hello\n";
    files["empty"] = { dir: true };
    files[random.pick(["deep/er/workflow.yaml", ".hidden/workflow.yml"])] = "name: x\n";
  }],
  [1, "carriage returns alone in a phase", onPhase((part) => void (part.whole = `---\n${front(part)}---\nOne\nTwo\n`.replaceAll("\n", "\r")))],
  [1, "byte order mark in workflow.yaml", (_scene, model) => replaceYaml(model, (content) => `\ufeff${content}`)],
  [1, "anchors and merge keys", (_scene, model) => replaceYaml(model, (content) => `base: &b {x: 1}\n<<: *b\n${content}`)],
  [1, "anchored name", (_scene, model) => replaceYaml(model, (content) => `${content.replace(/^name: .*(\n {2,}.*)*\n/, "name: &n Anchored\n")}sessionNamePrefix: *n\n`.replace(/^sessionNamePrefix: (?!\*n)[^\n]*\n/m, ""))],
  [1, "document start and comments", (_scene, model) => replaceYaml(model, (content) => `# comment\n---\n${content}...\n`)],
  [1, "yaml 1.1 directive", (_scene, model) => {
    model.fields.name = raw("yes");
    replaceYaml(model, (content) => `%YAML 1.1\n---\n${content}`);
  }],
  [6, "odd yaml in a workflow", ({ random }, model) => void (model.fields[random.pick(SCALAR_FIELDS)] = raw(random.pick(ODD_SCALARS)))],
  [4, "odd yaml in a phase", onPhase((part, { random }) => void (part.front[random.pick(PHASE_SCALAR_FIELDS)] = raw(random.pick(ODD_SCALARS))))],
  [2, "odd yaml in a list of tools", onPhase((part, { random }) => void (part.front.tools = raw(`\n  blacklist:\n    - ${random.pick(ODD_SCALARS).replaceAll("\n", "\n    ")}\n    - bash`)))],
  [2, "same command twice", ({ random, models }, model) => void (model.fields.commandName = random.pick(models).fields.commandName ?? "twice")],
];

function front(part) {
  const { id, name, emoji } = part.front;
  return `id: ${JSON.stringify(id)}\nname: ${JSON.stringify(name)}\nemoji: ${JSON.stringify(emoji)}\n`;
}

/** The defects that the sides treat differently on purpose, by the ids of the behaviour page. @type {[number, string, Defect][]} */
const DECIDED = [
  [2, "B08 cycle of keys with a full stop", ({ random, models }) => cycle({ random, models }, ["a. b", "c"])],
  [2, "simple cycle", ({ random, models }) => cycle({ random, models }, random.pick([["self"], ["c1", "c2"], ["c1", "c2", "c3"]]))],
  [2, "B09 two cycles that share a member", ({ random, models }) => {
    const [a, b, c] = ["ka", "kb", "kc"].map((key) => workflow(random, key));
    a.phases.push({ ref: "kb" });
    b.phases.push({ ref: "kc" });
    c.phases.push({ ref: "kb" }, { ref: "ka" });
    models.push(a, b, c);
  }],
  [3, "B10 reference to a workflow that goes", ({ random, models }, model) => {
    const broken = workflow(random, "broken");
    broken.phases.push({ ref: "missing" });
    models.push(broken);
    model.phases.push({ ref: "broken" });
  }],
  [2, "B18 directory __proto__", ({ random, models }) => void models.push(Object.assign(workflow(random, "__proto__"), { key: "__proto__" }))],
  [2, "B19 reference to constructor", ({ random, models }) => {
    const model = workflow(random, "odd-ref");
    model.phases.splice(random.int(0, 1), 0, { ref: random.pick(["toString", "valueOf", "isPrototypeOf"]) });
    models.push(model);
  }],
  [2, "B17 name length of another kind", setField("sessionNameMaxLength", [raw("-2"), raw("3.7"), raw(".nan"), raw(".inf"), raw("-.inf"), raw("'5'"), raw("[1]")])],
  [2, "B25 linked workflow directory", ({ random, models, files }) => {
    const target = workflow(random, "linked-target");
    models.push(target);
    files["linked"] = { link: "linked-target" };
  }],
  [1, "B27 absolute path within the tier", onPhase((part, _scene, model) => {
    model.extra[`${model.key}/abs.md`] = "---\nid: abs\nname: Abs\nemoji: a\n---\nAbs.\n";
    part.file = `\${ROOT}/${model.key}/abs.md`;
    part.omit = true;
  })],
  [1, "B28 absolute path that climbs", onPhase((part, _scene, model) => {
    model.extra[`${model.key}/abs.md`] = "---\nid: abs\nname: Abs\nemoji: a\n---\nAbs.\n";
    model.extra["../climbed.md"] = "x";
    part.file = `/../../../../../../../../../../../../\${ROOT}/${model.key}/abs.md`;
    part.omit = true;
  })],
  [2, "B33 list is a string", onPhase((part, { random }) => void (part.front.tools = random.pick([{ blacklist: "bash" }, { whitelist: "read" }, { blacklist: raw("{a: 1}") }, { whitelist: raw("5") }])))],
  [2, "B33 tools of another type", onPhase((part, { random }) => void (part.front.tools = random.pick([raw("bash"), raw("[bash]"), raw("5")])))],
  [1, "tools empty", onPhase((part, { random }) => void (part.front.tools = random.pick([raw("{}"), raw("~"), raw("{blacklist: ~}")])))],
  [2, "B34 loopable of another type", setField("loopable", ["no", "yes", raw("0"), raw("[]"), raw("off")])],
  [2, "B34 show of another value", setField("show", ["hidden", "Users", raw("5"), raw("true"), raw("workflow")])],
  [2, "B47 byte order mark before the frontmatter", onPhase((part, _scene, model) => void model.rewrite.push((content, path) => (path === part.file ? `\ufeff${content}` : content)))],
  [2, "B56 list items of another type", onPhase((part, { random }) => void (part.front.tools = random.pick([{ blacklist: raw("[[bash, edit]]") }, { blacklist: raw("[1]") }, { whitelist: raw("[true, read]") }, { blacklist: raw("[~]") }])))],
  [2, "profiles of another type", onPhase((part, { random }) => void (part.front.availableProfiles = random.pick([raw("coder"), raw("[1, coder]"), raw("{a: b}"), raw("~")])))],
  [2, "Strict keys: near miss of a guard", onPhase((part, { random }) => void (part.front = random.pick([{ ...part.front, tools: raw("{whitlist: [read]}") }, { ...part.front, tools: raw("{blacklst: [bash]}") }, { ...part.front, toolz: raw("{whitelist: [read]}") }])))],
  [1, "Strict keys: a guard of later versions", onPhase((part) => void (part.front.gate = "cargo test"))],
  [1, "Strict keys: a tool name with blanks", onPhase((part, { random }) => void (part.front.tools = random.pick([{ blacklist: ["bash "] }, { whitelist: ["", "read"] }, { blacklist: ["\u00a0edit"] }])))],
  [1, "Strict keys: a name that no tool has", onPhase((part, { random }) => void (part.front.tools = random.pick([{ blacklist: ["editt", "bash"] }, { blacklist: ["“edit”"] }, { whitelist: ["mcp__*"] }])))],
  [2, "Strict keys: unknown key", ({ random }, model) => void (model.fields[random.pick(["author", "zzz", "description"])] = "someone")],
  [2, "B38 keys like integers", ({ random, models }) => void models.push(workflow(random, "7"), workflow(random, "-x"), workflow(random, "10"))],
  [2, "B32 internal workflow with the same command", ({ random, models }) => {
    const inner = workflow(random, "aaa-inner");
    inner.fields = { ...inner.fields, show: "workflows", commandName: "shared-cmd" };
    const outer = workflow(random, "zzz-outer");
    outer.fields = { ...outer.fields, show: undefined, commandName: "shared-cmd", initialMessage: "Go {description}" };
    models.push(inner, outer);
  }],
];

/** Adds a cycle of workflows, and possibly two that refer to it. */
function cycle({ random, models }, keys) {
  const ring = keys.map((key) => workflow(random, key));
  ring.forEach((model, i) => model.phases.push({ ref: keys[(i + 1) % keys.length] }));
  models.push(...ring);
  if (random.chance(0.5)) {
    const into = workflow(random, "into");
    into.phases.push({ ref: keys[0] });
    models.push(into);
    if (random.chance(0.5)) {
      const further = workflow(random, "further");
      further.phases.push({ ref: "into" });
      models.push(further);
    }
  }
}

const ALL = [...AGREED, ...DECIDED];

/** Applies random defects. @param {Scene} scene @returns {string[]} the names of the defects */
export function damage(scene) {
  const names = [];
  for (let i = scene.random.int(1, 4); i > 0; i--) {
    const [, name, apply] = scene.random.weighted(ALL.map((defect) => [defect[0], defect]));
    apply(scene, scene.random.pick(scene.models));
    names.push(name);
  }
  return names;
}

/** Applies a defect that makes the package hang or overflow its stack. @param {Scene} scene @returns {string[]} */
export function entangle(scene) {
  const [, name, apply] = scene.random.pick(DECIDED.filter(([, title]) => /^B0[89] /.test(title)));
  apply(scene, scene.models[0]);
  return [name];
}
