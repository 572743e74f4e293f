/** Limits that every store keeps and its users rely on. */

/** How far a clock may step back without the time of a catalogue doing so, too. */
export const CLOCK_STEP_LIMIT_MS = 60 * 60 * 1000;

/** How long a change is remembered under its Idempotency-Key, and what each new one forgets. */
export const IDEMPOTENCY_LIFE_MS = 48 * 60 * 60 * 1000;

export const WEBHOOK_RETRY_LIMIT_MS = 24 * 60 * 60 * 1000;
/** Attempts that are kept in the log of an endpoint. */
export const WEBHOOK_ATTEMPTS_KEPT = 200;

/** A session ends when nothing was asked for so long, and after its whole life in any case. */
export const SESSION_IDLE_MS = 12 * 60 * 60 * 1000;
export const SESSION_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/** Sessions of one seller; the oldest is ended first. */
export const SESSIONS_PER_SELLER_LIMIT = 50;
