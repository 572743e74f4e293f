/**
 * Recognises errors of Node by their codes, such as `ENOENT`. Not by their class: where a test
 * runner, such as Jest, runs this code in a context of its own, Node's errors have another one, and
 * those that worker threads throw arrive as plain copies.
 */
export function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  const errorCode = findErrorCode(error);
  return codes.some((code) => code === errorCode);
}

/** The code of an error; undefined if it has none. */
export function findErrorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error
    ? String(error.code) : undefined;
}
