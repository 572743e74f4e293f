/**
 * One WebDriver session (W3C WebDriver 2): sends commands, and runs functions in the page.
 * Where WebDriver has no command it uses the DevTools protocol through chromedriver.
 */

/** The member that identifies an element in JSON (W3C WebDriver 2, section 12.1). */
const ELEMENT_KEY = 'element-6066-11e4-a52e-4f735466cecf';

/** A reference to an element of the page. */
export interface ElementReference {
  readonly [ELEMENT_KEY]: string;
}

/** Anything that is sent as an element reference. */
export interface ElementLike {
  toJSON(): ElementReference;
}

/** The arguments that a test passes to a function in the page. */
export type Sent<Args extends readonly unknown[]> = {
  [Index in keyof Args]: Args[Index] extends Node | null
    ? ElementLike | Extract<Args[Index], null>
    : Args[Index];
};

/** A failed command; `code` is that of WebDriver, such as `no such element`. */
export class WebDriverError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'WebDriverError';
    this.code = code;
  }
}

/** Sends one command at a time: of many connections, the driver resets some (its backlog is 5). */
export class Session {
  readonly #url: string;
  #last: Promise<unknown> = Promise.resolve();

  /** @param url URL of the session: `{driver}/session/{id}`. */
  constructor(url: string) {
    this.#url = url;
  }

  /** Sends a command; the type of the result is that of the command's definition. */
  command(method: string, path: string, body?: object): Promise<any> {
    const sent = this.#last.then(() => sendCommand(method, `${this.#url}${path}`, body));
    this.#last = sent.catch(() => {});
    return sent;
  }

  /** Sends a command of the DevTools protocol, such as `Emulation.setEmulatedMedia`. */
  devTools(name: string, parameters: object = {}): Promise<any> {
    return this.command('POST', '/goog/cdp/execute', { cmd: name, params: parameters });
  }

  /**
   * Runs a function in the page, even if the page's own scripts are off, and returns its result,
   * which must be plain data. The function sees its arguments and the page, but no outer variables;
   * `tools` are functions that it may call by their names.
   */
  async run<Args extends unknown[], Result>(
    script: (...args: Args) => Result, args: Sent<Args>,
    tools: readonly ((...args: never[]) => unknown)[] = [],
  ): Promise<Awaited<Result>> {
    const source = `${tools.join('\n')}\nreturn (${script}).apply(null, arguments);`;
    return this.command('POST', '/execute/sync', { script: source, args });
  }

  /** Runs a function in the page that returns elements. */
  async runForElements<Args extends unknown[]>(
    script: (...args: Args) => Element[], args: Sent<Args>,
  ): Promise<string[]> {
    // Elements of the page are references in the result.
    const references = (await this.run(script, args)) as unknown as ElementReference[];
    return references.map((reference) => reference[ELEMENT_KEY]);
  }
}

/** The reference to an element with this id. */
export function makeReference(elementId: string): ElementReference {
  return { [ELEMENT_KEY]: elementId };
}

/** Sends a WebDriver command and returns the `value` of its response. Throws `WebDriverError`. */
export async function sendCommand(method: string, url: string, body?: object): Promise<any> {
  const payload = method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {};
  const response = await fetch(url, { method, ...payload }).catch((cause: unknown) => {
    throw new Error(`The driver did not answer ${method} ${url}.`, { cause });
  });
  const { value } = (await response.json()) as { value: any };
  if (response.ok) return value;
  const [summary = ''] = String(value.message).split('\n');
  throw new WebDriverError(value.error, summary);
}
