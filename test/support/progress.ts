/**
 * A reporter for `node --test`: prints a line per finished file, so that long runs show their
 * progress, and each failure in full as soon as it happens and by name at the end. Writes the paths
 * of the files that failed to the file FAILED_FILES, if that is set.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures: string[] = [];
  const failedFiles = new Set<string>();
  let files = 0;
  for await (const { type, data } of events) {
    switch (type) {
      case 'test:fail': {
        // Node wraps what a test threw (ERR_TEST_FAILURE); its types do not describe the wrapper.
        const { failureType, cause } = data.details.error as {
          failureType?: string; cause?: unknown;
        };
        if (failureType === 'subtestsFailed') break; // each was reported
        const failure = `${data.name} (${relative('', data.file ?? '')}:${data.line ?? 0})`;
        failures.push(failure);
        if (data.file !== undefined) failedFiles.add(data.file);
        yield `\n✖ ${failure}\n${inspect(cause)}\n\n`;
        break;
      }
      case 'test:stdout':
      case 'test:stderr':
        yield data.message;
        break;
      case 'test:summary': {
        const { tests, passed, skipped } = data.counts;
        const seconds = (data.duration_ms / 1000).toFixed(1);
        if (data.file !== undefined) {
          files += 1;
          const file = relative('', data.file);
          yield `${String(files).padStart(4)}  ${file}  ${tests} tests, ${seconds} s\n`;
          break;
        }
        const list = process.env['FAILED_FILES'];
        if (list !== undefined) writeFileSync(list, [...failedFiles].join('\n'));
        for (const failure of failures) yield `✖ ${failure}\n`;
        yield `${tests} tests in ${files} files: ${passed} passed, `
          + `${failures.length} failed, ${skipped} skipped, ${seconds} s\n`;
        break;
      }
      default:
    }
  }
}
