/** Signs in to the portal and sends its forms, for the recorder of the fixture. */
import assert from 'node:assert/strict';
import { send } from '../support/http.ts';
import { type SentRequest, toRequest } from './fixture.ts';

export const FORM_TYPE = {
  'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin',
};

/** A browser: it keeps cookies, and the CSRF token of its forms. */
export class Browser {
  readonly cookies = new Map<string, string>();
  csrf = '';
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  get headers(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { 'accept-language': 'en-GB', ...(cookie && { cookie }) };
  }

  async get(path: string): Promise<string> {
    return (await this.#send({ method: 'GET', path, headers: this.headers })).body;
  }

  describe(path: string, fields: Record<string, string>): SentRequest {
    const body = new URLSearchParams({ csrf: this.csrf, ...fields }).toString();
    return { method: 'POST', path, headers: { ...this.headers, ...FORM_TYPE }, body };
  }

  post(path: string, fields: Record<string, string>): ReturnType<Browser['get']> {
    return this.#send(this.describe(path, fields)).then(({ body }) => body);
  }

  async #send(request: SentRequest): Promise<{ readonly body: string }> {
    const answer = await send(this.#port, toRequest(request));
    assert.ok(answer.status < 500, answer.text);
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    this.csrf = /name="csrf" value="([^"]*)"/.exec(answer.text)?.[1] ?? this.csrf;
    return { body: answer.text };
  }
}
