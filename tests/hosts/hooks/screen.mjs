/** A terminal, for what a host asks on its screen. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';

/** The time for something to happen. */
const TIME_LIMIT_MS = 30_000;

/** Waits until something is so. @param {() => boolean} isSo @param {() => string} told */
export async function until(isSo, told) {
  for (const deadline = Date.now() + TIME_LIMIT_MS; !isSo(); await new Promise((resolve) => setTimeout(resolve, 50))) {
    assert.ok(Date.now() < deadline, told());
  }
}

/** Runs a shell line in a terminal of its own. @param {string} line @param {object} options */
export function openScreen(line, options) {
  const child = spawn('script', ['-qfec', `stty cols 150 rows 50; exec ${line}`, '/dev/null'], { stdio: 'pipe', ...options });
  let text = '';
  child.stdout.on('data', (data) => (text += data));
  return {
    get text() {
      return text.slice(-3000);
    },
    /** Waits until it shows this, which is written without spaces, and forgets what it showed. @param {RegExp} pattern */
    async shows(pattern) {
      // A space may be a movement of the cursor.
      const shown = () => text.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]|\s/g, '');
      await until(() => pattern.test(shown()), () => `${pattern} is not shown: ${shown().slice(-3000)}`);
      text = '';
    },
    /** Presses Enter until something is so: in its first moment a dialog takes no key. @param {() => boolean} isSo */
    async accept(isSo) {
      const press = () => child.stdin.write('\r');
      const again = setInterval(press, 3000);
      try {
        await new Promise((resolve) => setTimeout(resolve, 500));
        press();
        await until(isSo, () => text.slice(-3000));
      } finally {
        clearInterval(again);
      }
    },
    end: () =>
      new Promise((resolve) => {
        child.on('close', resolve);
        child.kill('SIGTERM');
      }),
  };
}
