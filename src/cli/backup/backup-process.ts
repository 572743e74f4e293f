/** Starts the process that makes a backup for a server, and reads what it has done. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { BACKUP_STDERR_LIMIT_CHARACTERS, BACKUP_STOP_TIMEOUT_MS } from '../limits.ts';
import type { BackupRun } from './backup-schedule.ts';

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url));
/** Requests come first. */
const NICENESS = 10;

/** Rejects with the last line that it has written, where it failed. */
export async function runBackup(args: readonly string[], stop: AbortSignal): Promise<BackupRun> {
  const child = spawn(process.execPath, [...process.execArgv, MAIN, 'backup', ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close'); // rejects where it cannot be started
  const [out, notes] = [child.stdout, child.stderr].map(collect);
  if (child.pid !== undefined) lowerPriority(child.pid);
  const end = (): void => endInTime(child);
  stop.addEventListener('abort', end);
  try {
    const [status, signal] = await closed;
    if (status === 0) return readRun(out?.() ?? '');
    const reason = notes?.().trimEnd().split('\n').at(-1);
    throw new Error(reason || `its process ended with ${status ?? signal}.`);
  } finally {
    stop.removeEventListener('abort', end);
  }
}

function lowerPriority(id: number): void {
  try {
    setPriority(id, NICENESS);
  } catch {
    // A unit may forbid it: then it takes its share like any other.
  }
}

/** The end of what is read. */
function collect(stream: NonNullable<ChildProcess['stdout']>): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (more: string) => {
    text = (text + more).slice(-BACKUP_STDERR_LIMIT_CHARACTERS);
  });
  return () => text;
}

/** It removes what it has made; amid its checks it does not hear of a signal in time. */
function endInTime(child: ChildProcess): void {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), BACKUP_STOP_TIMEOUT_MS);
  child.once('close', () => clearTimeout(timer));
}

function readRun(text: string): BackupRun {
  // The cast: it is this program that has written it.
  const { made, removed, due_in_ms: dueInMs } = JSON.parse(text) as {
    made: { file: string } | null; removed: string[]; due_in_ms: number | null;
  };
  return { made: made?.file, removed, dueInMs: dueInMs ?? undefined };
}
