/**
 * Reads the log that strace writes of a process and its children. A call that another thread
 * interrupts takes two lines there, which are put together again. Strings are in hexadecimal
 * (`-xx`), so no byte of theirs can be taken for the log's own punctuation. What this reader does
 * not understand is an error: a call that it ignored would make the simulation worthless.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { FileCall, Operation, Sent } from './operation.ts';

/** What strace is to record, and how: with the paths of descriptors and all bytes. */
export const STRACE_OPTIONS: readonly string[] = [
  '-f', '--seccomp-bpf', '-yy', '-xx', '-s', '67108864', '--timestamps=unix,ns',
  '--syscall-times=ns', '-e', 'trace=open,openat,openat2,creat,write,writev,pwrite64,pwritev,'
    + 'pwritev2,truncate,ftruncate,fallocate,fsync,fdatasync,sync_file_range,rename,renameat,'
    + 'renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,'
    + 'copy_file_range,sendfile,splice,sendto,sendmsg,sendmmsg',
];

/** Eleven days of nanoseconds, which a number holds exactly. */
const TIME_RANGE = 10n ** 15n;
const LINE = /^(\d+) +(\d+)\.(\d{9}) (.*)$/s;
const RESUMED = /^<\.\.\. \w+ resumed>/;
const UNFINISHED = / <unfinished \.\.\.>$/;
const CALL = /^(\w+)\((.*)\) += (-?\d+|\?)(.*?)(?: <(\d+)\.(\d{9})>)?$/s;
const FILE = /^(\d+)<((?:\\x[0-9a-f]{2})+)>(\(deleted\))?/;
const SOCKET = /^(\d+)<((?:TCP|UNIX)[^"]*?)>, /;
const PIPE = /^(?:pipe|socket):/;
const STRING = /"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g;

/** The calls in their order. `isInside` says which paths are recorded. */
export async function readStraceLog(
  path: string, isInside: (path: string) => boolean,
): Promise<Operation[]> {
  const operations: Operation[] = [];
  const reader = new CallReader(isInside);
  const unfinished = new Map<string, { readonly begin: number; readonly text: string }>();
  for await (const line of createInterface({ input: createReadStream(path, 'latin1') })) {
    const [, thread = '', seconds, fraction, text = ''] = LINE.exec(line) ?? [];
    if (text === '' || text.startsWith('+++') || text.startsWith('---')) continue;
    const begin = Number(BigInt(`${seconds}${fraction}`) % TIME_RANGE);
    if (UNFINISHED.test(text)) {
      unfinished.set(thread, { begin, text: text.replace(UNFINISHED, '') });
      continue;
    }
    const started = RESUMED.test(text) ? unfinished.get(thread) : { begin, text: '' };
    unfinished.delete(thread);
    if (!started) continue; // one that was interrupted by the end of its process
    const operation = reader.read(started.text + text.replace(RESUMED, ''), started.begin);
    if (operation) operations.push(operation);
  }
  return operations.sort((one, other) => one.begin - other.begin);
}

class CallReader {
  readonly #isInside: (path: string) => boolean;
  /** The file offset of the next `write`, by descriptor and path. */
  readonly #offsets = new Map<string, number>();
  /** New files without bytes: appending to one of them begins at 0. */
  readonly #empty = new Set<string>();

  constructor(isInside: (path: string) => boolean) {
    this.#isInside = isInside;
  }

  /** Undefined for a call that failed, or that concerns no recorded file and no other process. */
  read(text: string, begin: number): Operation | undefined {
    const [, name = '', args = '', result = '', rest = '', seconds = '0', nanoseconds = '0'] =
      CALL.exec(text) ?? [];
    if (result.startsWith('-') || result === '?') return undefined;
    const took = Number(seconds) * 1e9 + Number(nanoseconds);
    const call = this.#readCall(name, args, Number(result), rest);
    return call && { ...call, begin, end: begin + took };
  }

  #readCall(
    name: string, args: string, result: number, rest: string,
  ): FileCall | Sent | undefined {
    const path = readStrings(args, 1)[0]?.toString() ?? '';
    switch (name) {
      case 'open': case 'openat': case 'creat':
        return this.#open(name, path, args, result + rest);
      case 'rename': case 'renameat': case 'renameat2': case 'link': case 'linkat': {
        const [from = '', to = ''] = readStrings(args).map(String);
        if (!this.#isInside(from) && !this.#isInside(to)) return undefined;
        return { kind: name.startsWith('rename') ? 'rename' : 'link', from, to };
      }
      case 'unlink': case 'mkdir': case 'rmdir': case 'unlinkat': case 'mkdirat': {
        if (!this.#isInside(path)) return undefined;
        const isFolder = args.includes('AT_REMOVEDIR');
        const kind = name === 'unlinkat' && isFolder ? 'rmdir' : name.replace(/at$/, '');
        return { kind: kind as 'unlink' | 'mkdir' | 'rmdir', path }; // by the labels of this case
      }
      case 'write': case 'writev': case 'pwrite64': case 'pwritev': case 'sendto': case 'sendmsg':
        return this.#write(name, args, result);
      case 'fsync': case 'fdatasync': case 'ftruncate':
        return this.#change(name, args);
      default:
        if (!this.#concerns(args)) return undefined;
        throw new Error(`The simulation does not know the call ${name}(${args.slice(0, 200)}).`);
    }
  }

  #open(name: string, path: string, args: string, opened: string): FileCall | undefined {
    if (!this.#isInside(path)) return undefined;
    const isAppended = args.includes('O_APPEND') && !this.#empty.has(path);
    if (isAppended || /O_(?:D?SYNC|DIRECT\b|TMPFILE)/.test(args)) {
      throw new Error(`The simulation does not know how to open ${path} by ${args.slice(-99)}.`);
    }
    const file = readFile(opened);
    if (file) this.#offsets.set(`${file.fd} ${file.path}`, 0);
    if (args.includes('O_EXCL')) this.#empty.add(path);
    if (name !== 'creat' && !/O_(?:CREAT|TRUNC)/.test(args)) return undefined;
    return { kind: 'open', path, isTruncating: name === 'creat' || args.includes('O_TRUNC') };
  }

  #write(name: string, args: string, result: number): FileCall | Sent | undefined {
    const file = readFile(args);
    const [, fd = file?.fd, peer = PIPE.exec(file?.path ?? '')?.[0]] = SOCKET.exec(args) ?? [];
    const isFile = file !== undefined && this.#isInside(file.path) && !file.isDeleted;
    if (!isFile && peer === undefined) return undefined;
    const data = Buffer.concat(readStrings(args)).subarray(0, result);
    if (data.length !== result) throw new Error(`Bytes are missing: ${args.slice(0, 200)}`);
    if (!isFile) return { kind: 'sent', fd: Number(fd), peer: peer ?? '', data };
    const { path } = file;
    this.#empty.delete(path);
    if (name.startsWith('pwrite')) {
      return { kind: 'write', path, offset: readLastNumber(args), data };
    }
    const place = `${file.fd} ${path}`;
    const offset = this.#offsets.get(place) ?? 0;
    this.#offsets.set(place, offset + result);
    return { kind: 'write', path, offset, data };
  }

  #change(name: string, args: string): FileCall | undefined {
    const file = readFile(args);
    if (!file || !this.#isInside(file.path) || file.isDeleted) return undefined;
    const { path } = file;
    if (name !== 'ftruncate') return { kind: 'sync', path };
    return { kind: 'truncate', path, size: readLastNumber(args) };
  }

  #concerns(args: string): boolean {
    const file = readFile(args);
    const paths = [...file ? [file.path] : [], ...readStrings(args).map(String)];
    return paths.some((path) => path.startsWith('/') && this.#isInside(path));
  }
}

interface OpenFile {
  readonly fd: number;
  readonly path: string;
  /** The name by which it was opened is gone: should it have another, the recording ends wrong. */
  readonly isDeleted: boolean;
}

function readFile(args: string): OpenFile | undefined {
  const [, fd, path, deleted] = FILE.exec(args) ?? [];
  if (path === undefined) return undefined;
  return { fd: Number(fd), path: decode(path).toString(), isDeleted: deleted !== undefined };
}

function readLastNumber(args: string): number {
  return Number(/, (\d+)$/.exec(args)?.[1]);
}

function readStrings(args: string, most = Infinity): Buffer[] {
  const found: Buffer[] = [];
  for (const [, text = '', more] of args.matchAll(STRING)) {
    if (more !== undefined) throw new Error('strace has cut a string: raise its limit.');
    found.push(decode(text));
    if (found.length >= most) break;
  }
  return found;
}

function decode(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}
