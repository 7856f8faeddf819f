/**
 * What a person sees of the plugin: toasts, and standard error where opencode has no interface.
 */
import type { OpencodeClient, ToastVariant } from "./host.ts";
import { LastShown, Questions } from "./questions.ts";

/** A text needs time to be read. */
const MS_PER_CHARACTER = 60;
const [SHORTEST_MS, LONGEST_MS] = [5_000, 60_000];
/** The status that changes because of a question comes with it. */
export const STATUS_FOLLOWS_MS = 50;

export class Screen {
  readonly #client: OpencodeClient;
  /** False for `opencode run`, where nobody can be shown a toast or asked. */
  readonly hasPerson: boolean;
  #status = "";
  readonly #lastShown = new LastShown();
  /** The question of each session that is about to be shown. */
  readonly #soon = new Map<Questions, NodeJS.Timeout>();
  /** Why a call of a session was blocked last, and the time by which that is read. */
  #blocked: { text: string; until: number; questions?: Questions } = { text: "", until: 0 };

  constructor(client: OpencodeClient, hasPerson: boolean) {
    this.#client = client;
    this.hasPerson = hasPerson;
  }

  /** Shows a text; that of a session has its questions. */
  show(message: string, variant: ToastVariant, questions?: Questions): void {
    if (!this.hasPerson) return void process.stderr.write(`${message}\n`);
    const title = questions?.sessionTitle() ?? "Workflow";
    // Without an interface at the moment, nobody is there to read it.
    this.#client.tui.showToast({ body: { title, message, variant, duration: timeToRead(message) } }).catch(() => {});
  }

  /** Creates the open questions of a session. Each is shown in one toast with the status if that changes too. */
  questions(sessionTitle: () => string | undefined): Questions {
    const questions: Questions = new Questions(this.#lastShown, sessionTitle, () => {
      clearTimeout(this.#soon.get(questions));
      this.#soon.set(questions, setTimeout(() => this.#showQuestion(questions), STATUS_FOLLOWS_MS));
    });
    return questions;
  }

  #showQuestion(questions: Questions): void {
    const question = questions.show();
    if (question !== undefined) this.show(question, "warning", questions);
  }

  /** Shows where the run is, if that has changed. */
  showStatus(text: string | null, questions: Questions): void {
    if (this.hasPerson && text !== null && text !== this.#status) this.showBeside(questions, text, "info");
    this.#status = text ?? "";
  }

  /** Shows why a call was blocked: opencode hides the error of a tool until a click on the call. `opencode run` prints it. */
  showBlocked(reason: string, questions: Questions): void {
    if (!this.hasPerson) return;
    const [first = "", ...more] = reason.replace(/^\[workflow\] /, "").split("\n");
    const text = more.length === 0 ? first : `${first}\n\nClick on the call to read the whole answer to the agent.`;
    this.#blocked.until = 0;
    this.showBeside(questions, text, "warning");
    this.#blocked = { text, until: Date.now() + timeToRead(text), questions };
  }

  /** Shows a text with the open question, and with why a call was blocked just before: a toast replaces the one before. */
  showBeside(questions: Questions, text: string, variant: ToastVariant): void {
    if (!this.hasPerson) return this.show(text, variant);
    const question = questions.show();
    if (question !== undefined) clearTimeout(this.#soon.get(questions));
    const last = this.#blocked;
    const blocked = last.questions === questions && Date.now() < last.until ? last.text : undefined;
    const texts = [blocked, text, question].filter((part) => part !== undefined);
    this.show(texts.join("\n\n"), texts.length > 1 ? "warning" : variant, questions);
  }
}

/** The time to read a text, in milliseconds. */
const timeToRead = (text: string): number => Math.min(Math.max(text.length * MS_PER_CHARACTER, SHORTEST_MS), LONGEST_MS);

/** True if this opencode ends with its prompt: `opencode run`. */
export const isRunMode = (argv: readonly string[]): boolean => argv.slice(2).find((word) => !word.startsWith("-")) === "run";
