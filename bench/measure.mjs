/**
 * Comparisons: the processes that are compared take turns in one run, so that a machine that slows down slows all of them.
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

  /** A number that a quick run makes small. @param {number} full @param {number} quick */
  size(full, quick) {
    return this.quick ? quick : full;
  }

  /** An initialized sidecar. @param {import("./project.mjs").Place} place @param {{options?: string[], initialize?: object}} [more] */
  async sidecar(place, { options = [], initialize = {} } = {}) {
    const sidecar = new Sidecar(this.binary, place, options);
    this.running.push(sidecar);
    await sidecar.initialize(place, initialize);
    return sidecar;
  }

  /** A child that answers every line with null. */
  floor() {
    const floor = new Child([this.floorProgram]);
    this.running.push(floor);
    return floor;
  }

  /** The npm package in a Node process. @param {import("./project.mjs").Place} place */
  async package(place) {
    const side = await Package.begin(place);
    this.running.push(side);
    return side;
  }

  async stop() {
    for (const child of this.running.splice(0)) await child.stop();
  }

  /** The time of a request, in times of the floor for the same line. */
  async perFloor(sidecar, request, calls, rounds = this.rounds) {
    const floor = this.floor();
    return ratio(
      ...(await inTurn(
        rounds,
        () => sidecar.pingPong(request, calls),
        () => floor.pingPong(answeredByNull(request), calls),
      )),
    );
  }

  /** How many times as fast as the package a request is; and its own time in microseconds. */
  async perPackage(sidecar, request, calls, package_, what, how) {
    const [ours, theirs] = await inTurn(
      this.rounds,
      () => sidecar.pingPong(request, calls),
      () => package_.time(what, how),
    );
    return { faster: ratio(theirs, ours), time: figure(ours) };
  }
}
