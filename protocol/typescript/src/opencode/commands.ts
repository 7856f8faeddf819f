/**
 * Commands of a person: `/workflow bugfix …`, `/workflow-status`, or the same as a prompt.
 *
 * opencode has no command without the model: a command becomes a message. So the answer is in the message, and the model is
 * asked to repeat it, unless the command has work for it.
 */
import { setTimeout } from "node:timers/promises";
import { SHELL_MARK, TYPED_BY_AGENT } from "../agent-shell.ts";
import { isActive } from "../branch.ts";
import { messageOf, SidecarError } from "../error.ts";
import type { OfflineCommand } from "../offline.ts";
import { ANSWER, type Command, mayBeCommand, parseArguments, parsePrompt, unquoted } from "./prompt.ts";
import { type Screen, STATUS_FOLLOWS_MS } from "./screen.ts";
import type { Addition, CommandOutput, Session } from "./session.ts";
import type { Sidecar } from "./sidecar.ts";

export class Commands {
  readonly #sidecar: Sidecar;
  readonly #screen: Screen;
  readonly #env: NodeJS.ProcessEnv;

  constructor(sidecar: Sidecar, screen: Screen, env: NodeJS.ProcessEnv = process.env) {
    this.#sidecar = sidecar;
    this.#screen = screen;
    this.#env = env;
  }

  /** The commands to register, with their descriptions. */
  get declarations(): { name: string; description: string }[] {
    const answer = { name: ANSWER, description: "Answer an open question of the workflow: /workflow-answer {answer}" };
    return [...this.#sidecar.manifest.commands.map(({ name, description }) => ({ name, description })), answer];
  }

  /** Reads a prompt; `undefined` if it is no command. */
  async parse(prompt: string, session: Session): Promise<Command | undefined> {
    return mayBeCommand(prompt) ? parsePrompt(prompt, await this.#workflows(session)) : undefined;
  }

  /** Reads a command of opencode; `undefined` if it is not one of these. */
  async parseTyped(name: string, words: string, session: Session): Promise<Command | undefined> {
    if (!this.declarations.some((command) => command.name === name)) return undefined;
    const argument = unquoted(words);
    const known = name === "workflow" ? parseArguments(argument, await this.#workflows(session)) : undefined;
    return known ?? { name, arguments: argument };
  }

  /** Carries out a command, and returns what is added to its message. */
  async run(command: Command, session: Session): Promise<Addition> {
    if (this.#env[SHELL_MARK] !== undefined) return this.#show(TYPED_BY_AGENT, session);
    if (command.name === ANSWER) return this.#show(session.questions.answer(command.arguments), session);
    const output: CommandOutput = { notices: [], messages: [] };
    session.command = output;
    const done = this.#carryOut(command, output, session).then(() => true);
    // Another prompt has the answer to a question, so this one ends, and the command goes on by itself.
    const asked = session.questions.asked().then(() => setTimeout(STATUS_FOLLOWS_MS, false));
    let question: string | undefined;
    try {
      question = (await Promise.race([done, asked])) ? undefined : session.questions.show();
      if (question === undefined) await done;
    } finally {
      session.command = undefined;
    }
    if (output.messages.length > 0) return { text: output.messages.join("\n\n"), isWork: true };
    return this.#repeat([...output.notices, question].filter((text) => text).join("\n\n") || "Done.", session);
  }

  async #carryOut(command: Command, output: CommandOutput, session: Session): Promise<void> {
    try {
      await this.#sidecar.ask("command/run", session, { name: command.name, arguments: command.arguments }, { patient: true });
    } catch (error) {
      if (!(error instanceof SidecarError)) throw error;
      const text = this.#runOffline(command, session) ?? `The command did nothing: ${messageOf(error)}.`;
      output.notices.push(text);
      this.#screen.show(text, "warning", session.questions);
    }
  }

  async #workflows(session: Session): Promise<string[]> {
    const answer = await this.#sidecar.report("workflow/list", session, {});
    const names = (answer?.workflows ?? []).map(({ commandName }) => commandName);
    // One with errors as well: the refusal names them.
    const broken = (answer?.diagnostics ?? []).map(({ severity, workflow }) => (severity === "error" ? workflow : undefined));
    return [...names, ...broken].filter((name) => name !== undefined);
  }

  /** Ends a run without the sidecar. Returns what to say; `undefined` if the command needs the sidecar. */
  #runOffline({ name }: Command, session: Session): string | undefined {
    const offline: OfflineCommand | undefined = this.#sidecar.manifest.commands.find((command) => command.name === name)?.offline;
    if (!offline) return undefined;
    const newest = session.entries.find((entry) => entry.customType === offline.customType);
    if (!newest || !isActive([newest], this.#sidecar.manifest.entryTypes)) return offline.nothing;
    session.append(offline.customType, { ...(newest.data as object), ...offline.change });
    this.#sidecar.resync();
    return offline.done;
  }

  #show(answer: string, session: Session): Addition {
    this.#screen.show(answer, "warning", session.questions);
    return this.#repeat(answer, session);
  }

  /** Has the model repeat an answer. */
  #repeat(answer: string, session: Session): Addition {
    const then = session.isBusy ? "then do what you were told before" : "and do nothing else";
    const text = this.#screen.hasPerson
      ? `[workflow] The workflow engine has answered this command of the user. Repeat the answer to the user word for word, ${then}:\n\n${answer}`
      : `[workflow] The workflow engine has answered this command of the user, and has shown the answer to the user. Reply only "Done.", ${then}.`;
    return { text, isWork: false };
  }
}
