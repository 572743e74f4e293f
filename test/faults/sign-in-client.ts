/** A client that signs in to the portal and out again, and counts the responses. */
import assert from 'node:assert/strict';
import { PASSWORD_CHECKS_LIMIT } from '../../src/features/portal/limits.ts';
import { PageClient } from '../features/portal/page-client.ts';

/** Sign-ins per start of the server, which limits the requests of an address. */
const ROUNDS = 20;

interface Credentials {
  readonly email: string;
  readonly password: string;
}

export class SignInClient {
  readonly #credentials: Credentials;
  /** How often the password was sent. */
  asked = 0;
  /** How often the sign-in succeeded. */
  answered = 0;

  constructor({ email, password }: Credentials) {
    this.#credentials = { email, password };
  }

  /** Signs in repeatedly, until the server is gone or cannot respond. */
  async work(port: number, end?: AbortSignal): Promise<void> {
    for (let round = 0; round < ROUNDS && !end?.aborted; round += 1) {
      try {
        if (!await this.#signInAndOut(port)) return;
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        return; // the connection broke
      }
    }
  }

  async #signInAndOut(port: number): Promise<boolean> {
    const visitor = new PageClient(port);
    if ((await visitor.get('/portal/sign-in')).status !== 200) return false;
    this.asked += 1;
    const answer = await visitor.submit({ ...this.#credentials });
    if (answer.status === 503 || answer.status === 507) return false;
    // Right passwords count, too: a fast machine reaches the limit.
    if (answer.status === 429 && this.asked > PASSWORD_CHECKS_LIMIT) return false;
    assert.equal(answer.status, 303, answer.text);
    this.answered += 1;
    const page = await visitor.get('/portal');
    if (page.status === 503) return false;
    assert.equal(page.status, 200, page.text);
    await visitor.submit({}, { action: '/portal/sign-out' });
    return true;
  }
}
