/**
 * The operations of a recording: every system call that changes files, makes changes durable, or
 * sends bytes to another process, with the times of its call and its return.
 */

/** Nanoseconds; only differences and order matter. */
export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** Paths are absolute, as the kernel names them. */
export type FileCall =
  | { readonly kind: 'open'; readonly path: string; readonly isTruncating: boolean }
  | {
    readonly kind: 'write'; readonly path: string; readonly offset: number; readonly data: Buffer;
  }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  /** `fsync` or `fdatasync` of a file or a folder: after either, SQLite counts on the size, too. */
  | { readonly kind: 'sync'; readonly path: string }
  | { readonly kind: 'mkdir' | 'unlink' | 'rmdir'; readonly path: string }
  | { readonly kind: 'link' | 'rename'; readonly from: string; readonly to: string };

/** Bytes to a socket or a pipe: from its beginning on, the other end may have read them. */
export interface Sent {
  readonly kind: 'sent';
  readonly fd: number;
  /** As strace names it, such as `TCP:[127.0.0.1:8080->127.0.0.1:40000]`. */
  readonly peer: string;
  readonly data: Buffer;
}

export type FileOperation = FileCall & Span;
export type Operation = (FileCall | Sent) & Span;
