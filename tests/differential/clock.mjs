/**
 * A virtual clock that replaces setTimeout, setInterval, Date.now and Math.random.
 * Time advances only by `advance`; callbacks run in order of their due time, then of their creation.
 *
 * @module
 */

export class VirtualClock {
  constructor() {
    this.reset(0, () => 0.5);
  }

  /** Removes all timers and starts at `now`. @param {number} now @param {() => number} random */
  reset(now, random) {
    this.now = now;
    this.random = random;
    /** @type {Map<number, {due: number, every: number | null, run: () => void, kind: string}>} */
    this.timers = new Map();
    this.serial = this.serial ?? 0;
  }

  /** Replaces the globals by this clock, permanently. */
  install() {
    const start = (run, delay, every) => {
      const id = ++this.serial;
      const wait = Math.max(1, Number(delay) || 1);
      this.timers.set(id, { due: this.now + wait, every: every ? wait : null, run, kind: every ? "interval" : "timeout" });
      return id;
    };
    globalThis.setTimeout = /** @type {any} */ ((run, delay, ...rest) => start(() => run(...rest), delay, false));
    globalThis.setInterval = /** @type {any} */ ((run, delay, ...rest) => start(() => run(...rest), delay, true));
    globalThis.clearTimeout = globalThis.clearInterval = /** @type {any} */ ((id) => this.timers.delete(id));
    Date.now = () => this.now;
    Math.random = () => this.random();
  }

  /** Advances the time and runs the callbacks that become due; `failed` receives their errors. @param {number} ms @param {(error: unknown) => void} failed */
  advance(ms, failed) {
    const end = this.now + ms;
    for (;;) {
      const next = [...this.timers.entries()].filter(([, t]) => t.due <= end).sort(([a, x], [b, y]) => x.due - y.due || a - b)[0];
      if (!next) break;
      const [id, timer] = next;
      this.now = timer.due;
      if (timer.every === null) this.timers.delete(id);
      else timer.due += timer.every;
      try {
        timer.run();
      } catch (error) {
        failed(error);
      }
    }
    this.now = end;
  }

  /** Lists the kinds of the running timers. */
  kinds() {
    return [...this.timers.values()].map((t) => t.kind);
  }
}
