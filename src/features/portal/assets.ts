/**
 * The portal's stylesheet, scripts and icon. They are read once and served without their comments,
 * under paths that contain a hash of what is served, so browsers can cache them forever.
 */
import { hash } from 'node:crypto';
import { extname } from 'node:path';
import { AppError } from '../../domain/error.ts';
import type { Reply } from '../../http/response/reply.ts';
import { readAssets } from '../../runtime/asset.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const HASH_LENGTH = 16;

/** Comments on lines of their own and indentation: a quarter of what a script would weigh. */
function withoutComments(text: string): string {
  return text.replace(/^[ \t]*\/\*.*?\*\//gms, '').replace(/\n\s*/g, '\n').trimStart();
}

export type Assets = ReturnType<typeof loadAssets>;

export function loadAssets() {
  const texts = readAssets(new URL('assets/', import.meta.url));
  const files = new Map([...texts].map(([name, text]) => {
    const content = withoutComments(text);
    const digest = hash('sha256', content, 'hex').slice(0, HASH_LENGTH);
    const headers = {
      'content-type': TYPES[extname(name)] ?? '',
      'cache-control': 'public, max-age=31536000, immutable',
    };
    return [name, { content, digest, headers }];
  }));
  return {
    /** The path below `/assets/`: the file's hash and name. */
    pathOf(name: string): string {
      const file = files.get(name);
      if (!file) throw new TypeError(`There is no asset "${name}".`);
      return `${file.digest}/${name}`;
    },
    /** @throws AppError `not_found` */
    answer(digest: string, name: string): Reply {
      const file = files.get(name);
      if (!file || file.digest !== digest) {
        throw new AppError('not_found', 'This file does not exist.');
      }
      return { status: 200, headers: file.headers, body: file.content };
    },
  };
}
