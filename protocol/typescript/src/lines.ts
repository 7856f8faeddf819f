/**
 * A splitter of bytes into lines.
 *
 * Only LF ends a line: U+2028 may occur inside a JSON string, where Node's `readline` would split, and a chunk may
 * end inside a character. Independent of the content of the lines.
 */
export class Lines {
  readonly #onLine: (line: string) => void;
  readonly #limit: number;
  #partial: Buffer[] = [];
  #length = 0;

  /** Passes each line to `onLine`, without its end. `push` throws if a line is longer than `limit` bytes. */
  constructor(onLine: (line: string) => void, limit: number) {
    this.#onLine = onLine;
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(LF); end >= 0; end = rest.indexOf(LF)) {
      this.#append(rest.subarray(0, end));
      this.#flush();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) this.#append(rest);
  }

  /** Ends the input: remaining bytes count as a line. */
  end(): void {
    if (this.#length > 0) this.#flush();
  }

  #append(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#limit) throw new RangeError(`a line is longer than ${this.#limit} bytes`);
    this.#partial.push(part);
  }

  #flush(): void {
    const line = this.#partial.length === 1 ? (this.#partial[0] as Buffer) : Buffer.concat(this.#partial);
    this.#partial = [];
    this.#length = 0;
    const end = line.at(-1) === CR ? line.length - 1 : line.length;
    this.#onLine(line.toString("utf8", 0, end));
  }
}

const LF = 0x0a;
const CR = 0x0d;
