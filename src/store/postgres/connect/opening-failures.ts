/** Says why a database could not be opened, and which setting to change. */
import { AppError } from '../../../domain/error.ts';
import { ConnectionLostError, PostgresError } from '../wire/errors.ts';

/** By SQLSTATE (PostgreSQL manual, "PostgreSQL Error Codes"). */
const BY_STATE: readonly (readonly [state: RegExp, advice: string])[] = [
  [/^28P01$/, 'Check the user in the database URL, and the password: it comes from the password '
    + 'file of the settings, PGPASSWORD or ~/.pgpass.'],
  [/^28/, 'Check the user in the database URL. Lines of pg_hba.conf say who may connect, and how.'],
  [/^3D/, 'Check the name after the last slash of the database URL, or create the database.'],
  [/^42501$/, 'Let the user own the database: ALTER DATABASE ... OWNER TO ...'],
  [/^53300$/, 'Raise max_connections of the database, or run fewer nodes.'],
];
/** By the message or the code of an error that is none of the server's. */
const BY_TEXT: readonly (readonly [text: RegExp, advice: string])[] = [
  [/ALTNAME_INVALID/, 'Use the name in its certificate as the host in the database URL.'],
  [/CERT|SIGNATURE|ISSUER|SSL routines/, 'Name the file with the certificate of its authority in '
    + 'the database URL: ?sslrootcert=FILE'],
  [/does not support SSL/, 'Turn on TLS at the server (ssl = on). Only for a network that nobody '
    + 'else can reach, add ?sslmode=disable to the database URL.'],
  [/session is read-only/, 'It is a standby. Name the primary in the database URL, or all servers, '
    + 'separated by commas.'],
  [/password cannot be read/, 'Check the file with the password in the settings.'],
  [/password/, ''], // those messages say what to do
  [/, open '/, 'Check sslrootcert, sslcert and sslkey in the database URL.'],
  [/ECONN|ENOTFOUND|EAI_AGAIN|ENOENT|EACCES|EHOST|ENET|timeout/, 'Check host and port in the '
    + 'database URL, and that PostgreSQL runs and listens there (listen_addresses).'],
];

/** @throws AppError `unavailable` for errors of the database; others as they are. */
export function explainOpening(error: unknown): never {
  const failure = findReported(error);
  if (!failure) throw error;
  const message = `The database cannot be used: ${failure.message.replace(/\.$/, '')}.`;
  throw new AppError(
    'unavailable', `${message} ${findAdvice(failure)}`.trim(), { cause: error },
  );
}

/** The error of the connection or of the server, which an AppError may have as its cause. */
function findReported(error: unknown): ConnectionLostError | PostgresError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ConnectionLostError || cause instanceof PostgresError) return cause;
  }
  return undefined;
}

function findAdvice(error: Error): string {
  const causes: Error[] = [];
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) causes.push(cause);
  const server = causes.find((cause) => cause instanceof PostgresError);
  const [, byState] = BY_STATE.find(([state]) => state.test(server?.sqlstate ?? '')) ?? [];
  if (byState !== undefined || server) return byState ?? '';
  const text = causes.map((cause) =>
    `${cause.message} ${'code' in cause ? String(cause.code) : ''}`).join(' ');
  return BY_TEXT.find(([pattern]) => pattern.test(text))?.[1] ?? '';
}
