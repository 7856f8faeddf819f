/**
 * What goals share: arms against each other, and rows of the table.
 *
 * @module
 */

import { inTurn } from "./arms.mjs";
import { Child } from "./child.mjs";
import { Package } from "./package.mjs";
import { ratio } from "./statistics.mjs";
import { Sidecar, unanswered } from "./sidecar.mjs";

export class Bench {
  /** @param {{binary: string, floor: string, linkedFloor: string, quick: boolean, rounds: number, projects: import("./project.mjs").Projects}} options */
  constructor({ binary, floor, linkedFloor, quick, rounds, projects }) {
    this.binary = binary;
    this.floorProgram = floor;
    /** The floor, linked as the sidecar is. */
    this.linkedFloorProgram = linkedFloor;
    this.quick = quick;
    this.rounds = quick ? 0 : rounds;
    this.projects = projects;
    this.open = [];
  }

  /** A number that a quick run makes small. */
  size(full, quick) {
    return this.quick ? quick : full;
  }

  /** A sidecar that has been told who its host is, unless that is to be said otherwise. */
  async sidecar(place, options = [], begun = true) {
    const sidecar = this.#keep(new Sidecar(this.binary, place, options));
    if (begun) await sidecar.initialize(place);
    return sidecar;
  }

  /** The least a child can do. */
  floor() {
    return this.#keep(new Child([this.floorProgram]));
  }

  /** The same with the sidecar's answer to a request, byte for byte, to every line: less is not possible for what answers that. */
  async readyFloor(sidecar, { method, params }) {
    const result = JSON.stringify(await sidecar.call(method, params));
    const ascii = result.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    return this.#keep(new Child([this.floorProgram, ascii]));
  }

  async package(place) {
    return this.#keep(await Package.begin(place));
  }

  #keep(child) {
    this.open.push(child);
    return child;
  }

  async stop() {
    for (const child of this.open.splice(0)) await child.stop();
  }

  /** The sidecar's answers to a request against the floor's to the same line. */
  async againstFloor(sidecar, floor, request, calls) {
    return inTurn(
      this.rounds,
      () => sidecar.pingPong(request, calls),
      () => floor.pingPong(unanswered(request), calls),
    );
  }

  /** The sidecar's answers to a request against those of another sidecar. */
  async against(one, request, other, otherRequest, calls) {
    return inTurn(
      this.rounds,
      () => one.pingPong(request, calls),
      () => other.pingPong(otherRequest, calls),
    );
  }

  /** The package's time over the sidecar's: how often as fast. */
  async timesAsFast(sidecar, request, calls, package_, what, how) {
    const [ours, theirs] = await inTurn(
      this.rounds,
      async () => (await sidecar.pingPong(request, calls)).p50,
      () => package_.time(what, how),
    );
    return { faster: ratio(theirs, ours), share: ratio(ours, theirs), ours, theirs };
  }
}

/** A row: a ratio with its spread, and what it may be at most. */
export const atMost = (name, most, figure, unit = "×") => ({ name, figure, bound: { most }, unit, met: figure.value <= most });

/** A row: a ratio with its spread, and what it must be at least. */
export const atLeast = (name, least, figure, unit = "×") => ({ name, figure, bound: { least }, unit, met: figure.value >= least });

/** A row that no goal is set for. */
export const told = (name, figure, unit = "×") => ({ name, figure, unit });

export const of = (samples, key) => samples.map((sample) => sample[key]);
