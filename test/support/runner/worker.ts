/**
 * Runs test files one after the other in one process, as suites of their own, so that the hooks of
 * a file apply to it alone. The runner sends each file when the one before has ended.
 */
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { runProcessCleanups } from '../process-end.ts';
import type { RunnerMessage, WorkerMessage } from './messages.ts';

process.on('message', async (message: RunnerMessage) => {
  if ('file' in message) {
    const { file } = message;
    suite(file, async () => { await import(pathToFileURL(file).href); });
    return;
  }
  // Does not keep the process alive: it fires only if something else does.
  setTimeout(() => {
    const resources = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
    const text = `Its tests left open what keeps the process alive: ${resources.join(', ')}.`;
    send({ type: 'failure', text }, () => process.exit(1));
  }, message.exitLimitMs).unref();
  for (const error of await runProcessCleanups()) send({ type: 'failure', text: inspect(error) });
  process.channel?.unref();
});
process.once('disconnect', () => process.exit(1)); // the runner is gone
send({ type: 'ready' });

function send(message: WorkerMessage, sent?: () => void): void {
  process.send?.(message, undefined, undefined, sent);
}
