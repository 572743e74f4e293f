/**
 * A process that runs a move, and sends itself SIGKILL at some step, or when the proof begins.
 */
import { moveToPostgres } from '../../../src/store/move/to-postgres.ts';
import { moveToSqlite } from '../../../src/store/move/to-sqlite.ts';
import { PASSWORD, USER } from '../../support/postgres/server.ts';

const [direction, folder = '', database = '', port, lastStep] = process.argv.slice(2);
const run = direction === 'there' ? moveToPostgres : moveToSqlite;
let step = 0;

await run({
  folder,
  connect: {
    servers: [{ host: '127.0.0.1', port: Number(port), sslMode: 'disable' }],
    user: USER, database, applicationName: 'test', connectTimeoutMs: 5_000,
    findPassword: async () => PASSWORD, targetSessionAttrs: 'read-write', poolMode: 'session',
  },
  onNote() {},
  onProgress({ phase }) {
    step += 1;
    if (lastStep !== phase && !(step >= Number(lastStep))) return;
    // While the next statement is in flight, every other time.
    if (step % 2 === 0) process.kill(process.pid, 'SIGKILL');
    else setImmediate(() => process.kill(process.pid, 'SIGKILL'));
  },
});
