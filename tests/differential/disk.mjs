/**
 * Definition trees on disk, for one side of one case.
 *
 * @module
 */

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** @typedef {import("./types.mjs").Tree} Tree */

export class Disk {
  /** @param {string} root */
  constructor(root) {
    this.root = root;
    this.cwd = join(root, "project");
    this.agentDir = join(root, "agent");
    this.tiers = { project: join(this.cwd, ".pi", "workflows"), global: join(this.agentDir, "workflows") };
    this.written = {};
    /** The number of changes, so that data read from the disk can be cached until the next one. */
    this.version = 0;
  }

  /** @param {import("./types.mjs").Definitions} definitions */
  write({ project, global, settings }) {
    mkdirSync(this.cwd, { recursive: true });
    mkdirSync(this.agentDir, { recursive: true });
    this.tier("project", this.tiers.project, project);
    this.tier("global", this.tiers.global, global);
    if (settings !== null) writeFileSync(join(this.cwd, ".pi", "workflow-sidecar.json5"), settings);
  }

  /** Rewrites a tier if it has changed. @param {Tree} tree */
  tier(name, directory, tree) {
    const key = JSON.stringify(tree);
    if (this.written[name] === key) return;
    this.written[name] = key;
    this.version++;
    rmSync(directory, { recursive: true, force: true });
    if (name === "project" || Object.keys(tree).length > 0) mkdirSync(directory, { recursive: true });
    for (const [path, content] of Object.entries(tree)) writeNode(join(directory, path), content, directory);
  }

  remove() {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function writeNode(path, content, root) {
  mkdirSync(dirname(path), { recursive: true });
  if (typeof content === "string") {
    rmSync(path, { force: true, recursive: true });
    writeFileSync(path, content.replaceAll("${ROOT}", root));
  } else if ("link" in content) {
    rmSync(path, { force: true, recursive: true });
    symlinkSync(content.link, path);
  } else {
    rmSync(path, { force: true, recursive: true });
    mkdirSync(path, { recursive: true });
  }
}
