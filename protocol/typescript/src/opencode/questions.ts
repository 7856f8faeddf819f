/**
 * Questions of the sidecar that a person answers with a command, since a plugin of opencode cannot show a dialog.
 *
 * An answer does not say what it answers, so it counts only for a question that the person was shown, and no other one since.
 */

export interface Question {
  title: string;
  message?: string | undefined;
  /** The answers; any text counts without them. */
  options?: readonly string[] | undefined;
}

interface OpenQuestion {
  question: Question;
  settle: (answer: string | null) => void;
  isSettled: boolean;
}

/** What was shown since the last answer, on the screen that all sessions share. */
export class LastShown {
  readonly #questions = new Set<OpenQuestion>();

  note(question: OpenQuestion): void {
    this.#questions.add(question);
  }

  /** True if this question alone was shown. The caller shows any other one. */
  is(question: OpenQuestion): boolean {
    const wasShown = this.#questions.size === 1 && this.#questions.has(question);
    this.clear();
    this.note(question);
    return wasShown;
  }

  clear(): void {
    this.#questions.clear();
  }

  /** Forgets the questions that cannot be answered any more. */
  forgetSettled(): void {
    for (const question of this.#questions) if (question.isSettled) this.#questions.delete(question);
  }
}

/** The open questions of a session. Only the oldest is shown. */
export class Questions {
  /** The title of the session, where it has to be named. */
  readonly sessionTitle: () => string | undefined;
  readonly #shown: LastShown;
  readonly #open: OpenQuestion[] = [];
  readonly #show: () => void;
  readonly #whenAsked: (() => void)[] = [];

  /** `show` shows the oldest question soon, by `show()` of this. */
  constructor(shown: LastShown, sessionTitle: () => string | undefined, show: () => void) {
    this.#shown = shown;
    this.sessionTitle = sessionTitle;
    this.#show = show;
  }

  /** Resolves when the next question is asked. */
  asked(): Promise<void> {
    return new Promise((resolve) => this.#whenAsked.push(resolve));
  }

  /** Waits for the answer; null if the question is settled otherwise. */
  ask(question: Question, signal: AbortSignal): Promise<string | null> {
    return new Promise((resolve) => {
      const open: OpenQuestion = {
        question,
        isSettled: false,
        settle: (answer) => {
          const at = this.#open.indexOf(open);
          if (at >= 0) this.#open.splice(at, 1);
          open.isSettled = true;
          resolve(answer);
          if (at === 0 && this.#open.length > 0) this.#show();
        },
      };
      if (signal.aborted) return resolve(null);
      signal.addEventListener("abort", () => open.settle(null), { once: true });
      this.#open.push(open);
      if (this.#open.length === 1) this.#show();
      for (const resolve of this.#whenAsked.splice(0)) resolve();
    });
  }

  /** Notes a message of the person: the next one answers no question that is settled already. */
  noteMessage(): void {
    this.#shown.forgetSettled();
  }

  /** The text that shows the oldest question, to a person who did not ask for it. */
  show(): string | undefined {
    const open = this.#open[0];
    if (open) this.#shown.note(open);
    return open && describe(open.question);
  }

  /** Answers the oldest question, and returns what to say to the person. One that was not shown is shown now. */
  answer(text: string): string {
    const open = this.#open[0];
    if (!open) return "No question is open.";
    const wasShown = this.#shown.is(open);
    const { options } = open.question;
    // The command alone shows the question again.
    if (options !== undefined && text.trim() === "") return describe(open.question);
    if (!wasShown) return `Your answer does not count yet, because you may have seen another question before this one.\n\n${describe(open.question)}`;
    const answer = options === undefined ? text : choose(options, text);
    if (answer === undefined) return `"${text}" is not an answer to: ${describe(open.question)}`;
    this.#shown.clear();
    open.settle(answer);
    return `Answered "${open.question.title}" with "${answer}".`;
  }
}

/** Finds an option by its number, its text or a beginning that no other one has. */
function choose(options: readonly string[], text: string): string | undefined {
  const wanted = text.trim().toLowerCase();
  const same = options.find((option) => option.toLowerCase() === wanted);
  if (same !== undefined) return same;
  if (/^\d+$/.test(wanted)) return options[Number(wanted) - 1];
  const beginning = options.filter((option) => option.toLowerCase().startsWith(wanted));
  return beginning.length === 1 ? beginning[0] : undefined;
}

/** The text that shows a question, with the ways to answer it. */
export function describe({ title, message, options }: Question): string {
  const answers = options?.map((option, at) => `${at + 1}: ${option}`).join("\n");
  const how = answers === undefined ? "Answer with /workflow-answer and a text." : `Answer with /workflow-answer and one of:\n${answers}`;
  return [title, message, how].filter((line) => line).join("\n\n");
}
