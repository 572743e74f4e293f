/** Limits of the PostgreSQL client. */

/** Wait for one server to accept a connection, its certificate and password included. */
export const POSTGRES_CONNECT_TIMEOUT_MS = 10_000;
/** Wait for the answer to a pipeline; longer than the server's own `statement_timeout`. */
export const POSTGRES_ANSWER_TIMEOUT_MS = 20_000;
/** Wait for a server to close a connection that we have ended. */
export const POSTGRES_CLOSE_TIMEOUT_MS = 1_000;
/** Silence after which TCP probes a server. */
export const POSTGRES_KEEP_ALIVE_MS = 10_000;
/** One message of the server; a row of the store has at most a few megabytes. */
export const POSTGRES_MESSAGE_LIMIT_BYTES = 64 * 1024 * 1024;
/** The rows of one pipeline. */
export const POSTGRES_RESULT_LIMIT_BYTES = 256 * 1024 * 1024;
/**
 * Size of a transaction's parameters above which a Sync follows each statement: they may arrive in
 * parts. Smaller ones fit into the smallest socket buffer, 16 KiB.
 */
export const POSTGRES_SYNC_BYTES = 8 * 1024;
/** Pipelines of one connection that wait for their answers; further ones wait to be sent. */
export const POSTGRES_PIPELINE_LIMIT = 256;
/** Pipelines in flight on each connection of a pool before it opens one more. */
export const POSTGRES_SHARED_LOAD = 4;
/** Pipelines that wait to be sent on one connection, and callers that wait for a connection. */
export const POSTGRES_QUEUE_LIMIT = 10_000;
/** Wait for a connection of a pool. */
export const POSTGRES_QUEUE_TIMEOUT_MS = 5_000;
/** Prepared statements of one connection; the one used longest ago is closed first. */
export const POSTGRES_STATEMENTS_LIMIT = 250;
/** Delays between attempts to reach a server that is away. */
export const POSTGRES_RETRY_FIRST_MS = 50;
export const POSTGRES_RETRY_LIMIT_MS = 2_000;
/** Iterations of SCRAM: fewer help who listens to guess (RFC 7677), more take seconds. */
export const SCRAM_ITERATIONS_MIN = 4_096;
export const SCRAM_ITERATIONS_LIMIT = 1_000_000;
