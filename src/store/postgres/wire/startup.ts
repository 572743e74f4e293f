/**
 * The start of a session: startup message and authentication (PostgreSQL manual, "Start-up"). A
 * server must authenticate by SCRAM-SHA-256 or by what needs no password. It does not get the
 * password itself, nor its MD5 hash, which is as good as the password. A server that accepts a
 * client without SCRAM proves nothing: where a password is configured, its certificate, or the
 * folder of its socket, must have proven which server it is.
 */
import { stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { parseError, ProtocolError, unexpectedMessage } from './errors.ts';
import { MessageReader } from './message-reader.ts';
import { MessageWriter } from './message-writer.ts';
import { startScram } from './scram.ts';
import { openSocket, type Server } from './socket.ts';

const PROTOCOL_VERSION = 3 << 16;
/** The mode of a folder in which every user can create a socket. */
const OTHERS_WRITE = 0o002;
/** Codes of authentication messages. */
const [OK, SASL, SASL_CONTINUE, SASL_FINAL] = [0, 10, 11, 12] as const;

export interface SessionOptions {
  /** As pgbouncer calls them: `transaction` has one exchange in flight, no named statements. */
  readonly poolMode: 'session' | 'transaction';
  readonly user: string;
  readonly database: string;
  readonly applicationName: string;
  /** Reads the password for a server when it asks for one; undefined if there is none. */
  readonly findPassword: (server: Server) => Promise<string | undefined>;
  readonly connectTimeoutMs: number;
}

export interface Session {
  readonly server: Server;
  readonly socket: Socket;
  /** The process and its secret, for requests to cancel. */
  readonly backendKey: Buffer;
  readonly poolMode: SessionOptions['poolMode'];
}

type Message = { readonly type: string; readonly body: Buffer };
type Messages = AsyncGenerator<Message, never>;

/** @throws PostgresError, ProtocolError, and errors of the network and of TLS. */
export async function startSession(server: Server, options: SessionOptions): Promise<Session> {
  const abort = new AbortController();
  using _timer = setTimeout(() => abort.abort(), options.connectTimeoutMs);
  let socket: Socket | undefined;
  try {
    socket = await openSocket(server, abort.signal);
    const { user, database, applicationName, poolMode } = options;
    socket.write(new MessageWriter().message('', PROTOCOL_VERSION, 'user', user, 'database',
      database, 'application_name', applicationName, 'client_encoding', 'UTF8', '').take());
    const messages = readMessages(socket);
    await authenticate(server, options, socket, messages);
    let backendKey: Buffer = Buffer.alloc(8);
    for await (const { type, body } of messages) {
      if (type === 'Z') break;
      if (type === 'K' && body.length === backendKey.length) backendKey = body;
      else if (type !== 'S') throw unexpectedMessage(type);
    }
    return { server, socket, backendKey, poolMode };
  } catch (error) {
    socket?.destroy();
    throw abort.signal.aborted ? new Error('timeout expired', { cause: error }) : error;
  }
}

/** The messages up to ReadyForQuery, without notices. @throws PostgresError for an error */
async function* readMessages(socket: Socket): Messages {
  const messages: Message[] = [];
  const reader = new MessageReader((type, buffer, start, end) => {
    messages.push({ type, body: buffer.subarray(start, end) });
  });
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    reader.push(chunk);
    for (const message of messages) {
      if (message.type === 'E') throw parseError(message.body);
      const isLast = message === messages.at(-1) && reader.isEmpty;
      if (message.type === 'Z' && !isLast) throw unexpectedMessage('Z');
      if (message.type !== 'N') yield message;
    }
    messages.length = 0;
  }
  throw new ProtocolError('server closed the connection unexpectedly');
}

async function authenticate(
  server: Server, options: SessionOptions, socket: Socket, messages: Messages,
): Promise<void> {
  /** Waits for a request: any, or the one that must follow. */
  const next = async (expected?: number) => {
    const { type, body } = (await messages.next()).value;
    if (type !== 'R' || body.length < 4) throw unexpectedMessage(type);
    const code = body.readInt32BE(0);
    if (expected !== undefined && code !== expected) throw unexpectedMessage(type);
    return { code, text: body.toString('utf8', 4) };
  };
  const { code, text } = await next();
  if (code === OK && await isVerified(server)) return;
  if (code !== SASL && code !== OK) {
    throw new ProtocolError(`the server asks for authentication method ${code}; this client only `
      + 'has SCRAM-SHA-256: set scram-sha-256 in pg_hba.conf, and set the password again if it '
      + 'is stored as MD5');
  }
  const password = await options.findPassword(server);
  if (code === OK) {
    if (password === undefined) return;
    throw new ProtocolError('the server did not prove that it knows the password, so it may be '
      + 'another one: set scram-sha-256 in pg_hba.conf (a pooler: auth_type), or verify its '
      + 'certificate with sslmode=verify-full, or configure no password');
  }
  if (password === undefined) {
    throw new Error('no password supplied: set PGPASSWORD, or add a line to ~/.pgpass');
  }
  const scram = startScram({
    password, offered: text.split('\0').filter(Boolean),
    certificate: socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined,
  });
  const first = Buffer.from(scram.first);
  socket.write(new MessageWriter().message('p', scram.mechanism, first.length, first).take());
  const answer = Buffer.from(await scram.answer((await next(SASL_CONTINUE)).text));
  socket.write(new MessageWriter().message('p', answer).take());
  scram.verify((await next(SASL_FINAL)).text);
  await next(OK);
}

/** Whether only the right server can have answered: by its certificate, or by its socket. */
async function isVerified({ host, sslMode }: Server): Promise<boolean> {
  if (host.startsWith('/')) return ((await stat(host)).mode & OTHERS_WRITE) === 0;
  return sslMode === 'verify-full' || sslMode === 'verify-ca';
}
