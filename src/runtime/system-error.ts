/** Recognises errors of the operating system by their codes, such as `ENOENT`. */

export function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}
