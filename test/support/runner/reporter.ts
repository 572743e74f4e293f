/**
 * Runs in a test worker, as its `--test-reporter`: sends each result to the runner. A suite at the
 * top is a file.
 */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { readCpuMs } from './cpu-time.ts';
import type { TestEnded, WorkerMessage } from './messages.ts';

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  /** The names of the suites that have started, by nesting. */
  const path: string[] = [];
  let cpuMs = 0; // the start of the process counts for its first file
  /** The last result; what the test noted, such as its seed, follows it. */
  let held: TestEnded | undefined;
  for await (const { type, data } of events) {
    if (type === 'test:start') path[data.nesting] = data.name;
    if (type === 'test:diagnostic') {
      if (held?.failure !== undefined) held.failure += `\n${data.message}`;
      // What is thrown while no test runs, or after the test that started it has ended.
      else if (data.message.startsWith('Error: ')) send({ type: 'failure', text: data.message });
      continue;
    }
    if (held) send(held);
    held = undefined;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const failure = type === 'test:fail' ? explain(data.details.error) : undefined;
    if (data.nesting === 0) {
      if (failure !== undefined) send({ type: 'failure', text: failure });
      const now = readCpuMs();
      send({ type: 'file', durationMs: data.details.duration_ms, cpuMs: now - cpuMs });
      cpuMs = now;
      continue;
    }
    // A suite that is skipped reports none of its tests.
    const skipped = data.skip === true ? 'skipped' : data.skip || undefined;
    if (data.details.type !== 'suite' || failure !== undefined || skipped !== undefined) {
      held = {
        type: 'test', name: [...path.slice(1, data.nesting), data.name].join(' > '),
        place: `${relative('', data.file ?? '')}:${data.line ?? 0}`, skipped, failure,
      };
    }
  }
  yield ''; // a reporter has to be a generator
}

/** Undefined if only tests of a suite failed, which are reported each. */
function explain(error: Error): string | undefined {
  // Node wraps what a test threw (ERR_TEST_FAILURE); its types do not describe the wrapper.
  const { failureType, cause } = error as { failureType?: string; cause?: unknown };
  return failureType === 'subtestsFailed' ? undefined : inspect(cause);
}

function send(message: WorkerMessage): void {
  process.send?.(message);
}
