/**
 * The call that is made most: may this tool run?
 *
 * @module
 */

import { inTurn } from "../arms.mjs";
import { atLeast, atMost, of, told } from "../measure.mjs";
import { prose } from "../project.mjs";
import { allowed, blocked, unanswered } from "../sidecar.mjs";
import { ratio } from "../statistics.mjs";
import { list } from "../tree.mjs";

/** P1: a call is hardly more than a line there and a line back. */
export async function* nearTheFloor(bench) {
  const sidecar = await bench.sidecar(bench.projects.take());
  await sidecar.run();
  const floor = bench.floor();
  for (const [name, request] of [["allowed", allowed()], ["blocked", blocked()]]) {
    const [ours, least] = await bench.againstFloor(sidecar, floor, request, bench.size(4000, 20));
    yield atMost(`tool_call ${name}, p50, of the floor`, 1.2, ratio(of(ours, "p50"), of(least, "p50")));
    yield atMost(`tool_call ${name}, p99, of the floor`, 1.5, ratio(of(ours, "p99"), of(least, "p99")));
    yield atMost(`tool_call ${name}, processor time, of the floor`, 1.5, ratio(of(ours, "cpu"), of(least, "cpu")));
  }
  // What the floor leaves out is the answer itself, which pipe and host have to carry whoever gives it.
  const ready = await bench.readyFloor(sidecar, blocked());
  const [answered, least] = await bench.againstFloor(ready, floor, blocked(), bench.size(4000, 20));
  yield told("the answer of a blocked call, ready, p50, of the floor", ratio(of(answered, "p50"), of(least, "p50")));
  yield told("the answer of a blocked call, ready, processor time, of the floor", ratio(of(answered, "cpu"), of(least, "cpu")));
}

/** P2: what is around a call costs it nothing. */
export async function* constant(bench) {
  const many = bench.size(5000, 50);
  const long = bench.size(1000, 50);
  const entries = bench.size(100_000, 100);
  /** @type {[string, any, any, number][]} */
  const cases = [
    [`10 to ${many} workflows`, {}, { workflows: many }, 1],
    ["depth 1 to 10", {}, { depth: 10, workflows: 20 }, 1],
    [`list of 2 to ${long}`, {}, { list: long }, 1],
    [`branch of 1 to ${entries} entries`, {}, {}, entries],
  ];
  for (const [name, small, big, length] of cases) {
    const one = await bench.sidecar(bench.projects.take(small));
    await one.run();
    const other = await bench.sidecar(bench.projects.take(big), ["--max-line", "268435456"]);
    await other.run("", list([], length - 1));
    for (const [kind, request] of [["allowed", allowed()], ["blocked", blocked()]]) {
      const [bigger, smaller] = await bench.against(other, request, one, request, bench.size(3000, 20));
      yield atMost(`tool_call ${kind}, ${name}`, 1.05, ratio(of(bigger, "p50"), of(smaller, "p50")));
    }
    await bench.stop();
  }
}

/** P3: long input is passed over. */
export async function* longInput(bench) {
  const sidecar = await bench.sidecar(bench.projects.take());
  await sidecar.run();
  const floor = bench.floor();
  const request = allowed({ path: "src/main.rs", content: prose(20_000) });
  const [ours, least] = await bench.againstFloor(sidecar, floor, request, bench.size(2000, 10));
  yield atMost("tool_call with 20 KB of input, p50, of the floor of the same line", 1.15, ratio(of(ours, "p50"), of(least, "p50")));
}

/** P10: a host need not wait. */
export async function* inFlight(bench) {
  const sidecar = await bench.sidecar(bench.projects.take());
  await sidecar.run();
  const floor = bench.floor();
  const calls = bench.size(10_000, 100);
  const [ours, least] = await inTurn(
    bench.rounds,
    () => sidecar.inFlight(allowed(), calls, 64),
    () => floor.inFlight(unanswered(allowed()), calls, 64),
  );
  yield atLeast("64 calls in flight, calls a second, of the floor", 0.9, ratio(least, ours));
}
