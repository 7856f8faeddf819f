/**
 * Comparisons: the processes take turns in one run, so that a slow machine affects all of them.
 *
 * @module
 */

import { Child } from "./child.mjs";
import { Package } from "./package.mjs";
import { Sidecar, answeredByNull } from "./sidecar.mjs";
import { figure, inTurn, ratio } from "./statistics.mjs";

export class Bench {
  /** @param {{binary: string, floor: string, quick: boolean, rounds: number, projects: import("./project.mjs").Projects}} options */
  constructor({ binary, floor, quick, rounds, projects }) {
    this.binary = binary;
    this.floorProgram = floor;
    this.quick = quick;
    this.rounds = quick ? 0 : rounds;
    this.projects = projects;
    /** @type {{stop(): unknown}[]} */
    this.running = [];
  }

  /** Returns the smaller number for a quick run. @param {number} full @param {number} quick */
  size(full, quick) {
    return this.quick ? quick : full;
  }

  /** Starts and initializes a sidecar. @param {import("./project.mjs").Directories} directories @param {{options?: string[], initialize?: object}} [more] */
  async sidecar(directories, { options = [], initialize = {} } = {}) {
    const sidecar = new Sidecar(this.binary, directories, options);
    this.running.push(sidecar);
    await sidecar.initialize(directories, initialize);
    return sidecar;
  }

  /** Starts a child that answers every line with null, or with the JSON of a result. @param {string[]} [result] */
  floor(result = []) {
    const floor = new Child([this.floorProgram, ...result]);
    this.running.push(floor);
    return floor;
  }

  /** Starts the npm package in a Node process. @param {import("./project.mjs").Directories} directories */
  async package(directories) {
    const side = await Package.begin(directories);
    this.running.push(side);
    return side;
  }

  async stop() {
    for (const child of this.running.splice(0)) await child.stop();
  }

  /** Returns the ratio of a request's time to that of the floor for the same line. */
  async perFloor(sidecar, request, calls, rounds = this.rounds) {
    return this.ratio(sidecar, request, this.floor(), answeredByNull(request), calls, rounds);
  }

  /** Returns the ratio of a request's time to that of another child's request. */
  async ratio(sidecar, request, child, other, calls, rounds = this.rounds) {
    const [ours, theirs] = await inTurn(rounds, () => sidecar.pingPong(request, calls), () => child.pingPong(other, calls));
    return ratio(ours, theirs);
  }

  /** Returns the speed of a request relative to the package, and its time in microseconds. */
  async perPackage(sidecar, request, calls, package_, what, how) {
    const [ours, theirs] = await inTurn(
      this.rounds,
      () => sidecar.pingPong(request, calls),
      () => package_.time(what, how),
    );
    return { faster: ratio(theirs, ours), time: figure(ours) };
  }
}
