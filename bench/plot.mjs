/**
 * A picture of a few curves over logarithmic axes, as SVG that is readable on light and on dark.
 *
 * @module
 */

import { shown } from "./table.mjs";

const WIDTH = 640;
const HEIGHT = 360;
const LEFT = 70;
const RIGHT = 20;
const TOP = 44;
const BOTTOM = 56;

/** Colours that stand out on white and on black alike, and a dash, for those who see no colours. */
const STYLES = [
  { colour: "#2f81f7", dash: "" },
  { colour: "#d9730d", dash: "6 4" },
  { colour: "#2da44e", dash: "2 4" },
];

/** @param {{title: string, x: string, y: string, series: {name: string, points: [number, number][]}[]}} picture */
export function svg({ title, x, y, series }) {
  const points = series.flatMap((one) => one.points);
  const across = axis(points.map(([at]) => at), LEFT, WIDTH - RIGHT);
  const up = axis(points.map(([, value]) => value), HEIGHT - BOTTOM, TOP);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="12">`,
    `<style>text{fill:#57606a}.grid{stroke:#8c959f;stroke-opacity:.35}.curve{fill:none;stroke-width:2}@media(prefers-color-scheme:dark){text{fill:#adbac7}}</style>`,
    `<text x="${LEFT}" y="18" font-size="14" font-weight="600">${escaped(title)}</text>`,
    ...across.ticks.map((tick) => `<path class="grid" d="M${across.of(tick)} ${TOP}V${HEIGHT - BOTTOM}"/><text x="${across.of(tick)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${short(tick)}</text>`),
    ...up.ticks.map((tick) => `<path class="grid" d="M${LEFT} ${up.of(tick)}H${WIDTH - RIGHT}"/><text x="${LEFT - 6}" y="${up.of(tick) + 4}" text-anchor="end">${short(tick)}</text>`),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 20}" text-anchor="middle">${escaped(x)}</text>`,
    `<text transform="translate(14 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${escaped(y)}</text>`,
    ...series.map((one, index) => curve(one, STYLES[index], across, up, index)),
    "</svg>\n",
  ].join("\n");
}

function curve({ name, points }, { colour, dash }, across, up, index) {
  const path = points.map(([at, value], i) => `${i === 0 ? "M" : "L"}${across.of(at)} ${up.of(value)}`).join("");
  const dots = points.map(([at, value]) => `<circle cx="${across.of(at)}" cy="${up.of(value)}" r="3" fill="${colour}"><title>${escaped(`${name}, ${short(at)}: ${shown(value)}`)}</title></circle>`);
  const legend = LEFT + index * 190;
  return [
    `<path class="curve" stroke="${colour}" stroke-dasharray="${dash}" d="${path}"/>`,
    ...dots,
    `<path class="curve" stroke="${colour}" stroke-dasharray="${dash}" d="M${legend} 32h24"/><text x="${legend + 30}" y="36">${escaped(name)}</text>`,
  ].join("\n");
}

/** A logarithmic axis over whole decades. */
function axis(values, from, to) {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  const of = (value) => Number((from + ((Math.log10(value) - low) / (high - low)) * (to - from)).toFixed(1));
  return { of, ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)) };
}

function short(value) {
  if (value >= 1e6) return `${shown(value / 1e6)} M`;
  if (value >= 1e3) return `${shown(value / 1e3)} k`;
  return shown(value);
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
