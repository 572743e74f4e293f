/** What `record.ts` records of a data folder and its clients, and `upgrade.test.ts` expects. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Answer, Request } from '../support/http.ts';

const FIXTURE = join(import.meta.dirname, 'fixture');

/** A request and its recorded answer; a retry must get the same answer. */
export interface Exchange {
  readonly name: string;
  readonly request: SentRequest;
  readonly answer: RecordedAnswer;
}

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How many times the body is sent in a row: long files are repeated lines. */
  readonly times?: number;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A page of the portal, and a text on it. */
export interface Page {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

export interface Expectations {
  /** The clock of the recording, milliseconds since 1970. */
  readonly at: number;
  /** Where the receiver of webhooks listened. */
  readonly receiverPort: number;
  /** Writes under an Idempotency-Key. */
  readonly retries: readonly Exchange[];
  /** Reads of second pages by their cursors, and a conditional one. */
  readonly reads: readonly Exchange[];
  /** Forms of the portal, each with its nonce. */
  readonly forms: readonly Exchange[];
  /** Next pages of the portal. */
  readonly pages: readonly Page[];
  /** Reads that return counts, which neither a retry nor a form may change. */
  readonly totals: readonly Exchange[];
  /** Headers of a browser that is signed in. */
  readonly signedIn: Readonly<Record<string, string>>;
  /** A browser that has sent its password, and is asked for its one-time code. */
  readonly twoFactor: {
    readonly headers: Readonly<Record<string, string>>;
    readonly csrf: string;
    readonly secret: string;
  };
  /** The sign-in form of a browser whose session ended; `text` was typed before. */
  readonly draft: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly text: string;
  };
  /** A message that failed once and waits for its retry. */
  readonly message: {
    readonly id: string;
    readonly body: string;
    /** Both sign: the newer secret, and the one that it replaced. */
    readonly secrets: readonly string[];
  };
}

export function toRequest({ method, path, headers, body, times = 1 }: SentRequest): Request {
  return { method, path, headers, ...(body !== undefined && { body: body.repeat(times) }) };
}

const HEADERS = ['content-type', 'etag', 'location', 'idempotent-replay'];

export function readAnswer({ status, headers, text }: Answer): RecordedAnswer {
  const found = HEADERS.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { status, headers: Object.fromEntries(found), body: text };
}

export function readExpectations(): Expectations {
  // The cast: record.ts wrote it.
  return JSON.parse(readFileSync(join(FIXTURE, 'expectations.json'), 'utf8')) as Expectations;
}

/** Writes the recorded data folder. */
export function unpack(folder: string): string {
  mkdirSync(folder);
  for (const name of ['catalogue.db', 'search.db', 'server.key']) {
    const bytes = gunzipSync(readFileSync(join(FIXTURE, `${name}.gz`)));
    writeFileSync(join(folder, name), bytes, { mode: 0o600 });
  }
  return folder;
}
