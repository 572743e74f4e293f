/** Requests to the API of a server of its own process, with a key. */
import { type Answer, send } from '../support/http.ts';

/** Sends JSON to a path below `/api/v1/`. */
export function apiClient(port: number, key: string) {
  return (method: string, path: string, body?: object, headers = {}): Promise<Answer> =>
    send(port, {
      method, path: `/api/v1/${path}`,
      headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
}
