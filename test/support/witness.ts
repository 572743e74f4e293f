/** Collects the access log entries of an app. */
import type { AccessLogEntry as AnsweredRequest } from '../../src/http/request-record.ts';

export interface Witness {
  readonly entries: AnsweredRequest[];
  readonly onRequestComplete: (entry: AnsweredRequest) => void;
  /** Resolves once this many requests have been reported. */
  wait(count: number): Promise<void>;
}

export function makeWitness(): Witness {
  const entries: AnsweredRequest[] = [];
  let wake = (): void => {};
  return {
    entries,
    onRequestComplete(entry) {
      entries.push(entry);
      wake();
    },
    async wait(count) {
      while (entries.length < count) await new Promise<void>((resolve) => { wake = resolve; });
    },
  };
}
