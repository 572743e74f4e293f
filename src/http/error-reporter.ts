/** Where errors go that are not a client's doing, unless whoever runs the server says otherwise. */
import { inspect } from 'node:util';
import type { ErrorReport } from './response/problem.ts';

/** A `report` that throws is itself worth a line, and no reason to end the process. */
export function safeErrorReporter(
  report: ((entry: ErrorReport) => void) | undefined,
): (entry: ErrorReport) => void {
  if (!report) return reportToStandardError;
  return (entry) => {
    try {
      report(entry);
    } catch (error) {
      reportToStandardError({ id: entry.id, error });
    }
  };
}

function reportToStandardError({ id, error }: ErrorReport): void {
  const line = { time: new Date().toISOString(), level: 'error', event: 'error', id };
  console.error(JSON.stringify({ ...line, error: inspect(error) }));
}
