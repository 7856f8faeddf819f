/**
 * The shapes the harness works with. No code: JSDoc types that the other files import.
 *
 * @module
 */

/**
 * One effect in normal form: what either side asks the host to do, or answers it.
 *
 * `kind` is one of `entry`, `message`, `user`, `name`, `status`, `widget`, `notify`, `confirm`,
 * `result`, `block`, `inject`, `complete`, `throws`.
 *
 * @typedef {{kind: string} & Record<string, any>} Effect
 */

/**
 * A definition tree: path (with `/`) below the tier's `workflows` directory -> what lies there.
 * A string is a file's text, `{link}` a symbolic link, `{dir: true}` an empty directory.
 * The text may hold `${ROOT}`, which becomes the absolute path of the tier's `workflows` directory.
 *
 * @typedef {Record<string, string | {link: string} | {dir: true}>} Tree
 */

/**
 * Where definitions come from. `settings` is the text of the project's `workflow-sidecar.json5`,
 * which only our side reads.
 *
 * @typedef {{project: Tree, global: Tree, settings: string | null}} Definitions
 */

/**
 * One thing that happens to the session.
 *
 * @typedef {{op: string} & Record<string, any>} Operation
 */

/**
 * @typedef {object} Case
 * @property {number} seed
 * @property {string} theme         what the generator aimed at, for the coverage counts
 * @property {"unbounded" | "bounded"} mode  whether the settings restore the package's pushes and context
 * @property {string[]} defects       what was broken, by name
 * @property {boolean} hasUI         whether the host has a user interface
 * @property {Definitions} definitions
 * @property {Operation[]} operations
 * @property {number} now           the virtual clock at the start
 */

/** @typedef {{type: string, customType?: string, data?: any} & Record<string, any>} Entry */

/**
 * One workflow as the package resolved it, flattened for navigation.
 *
 * @typedef {object} Workflow
 * @property {string} key
 * @property {string} name
 * @property {string} commandName
 * @property {"user" | "workflows"} show
 * @property {boolean} loopable
 * @property {Phase[]} phases
 */

/**
 * A phase entry: `ref` names a workflow, all the others belong to a phase.
 *
 * @typedef {object} Phase
 * @property {string} [ref]
 * @property {string} [id]
 * @property {string} [name]
 * @property {string} [emoji]
 * @property {string} [instructions]
 * @property {string[] | null} [profiles]
 * @property {string[] | null} [blacklist]
 * @property {string[] | null} [whitelist]
 */

/** @typedef {{workflowKey: string, phaseIndex: number}} Segment */

/**
 * What one side did with one operation.
 *
 * @typedef {object} Outcome
 * @property {Effect[]} effects
 * @property {"hung" | "crashed"} [died]   the side did not answer
 * @property {any} [loaded]  package only: the definitions after this operation, if it loaded any
 * @property {any} [state]      package only: the state restored by a session event
 * @property {string[]} [timers] package only: kinds of the timers still running
 * @property {any[]} [listed]    package only: the definitions as the files stand
 * @property {boolean} [skipped]  package only: it was not asked
 * @property {any[]} [diagnostics]  ours only
 */

export {};
