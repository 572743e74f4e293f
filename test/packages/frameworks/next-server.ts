/** Serves the route file in the working folder as Next.js does: each request as a `NextRequest`. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

type Handler = (request: Request) => Promise<Response>;

const recipe = join(process.cwd(), 'recipe.ts');
// The cast: what the file exports.
const route = await import(pathToFileURL(recipe).href) as Readonly<Record<string, Handler>>;
// The cast: the class of the package, which has the same constructor.
const { NextRequest } = createRequire(recipe)('next/server') as { NextRequest: typeof Request };

createServer({ requestTimeout: 0 }, async (request, response) => {
  const { method = 'GET', url = '' } = request;
  const handle = url.startsWith('/api/v1/') ? route[method] : undefined;
  if (!handle) return void response.writeHead(404).end('hello');
  const left = new AbortController();
  response.once('close', () => left.abort());
  const hasBody = request.headers['content-length'] !== undefined
    || request.headers['transfer-encoding'] !== undefined;
  const { status, headers, body } = await handle(new NextRequest(`http://127.0.0.1${url}`, {
    method, signal: left.signal, duplex: 'half',
    headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    ...(hasBody && { body: ReadableStream.from(request) }),
  }));
  response.writeHead(status, Object.fromEntries(headers));
  if (body) Readable.from(body).on('error', () => response.destroy()).pipe(response);
  else response.end();
}).listen(Number(process.env['PORT']));
