/**
 * A test extension for actions of the terminal that RPC mode does not have.
 *
 * `/probe reload` · `/probe tree <n>` moves to the n-th user message · `/probe complete <command> <prefix>`.
 * If PROBE_WRAPS is set, it loads that extension itself and records its commands.
 */
export default async function probe(pi) {
  const commands = new Map();

  pi.registerCommand('probe', {
    description: 'Drives the host for a test.',
    handler: async (args, ctx) => {
      const [what, ...rest] = args.split(' ');
      if (what === 'reload') {
        await ctx.reload();
      } else if (what === 'tree') {
        await ctx.navigateTree(userMessages(ctx)[Number(rest[0])].id);
      } else if (what === 'complete') {
        const [name, ...prefix] = rest;
        const items = await commands.get(name).getArgumentCompletions(prefix.join(' '));
        ctx.ui.notify(`completions: ${JSON.stringify(items)}`, 'info');
      }
    },
  });

  if (process.env.PROBE_WRAPS) {
    const wrapped = await import(process.env.PROBE_WRAPS);
    const load = typeof wrapped.default === 'function' ? wrapped.default : wrapped.default.default;
    await load(listening(pi, commands));
  }
}

/** Wraps the API so that registered commands are recorded. */
function listening(pi, commands) {
  return new Proxy(pi, {
    get(target, key) {
      if (key !== 'registerCommand') return target[key];
      return (name, options) => {
        commands.set(name, options);
        return target.registerCommand(name, options);
      };
    },
  });
}

/** Lists the user messages of the whole session, oldest first. */
function userMessages(ctx) {
  return ctx.sessionManager.getEntries().filter((entry) => entry.type === 'message' && entry.message.role === 'user');
}
