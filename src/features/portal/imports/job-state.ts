/**
 * The state of a job, which the store keeps in versions. Each change replaces the version that it
 * is based on: of several requests and nodes that change the same one, one succeeds.
 */
import type { ImportJobKey, ImportJobStore } from '../../../store/nodes/import-job-store.ts';
import type { BulkTask } from './bulk/bulk-task.ts';
import { isRunning, type JobContent, type JobDescription } from './job-description.ts';
import type { Importer, ProductImport } from './products/product-import.ts';
import type { RevertTask } from './revert/revert-task.ts';
import type { StockImport } from './stock/stock-import.ts';

/** What a job does, with certain settings. Other settings are another task. */
export type ImportTask = ProductImport | StockImport | RevertTask | BulkTask;

export interface ImportState extends Omit<JobDescription, 'id' | 'task'> {
  readonly task: ImportTask;
}

interface JobServices {
  readonly jobs: ImportJobStore;
  readonly clock: () => number;
}

export class JobState {
  readonly key: ImportJobKey;
  readonly #services: JobServices;
  #importer: Importer;
  #version: number;
  #current: ImportState;
  #stored: JobDescription | undefined;

  /** @param version Of this state in the store. */
  constructor(
    { id, importer, version, state }: {
      readonly id: string;
      readonly importer: Importer;
      readonly version: number;
      readonly state: ImportState;
    },
    services: JobServices,
  ) {
    this.key = { sellerId: importer.sellerId, id };
    this.#importer = importer;
    this.#version = version;
    this.#current = state;
    this.#services = services;
  }

  /** Who uploaded or previewed it, until it starts; then who started it. */
  get importer(): Importer {
    return this.#importer;
  }

  get version(): number {
    return this.#version;
  }

  get current(): ImportState {
    return this.#current;
  }

  /** As the store has it: all nodes show the same progress. */
  get description(): JobDescription {
    return this.#stored ?? this.#toContent(this.#current).description;
  }

  /** @param description What the store has of this version. */
  noteStored(description: JobDescription): void {
    this.#stored = description;
  }

  /** Returns false and does nothing if that version was replaced or deleted. */
  async replace(
    version: number, change: Partial<ImportState>, importer = this.#importer,
  ): Promise<boolean> {
    const { jobs, clock } = this.#services;
    const state = { ...this.#current, ...change, updatedAt: clock() };
    const hasFile = isRunning(state) || state.phase === 'ready';
    const isReplaced = await jobs.replaceJob({
      ...this.key, version, content: this.#toContent(state, importer),
      isRunning: isRunning(state), sizeBytes: hasFile ? state.task.diskBytes : 0,
    });
    if (isReplaced) {
      [this.#version, this.#current, this.#stored] = [version + 1, state, undefined];
      this.#importer = importer;
    }
    return isReplaced;
  }

  /** Stores how far the run of that version is. */
  noteProgress(version: number): ReturnType<ImportJobStore['noteProgress']> {
    const content = this.#toContent(this.#current);
    return this.#services.jobs.noteProgress({ ...this.key, version, content });
  }

  #toContent({ task, ...state }: ImportState, importer = this.#importer): JobContent {
    const description = { id: this.key.id, ...state, task: task.description };
    return { importer, description };
  }
}
