/**
 * `export`: writes the catalogue of a running server, at one position, to a file or to standard
 * output. The file appears once it is complete; until then it is FILE.ID.part.
 */
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { RETRY_POLICY } from '../limits.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import {
  type ApiServer, ask, PRODUCTS_PATH, readAnswer, readServer, SERVER_FLAGS,
} from './api-client.ts';
import { type Command, CommandFailure, type Input, UsageError } from '../command.ts';
import { ExportTarget } from './export-target.ts';
import { withInterrupt } from '../progress.ts';
import { Progress } from '../progress.ts';
import { formatCount } from '../format.ts';
import { TemporaryFailure, withRetries } from './retry.ts';
import { type FileFormat, findFormat, FORMAT_FLAG, RowCounter } from './text-format.ts';

interface ExportTask extends FileFormat {
  readonly server: ApiServer;
  /** Undefined for standard output. */
  readonly target: ExportTarget | undefined;
  readonly query: URLSearchParams;
}

interface Outcome {
  readonly rows: number;
  /** From where the feed of changes goes on. */
  readonly position: number;
}

/** Flags that go to the server as they are, as parameters of the list. */
const FILTERS = {
  q: { value: 'TEXT', help: 'only products with this in their name, SKU or category' },
  category: { value: 'NAME', help: 'only products of this category' },
  sku: { value: 'SKU', help: 'only the product with this SKU' },
  'price-min': { value: 'PRICE', help: 'only products that cost this or more' },
  'price-max': { value: 'PRICE', help: 'only products that cost this or less' },
  'stock-min': { value: 'N', help: 'only products with a stock of this or more' },
  'stock-max': { value: 'N', help: 'only products with a stock of this or less' },
  'updated-since': { value: 'TIME', help: 'only products changed since then (RFC 3339)' },
  'changed-since': { value: 'N', help: 'only products changed after this position' },
  sort: { value: 'MEMBER', help: 'such as --sort=name, or --sort=-price for falling prices' },
  fields: { value: 'LIST', help: 'only these members, comma-separated' },
};

const NOT_WHOLE = 'What was written is not the whole catalogue.';

export const exportProducts: Command = {
  summary: 'Exports the catalogue of a running server to a file, or to standard output.',
  operands: ['[FILE|-]'],
  flags: {
    ...SERVER_FLAGS,
    ...FILTERS,
    format: FORMAT_FLAG,
    force: { help: 'replace FILE where it is there' },
  },
  isRemote: true,
  async run(input) {
    const { flags, operands: [operand], isJson, out, note } = input;
    const path = operand === '-' ? undefined : operand; // by custom, - is standard output
    const server = readServer(input);
    if (path === undefined && isJson) throw new UsageError('--json needs a FILE for the products.');
    const isForced = flags['force'] !== undefined;
    const target = path === undefined ? undefined : new ExportTarget(path, isForced);
    const format = findFormat(path ?? '.csv', flags['format']);
    const task = { server, target, ...format, query: readQuery(flags, format) };
    const attempt = () => (target ? writeFile(task, target) : writeOut(task));
    const exporting = () => withRetries(attempt, RETRY_POLICY, note);
    const { rows, position } = await withInterrupt(exporting, () => {
      target?.discard();
      return target ? `Interrupted: ${path} was not written.` : `Interrupted. ${NOT_WHOLE}`;
    });
    const text = `${formatCount(rows)} products as they were at position ${position}`;
    if (path === undefined) note(`Exported ${text}.`);
    else if (isJson) out(JSON.stringify({ rows, position, file: path }));
    else out(`Exported ${text} to ${path}.`);
  },
};

function readQuery(flags: Input['flags'], { format }: FileFormat): URLSearchParams {
  const query = new URLSearchParams({ format });
  for (const name of Object.keys(FILTERS)) {
    const value = flags[name];
    if (value !== undefined) query.set(name.replaceAll('-', '_'), value);
  }
  return query;
}

/** An export that has begun. */
interface Export {
  readonly position: number;
  readonly counter: RowCounter;
  readonly body: AsyncGenerator<Buffer, void, void>;
}

async function beginExport({ server, target, query, format }: ExportTask): Promise<Export> {
  const answer = await ask(server, {
    method: 'GET', path: `${PRODUCTS_PATH}?${query}`, headers: { 'accept-encoding': 'gzip' },
  });
  const position = Number(answer.headers['seller-position']);
  if (!Number.isSafeInteger(position)) {
    answer.destroy();
    throw new CommandFailure(`${server.url} answered without a position. Is --url right?`);
  }
  const counter = new RowCounter(format);
  // Progress does not go amid rows on the same terminal.
  const isShown = target !== undefined || !process.stdout.isTTY;
  const body = watch(readAnswer(server, answer), counter, isShown);
  return { position, counter, body };
}

/** Lets the bytes through, and shows how far they are. */
async function* watch(
  chunks: AsyncIterable<Buffer>, counter: RowCounter, isShown: boolean,
): AsyncGenerator<Buffer, void, void> {
  const progress = isShown ? new Progress(process.stderr) : undefined;
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      counter.add(chunk);
      bytes += chunk.length;
      progress?.show({ rows: counter.rows, bytes });
      yield chunk;
    }
    progress?.end({ rows: counter.rows, bytes });
  } finally {
    progress?.close();
  }
}

async function writeOut(task: ExportTask): Promise<Outcome> {
  const { position, counter, body } = await beginExport(task);
  try {
    await pipeline(body, process.stdout, { end: false });
  } catch (error) {
    if (error instanceof TemporaryFailure) {
      throw new CommandFailure(`${error.message} ${NOT_WHOLE}`);
    }
    if (!isSystemError(error, 'EPIPE')) throw error;
    throw new CommandFailure('Nobody has read the output to its end.');
  }
  return { rows: counter.rows, position };
}

/** Each attempt begins the file anew, for an export is of one position. */
async function writeFile(task: ExportTask, target: ExportTarget): Promise<Outcome> {
  const file = await target.open();
  try {
    const { position, counter, body } = await beginExport(task);
    const written = file.createWriteStream({ flush: true });
    if (task.isCompressed) await pipeline(body, createGzip(), written);
    else await pipeline(body, written);
    target.show();
    return { rows: counter.rows, position };
  } catch (error) {
    await file.close();
    target.discard();
    throw error;
  }
}
