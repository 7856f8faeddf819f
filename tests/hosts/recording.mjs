/**
 * Recordings: the texts, questions and entries of one scenario, normalised so that they are equal in every run.
 *
 * A recording is a list of blocks in order of arrival: a stream, a head, and the lines of a text. Streams are compared
 * one by one, because the order between them depends on the host.
 */

/** @typedef {'messages' | 'status' | 'widget' | 'dialogs' | 'requests' | 'entries' | 'session' | 'errors' | 'process'} Stream */

/** @typedef {{stream: Stream, head: string, body: string[]}} Block */

/** @typedef {{host: string, scenario: string, blocks: Block[]}} Recording */

/** Records the events of a scenario. */
export class Recorder {
  /** @type {Block[]} */
  blocks = [];

  #clean;
  #ignores;
  /** @type {Map<string, string>} */
  #statuses = new Map();
  #previous = /** @type {{messages: string[][], tools: string, system: string} | null} */ (null);

  /**
   * @param {Normalizer} clean
   * @param {(block: Block) => boolean} [ignores]  blocks to ignore because they depend on the machine's speed
   */
  constructor(clean, ignores = () => false) {
    this.#clean = clean;
    this.#ignores = ignores;
  }

  /**
   * @param {Stream} stream
   * @param {string} head
   * @param {string} [text]
   */
  add(stream, head, text) {
    const body = text === undefined || text === '' ? [] : this.#clean.text(text).split('\n');
    this.#keep({ stream, head: this.#clean.text(head), body });
  }

  /** Adds a record of pi's RPC or JSON mode. @param {import('./pi.mjs').PiRecord} record */
  record(record) {
    switch (record.type) {
      case 'message_end':
        return this.#message(record.message);
      case 'extension_ui_request':
        return this.#shown(record);
      case 'extension_ui_response':
        return this.add('dialogs', record.cancelled ? '→ cancelled' : `→ ${record.confirmed ?? record.value}`);
      case 'session_info_changed':
        return this.add('session', `name ${JSON.stringify(record.name)}`);
      case 'extension_error':
        return this.add('errors', `extension error in ${record.event}`, record.error);
      case 'response':
        if (!record.success) this.add('errors', `${record.command} failed`, record.error);
    }
  }

  /**
   * Adds a request to the model: the messages that it adds to the previous request, and the number that it removes.
   *
   * @param {import('./model.mjs').Request} request
   * @param {number} index
   */
  request({ messages, tools, source }, index) {
    const system = messages.filter(({ role }) => isSystem(role)).map(({ content }) => textOf(content)).join('\n');
    const requested = messages.filter(({ role }) => !isSystem(role)).map((message) => requestLines(message, this.#clean));
    const names = tools.map((tool) => tool.function.name).join(' ');
    const before = this.#previous;
    if (source === 'summary') return this.add('requests', `request ${index + 1} for a summary`);
    this.add('requests', `request ${index + 1}${source === 'beyond' ? ' (beyond the script)' : ''}`);
    if (names !== before?.tools) this.#tools(tools, names);
    if (system !== before?.system) this.add('requests', 'system prompt on workflows', aboutWorkflows(system));

    const kept = before ? commonPrefix(before.messages, requested) : 0;
    if (before && kept < before.messages.length) {
      this.add('requests', `takes back ${before.messages.length - kept} of ${before.messages.length} messages`);
    }
    // The stream of messages already has the agent's texts and the results of its tools.
    for (const [head, ...body] of requested.slice(kept)) this.#keep({ stream: 'requests', head, body: head === '+ user' ? body : [] });
    this.#previous = { messages: requested, tools: names, system };
  }

  /** Adds the entries of a session file. @param {string} name @param {string} jsonl */
  sessionFile(name, jsonl) {
    const entries = jsonl.split('\n').filter(Boolean).map((line) => JSON.parse(line));
    this.add('entries', `session file ${name}`);
    const recorded = entries.filter((entry) => !HOST_ENTRIES.has(entry.type) && !isSystem(entry.message?.role));
    const heads = new Map(recorded.map((entry) => [entry.id, entryHead(entry)]));
    const parents = new Map(entries.map(({ id, parentId }) => [id, parentId]));
    for (const [index, entry] of recorded.entries()) {
      let parent = entry.parentId;
      while (parent && !heads.has(parent)) parent = parents.get(parent);
      const follows = (parent ?? undefined) === recorded[index - 1]?.id ? '' : ` (after ${heads.get(parent) ?? 'nothing'})`;
      this.add('entries', `${entryHead(entry)}${follows}`, entryBody(entry, this.#clean));
    }
  }

  /** @param {Block} block */
  #keep(block) {
    if (!this.#ignores(block)) this.blocks.push(block);
  }

  /** @param {any[]} tools @param {string} names */
  #tools(tools, names) {
    this.add('requests', `tools ${names}`);
    const step = tools.find((tool) => tool.function.name === 'workflow_step');
    if (!step) return;
    const { description, parameters } = step.function;
    this.add('requests', 'tool workflow_step', shapeOf(parameters));
    this.add('requests', 'description of workflow_step', description);
  }

  /** @param {any} message */
  #message(message) {
    if (isSystem(message.role)) return;
    if (message.role === 'custom') {
      this.add('messages', `${message.customType} (${message.display ? 'shown' : 'hidden'})`, textOf(message.content));
    } else if (message.role === 'toolResult') {
      this.add('messages', `result of ${message.toolName}${message.isError ? ' (error)' : ''}`, textOf(message.content));
      if (message.toolName === 'workflow_step') this.add('messages', `details ${this.#clean.json(message.details ?? null)}`);
    } else if (message.role === 'assistant') {
      this.#assistant(message);
    } else {
      this.add('messages', message.role, textOf(message.content));
    }
  }

  /** @param {any} message */
  #assistant({ content, stopReason, errorMessage }) {
    const text = textOf(content);
    if (text !== '') this.add('messages', 'assistant', text);
    for (const part of content) {
      if (part.type === 'toolCall') this.add('messages', `call of ${part.name} ${JSON.stringify(part.arguments)}`);
    }
    if (stopReason !== 'stop' && stopReason !== 'toolUse') this.add('messages', `ended by ${stopReason}`, errorMessage);
  }

  /** Adds a status unless it is shown already. @param {string} key @param {string} text */
  #status(key, text) {
    if ((this.#statuses.get(key) ?? '(cleared)') !== text) this.add('status', `${key}: ${text}`);
    this.#statuses.set(key, text);
  }

  /** @param {any} request */
  #shown(request) {
    switch (request.method) {
      case 'setStatus':
        return this.#status(request.statusKey, request.statusText ?? '(cleared)');
      case 'setWidget':
        return this.add('widget', `${request.widgetKey}${request.widgetLines ? '' : ' (cleared)'}`, request.widgetLines?.join('\n'));
      case 'notify':
        return this.add('dialogs', `notify ${request.notifyType ?? 'info'}`, request.message);
      default:
        return this.add('dialogs', `${request.method} ${request.title ?? ''}`, request.message ?? request.options?.join('\n') ?? request.text);
    }
  }
}

/** Replaces the parts of a text that differ between runs: paths, task ids, times. */
export class Normalizer {
  #replacements;
  /** @type {Map<string, string>} */
  #tasks = new Map();

  /** @param {[string, string][]} replacements  the replacement of each path or address */
  constructor(replacements) {
    this.#replacements = [...replacements].sort(([a], [b]) => b.length - a.length);
  }

  /** @param {string} text */
  text(text) {
    let clean = text;
    for (const [path, name] of this.#replacements) clean = clean.replaceAll(path, name);
    return clean
      .replace(/wf-\d{10,}-[a-z0-9]+/g, (id) => this.#task(id))
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
      .replace(/\b1[5-9]\d{11}\b/g, '"<time>"');
  }

  /** @param {unknown} value */
  json(value) {
    return this.text(JSON.stringify(sorted(value)));
  }

  /** @param {string} id */
  #task(id) {
    if (!this.#tasks.has(id)) this.#tasks.set(id, `<task ${this.#tasks.size + 1}>`);
    return /** @type {string} */ (this.#tasks.get(id));
  }
}

/**
 * Returns the texts of a stream's blocks, in order: head and lines.
 *
 * @param {Pick<Recording, 'blocks'>} recording
 * @param {Stream} stream
 * @param {RegExp} [head]
 */
export const texts = ({ blocks }, stream, head = /(?:)/) =>
  blocks.filter((block) => block.stream === stream && head.test(block.head)).map((block) => [block.head, ...block.body].join('\n'));

/** Formats a recording for display. @param {Recording} recording */
export const asText = ({ blocks }) =>
  blocks.map(({ stream, head, body }) => [`${stream.padEnd(9)} ${head}`, ...body.map((line) => `          | ${line}`)].join('\n')).join('\n');

/** Copies a value with sorted keys: their order has no meaning. @param {any} value @returns {any} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

/** The maximum length of an entry's line: enough to recognise a stored definition. */
const LONGEST_LINE = 300;

const HOST_ENTRIES = new Set(['session', 'model_change', 'thinking_level_change']);

const isSystem = (/** @type {string} */ role) => role === 'system' || role === 'developer';

/** @param {any} content */
function textOf(content) {
  if (typeof content === 'string') return content;
  return (content ?? []).filter((/** @type {any} */ part) => part.type === 'text').map((/** @type {any} */ part) => part.text).join('\n');
}

/** Formats a message of a request: a head, then its lines. @param {any} message @param {Normalizer} clean @returns {string[]} */
function requestLines(message, clean) {
  const text = textOf(message.content);
  const calls = (message.tool_calls ?? []).map((/** @type {any} */ made) => `calls ${made.function.name} ${made.function.arguments}`);
  return [`+ ${message.role}`, ...(text === '' ? [] : clean.text(text).split('\n')), ...calls];
}

/** Formats a tool's parameters without their descriptions. @param {any} schema */
function shapeOf({ properties, required }) {
  const shape = (/** @type {any} */ { type, enum: values }) => (values ? values.join(' | ') : type);
  return Object.entries(properties).map(([name, property]) => `${name}${required?.includes(name) ? '' : '?'}: ${shape(property)}`).join('\n');
}

/** @param {string[][]} before @param {string[][]} after */
function commonPrefix(before, after) {
  let length = 0;
  while (length < Math.min(before.length, after.length) && before[length].join('\n') === after[length].join('\n')) length += 1;
  return length;
}

/** Selects the extension's part of the system prompt; the list of skills belongs to the host. @param {string} system */
const aboutWorkflows = (system) => system.split('\n').filter((line) => /workflow/i.test(line) && !/^\s*</.test(line)).join('\n');

/** @param {any} entry */
function entryHead(entry) {
  switch (entry.type) {
    case 'message':
      return `message ${entry.message.role}${entry.message.role === 'toolResult' ? ` of ${entry.message.toolName}` : ''}`;
    case 'custom':
    case 'custom_message':
      return `${entry.type} ${entry.customType}`;
    case 'session_info':
      return `session_info ${JSON.stringify(entry.name)}`;
    default:
      return entry.type;
  }
}

/** Formats an extension's entry; messages are recorded elsewhere. @param {any} entry @param {Normalizer} clean */
function entryBody(entry, clean) {
  if (entry.type !== 'custom') return undefined;
  const lines = Object.entries(entry.data ?? {}).map(([key, value]) => `${key} ${clean.json(value)}`.slice(0, LONGEST_LINE));
  return lines.sort().join('\n');
}
