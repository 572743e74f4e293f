/** Tells errors of the operating system apart, by the name that it gives them: `ENOENT`. */

export function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}
