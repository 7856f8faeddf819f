/**
 * Bytes in, lines out.
 *
 * A line ends at LF and nowhere else: U+2028 may stand inside a JSON string, at which Node's `readline`
 * would split, and a character may be cut in two by the end of a chunk. Knows nothing of what the lines say.
 */
export class Lines {
  readonly #take: (line: string) => void;
  readonly #limit: number;
  #partial: Buffer[] = [];
  #length = 0;

  /** Gives each line to `take`, without its end; throws from `push` when one is longer than `limit` bytes. */
  constructor(take: (line: string) => void, limit: number) {
    this.#take = take;
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(LF); end >= 0; end = rest.indexOf(LF)) {
      this.#keep(rest.subarray(0, end));
      this.#flush();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) this.#keep(rest);
  }

  /** There is no more: what is left counts as a line. */
  end(): void {
    if (this.#length > 0) this.#flush();
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#limit) throw new RangeError(`a line is longer than ${this.#limit} bytes`);
    this.#partial.push(part);
  }

  #flush(): void {
    const line = this.#partial.length === 1 ? (this.#partial[0] as Buffer) : Buffer.concat(this.#partial);
    this.#partial = [];
    this.#length = 0;
    const end = line.at(-1) === CR ? line.length - 1 : line.length;
    this.#take(line.toString("utf8", 0, end));
  }
}

const LF = 0x0a;
const CR = 0x0d;
