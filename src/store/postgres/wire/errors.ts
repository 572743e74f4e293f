/**
 * The errors of the client. They contain neither passwords nor parameters, nor the server's DETAIL,
 * which may contain values of a row.
 */

/** An error that the server reported. */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  /** Five characters (PostgreSQL manual, "PostgreSQL Error Codes"). */
  readonly sqlstate: string;
  /** Whether a prepared statement would return other columns now, since its table has changed. */
  readonly isStale: boolean;
  /** Whether the server closes the connection. */
  readonly isFatal: boolean;

  /** `fields` by their codes (PostgreSQL manual, "Error and Notice Message Fields"). */
  constructor(message: string, sqlstate: string, fields: ReadonlyMap<string, string> = new Map()) {
    super(message);
    this.sqlstate = sqlstate;
    // Not by the message, which is in the server's language.
    this.isStale = sqlstate === '0A000' && fields.get('R') === 'RevalidateCachedQuery';
    // V is in English; poolers send only S.
    this.isFatal = /^(?:FATAL|PANIC)$/.test(fields.get('V') ?? fields.get('S') ?? '');
  }
}

/** A connection could not be opened, or was lost. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
  /** Whether statements were sent: they may have been executed, and committed. */
  readonly isOutcomeUnknown: boolean;

  constructor(message: string, isOutcomeUnknown: boolean, cause?: unknown) {
    super(message, { cause });
    this.isOutcomeUnknown = isOutcomeUnknown;
  }
}

/** Too many callers wait for a connection, or one has waited too long. Nothing was sent. */
export class PoolExhaustedError extends Error {
  override readonly name = 'PoolExhaustedError';
}

/** The server sent what the protocol does not allow: the connection is closed. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** For a message that may not come now; `type` is its letter. */
export function unexpectedMessage(type: string): ProtocolError {
  return new ProtocolError(`unexpected message "${type}" from the server`);
}

/** From the body of an ErrorResponse. */
export function parseError(body: Buffer): PostgresError {
  const fields = new Map(body.toString('utf8').split('\0')
    .map((field) => [field.charAt(0), field.slice(1)] as const));
  return new PostgresError(fields.get('M') ?? 'The server reported an error without a message.',
    fields.get('C') ?? 'XX000', fields);
}
