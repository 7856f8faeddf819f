/** A board of a store, and the Chromium that looks at it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createRequire } from 'node:module';

import puppeteer from 'puppeteer-core';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The time in which a page shows what happened in a host. */
const PATIENCE_MS = 30_000;

/** The path of a Chromium, if there is one. */
export const chromium = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((directory) => PROGRAMS.map((program) => join(directory, program)))
  .find((program) => existsSync(program));

/** Starts a Chromium. What it would ask of other machines by itself is off. @returns {Promise<import('puppeteer-core').Browser>} */
export const launch = () =>
  puppeteer.launch({
    executablePath: chromium,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
  });

/**
 * Starts a board at a free port.
 *
 * @param {string} binary @param {NodeJS.ProcessEnv} env @param {string[]} [args]
 * @returns {Promise<{address: string, origin: string, stop: () => Promise<void>}>} the address is the one that counts once
 */
export async function startBoard(binary, env, args = []) {
  const child = spawn(binary, ['board', '--no-open', '--listen', '127.0.0.1:0', ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const address = await new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
      const found = /http:\S+/.exec(said)?.[0];
      if (found && said.includes('\n')) resolve(found);
    });
    ended.then((code) => reject(new Error(`the board has ended with ${code}`)));
  });
  return {
    address,
    origin: new URL(address).origin,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/** A tab that remembers whatever a page of the board must never do. */
export class Tab {
  /** Dialogs, errors and requests to other places. @type {string[]} */
  wrongs = [];

  /** @param {import('puppeteer-core').Page} page @param {string} origin */
  constructor(page, origin) {
    this.page = page;
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('dialog', (dialog) => {
      this.wrongs.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on('console', (message) => {
      // A refused answer is an error to the browser too.
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) this.wrongs.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.wrongs.push(`error: ${error}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) this.wrongs.push(`request: ${request.url()}`);
    });
    this.origin = origin;
  }

  /** @param {import('puppeteer-core').Browser} browser @param {string} origin */
  static async open(browser, origin) {
    return new Tab(await browser.newPage(), origin);
  }

  /** Loads a page, in front: a page behind others does not get clicks. @param {string} path */
  async go(path) {
    await this.page.bringToFront();
    return this.page.goto(path.includes('://') ? path : this.origin + path);
  }

  /** The text that a person sees. */
  text() {
    return this.page.evaluate(() => document.body.innerText);
  }

  /** Waits until the page shows a text, without loading it again. @param {RegExp} pattern */
  async until(pattern) {
    try {
      await this.page.waitForFunction((source) => new RegExp(source, 's').test(document.body.innerText), { polling: 50 }, pattern.source);
    } catch {
      assert.fail(`the page never shows ${pattern}:\n${await this.text()}`);
    }
  }

  /** Clicks, and waits for the page that follows. @param {string} selector */
  async follow(selector) {
    await this.page.bringToFront();
    await Promise.all([this.page.waitForNavigation(), this.page.click(selector)]);
  }

  /** Sets the size, and light or dark. @param {number} width @param {'light' | 'dark'} scheme */
  async look(width, scheme) {
    await this.page.setViewport({ width, height: 900 });
    await this.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  }

  /** Looks at the page in both sizes, light and dark. With PICTURES, a directory, it keeps what it sees there. @param {string} name */
  async everySize(name) {
    for (const width of [360, 1440]) {
      for (const scheme of /** @type {const} */ (['light', 'dark'])) {
        await this.look(width, scheme);
        assert.deepEqual(await this.problems(), [], `${name}, ${width} wide, ${scheme}`);
        const { PICTURES } = process.env;
        if (PICTURES) await this.page.screenshot({ path: join(PICTURES, `${name}-${width}-${scheme}.png`) });
      }
    }
  }

  /** Says what axe finds on the page, and whether it is wider than the window. @returns {Promise<string[]>} */
  async problems() {
    await this.page.evaluate(AXE);
    const found = await this.page.evaluate(async () => {
      // @ts-ignore: axe is in the page
      const { violations } = await axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' · ')}`);
    });
    const [inside, width] = await this.page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    if (inside > width) found.push(`the page is ${inside} wide in a window of ${width}`);
    return found;
  }
}
