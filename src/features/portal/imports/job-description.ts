/**
 * A job as it is stored and shown: plain data that JSON keeps. Its size is bounded: examples of
 * rows and the column names of one file.
 */
import type { BulkDescription } from './bulk/bulk-task.ts';
import type { Importer, ProductDescription } from './products/product-import.ts';
import type { RevertDescription } from './revert/revert-task.ts';
import type { StockDescription } from './stock/stock-import.ts';

export type TaskDescription =
  ProductDescription | StockDescription | RevertDescription | BulkDescription;

/** What the pages show of a job. */
export interface JobDescription {
  readonly id: string;
  /** `checking` and `importing` are running, `ready` waits for the seller, the rest are final. */
  readonly phase: 'checking' | 'ready' | 'importing' | 'done' | 'cancelled' | 'failed';
  readonly task: TaskDescription;
  /** Incremented when the settings change, so the seller imports only what the preview showed. */
  readonly revision: number;
  /** Why the latest run failed. */
  readonly problem?: string | undefined;
  /** When the phase changed, in milliseconds since 1970. */
  readonly updatedAt: number;
}

/** What the store keeps of a job. */
export interface JobContent {
  readonly importer: Importer;
  readonly description: JobDescription;
}

/** Whether a job runs in the background. */
export function isRunning({ phase }: Pick<JobDescription, 'phase'>): boolean {
  return phase === 'checking' || phase === 'importing';
}
