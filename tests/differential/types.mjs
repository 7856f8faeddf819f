/**
 * The data types of the harness: JSDoc types that the other files import, without code.
 *
 * @module
 */

/**
 * One effect in normal form: a request to the host, or an answer.
 *
 * `kind` is one of `entry`, `message`, `user`, `name`, `status`, `widget`, `notify`, `confirm`,
 * `result`, `block`, `inject`, `complete`, `throws`.
 *
 * @typedef {{kind: string} & Record<string, any>} Effect
 */

/**
 * A definition tree: path (with `/`) below the tier's `workflows` directory -> its content.
 * A string is a file's text, `{link}` a symbolic link, `{dir: true}` an empty directory.
 * The text may contain `${ROOT}`, which becomes the absolute path of the tier's `workflows` directory.
 *
 * @typedef {Record<string, string | {link: string} | {dir: true}>} Tree
 */

/**
 * The sources of definitions. `settings` is the text of the project's `workflow-sidecar.json5`,
 * which only our side reads.
 *
 * @typedef {{project: Tree, global: Tree, settings: string | null}} Definitions
 */

/**
 * One event of the session.
 *
 * @typedef {{op: string} & Record<string, any>} Operation
 */

/**
 * @typedef {object} Case
 * @property {number} seed
 * @property {string} theme         the theme of the generator, for the coverage
 * @property {"unbounded" | "bounded"} mode  `unbounded` has the package's reminders and context
 * @property {string[]} defects       the names of the defects
 * @property {boolean} hasUI         true if the host has a user interface
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
 * One side's result of one operation.
 *
 * @typedef {object} Outcome
 * @property {Effect[]} effects
 * @property {"hung" | "crashed"} [died]   the side did not answer
 * @property {any} [loaded]  package only: the definitions after this operation, if it loaded any
 * @property {any} [state]      package only: the state restored by a session event
 * @property {string[]} [timers] package only: kinds of the timers still running
 * @property {any[]} [listed]    package only: the definitions in the files
 * @property {boolean} [skipped]  package only: the operation was skipped
 * @property {any[]} [diagnostics]  ours only
 */

export {};
