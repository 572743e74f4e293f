/** Elements of the page: finding them, reading them, and acting on them as a user does. */
import { describeQuery, findInPage, type Query, type TextMatch, toPageQuery } from './query.ts';
import { type ElementReference, makeReference, type Session } from './session.ts';
import { waitFor } from './wait.ts';

/** Where elements are searched: the page or an element. */
export class Scope {
  readonly session: Session;
  readonly #elementId: string | undefined;

  constructor(session: Session, elementId?: string) {
    this.session = session;
    this.#elementId = elementId;
  }

  /** Waits for the only matching element. Throws after 10 s, or if there are several. */
  find(selector: string): Promise<PageElement> {
    return this.#findOne({ by: 'css', selector });
  }

  /** The control whose accessible name is `text`. */
  findByLabel(text: TextMatch): Promise<PageElement> {
    return this.#findOne({ by: 'label', text });
  }

  /** The element with this ARIA role and this accessible name: `findByRole('button', 'Save')`. */
  findByRole(role: string, name?: TextMatch): Promise<PageElement> {
    return this.#findOne({ by: 'role', role, name });
  }

  /** The innermost visible element with this text. */
  findByText(text: TextMatch): Promise<PageElement> {
    return this.#findOne({ by: 'text', text });
  }

  /** All elements that match now, in document order; possibly none. */
  findAll(selector: string): Promise<PageElement[]> {
    return this.#search({ by: 'css', selector });
  }

  findAllByRole(role: string, name?: TextMatch): Promise<PageElement[]> {
    return this.#search({ by: 'role', role, name });
  }

  findAllByText(text: TextMatch): Promise<PageElement[]> {
    return this.#search({ by: 'text', text });
  }

  /** Whether an element matches now. */
  async has(selector: string): Promise<boolean> {
    return (await this.findAll(selector)).length > 0;
  }

  async #findOne(query: Query): Promise<PageElement> {
    const found = await waitFor(describeQuery(query), async () => {
      const elements = await this.#search(query);
      return elements.length > 0 && elements;
    });
    const [only, ...others] = found;
    if (only && others.length === 0) return only;
    throw new Error(`${found.length} elements match ${describeQuery(query)}`);
  }

  async #search(query: Query): Promise<PageElement[]> {
    const id = this.#elementId;
    const root = id === undefined ? null : new PageElement(this.session, id);
    const found = await this.session.runForElements(findInPage, [root, toPageQuery(query)]);
    return found.map((id) => new PageElement(this.session, id));
  }
}

export class PageElement extends Scope {
  readonly #id: string;

  constructor(session: Session, id: string) {
    super(session, id);
    this.#id = id;
  }

  /** The rendered text, without hidden elements. */
  text(): Promise<string> {
    return this.#get('text');
  }

  /** The attribute as written in the page; null if it is missing. */
  attribute(name: string): Promise<string | null> {
    return this.session.run((element: Element, name: string) => element.getAttribute(name),
      [this, name]);
  }

  /** The current value of a control. */
  value(): Promise<string> {
    return this.#get('property/value');
  }

  isChecked(): Promise<boolean> {
    return this.#get('property/checked');
  }

  isEnabled(): Promise<boolean> {
    return this.#get('enabled');
  }

  isDisplayed(): Promise<boolean> {
    return this.#get('displayed');
  }

  /** The accessible name, as the browser computes it. */
  async label(): Promise<string> {
    const label: string = await this.#get('computedlabel');
    return label.trim(); // some releases of Chromium keep the space beside a control
  }

  /** A computed style, such as `style('background-color')`. */
  style(property: string): Promise<string> {
    return this.#get(`css/${property}`);
  }

  /** Clicks the middle of the element, without waiting for the effect. */
  async click(): Promise<void> {
    // WebDriver considers an element under a sticky header to be in view.
    await this.session.run((element: Element) =>
      element.scrollIntoView({ block: 'nearest', behavior: 'instant' }), [this]);
    await this.#act('click');
  }

  /** Clicks a link or a button, and waits for the next page. */
  follow(): Promise<void> {
    return openNextPage(this.session, () => this.click());
  }

  /** Types after the current content. */
  type(text: string): Promise<void> {
    return this.#act('value', { text });
  }

  /** Replaces the current content. */
  async fill(text: string): Promise<void> {
    await this.#act('clear');
    await this.type(text);
  }

  /** Chooses the option with this text in a `<select>`. */
  async choose(option: string): Promise<void> {
    const options = await this.findAll('option');
    const texts = await Promise.all(options.map((each) => each.text()));
    const chosen = options[texts.indexOf(option)];
    if (!chosen) throw new Error(`No option ${option}, only ${texts.join(', ')}`);
    await chosen.click();
  }

  /** Gives files to an `<input type="file">`; the paths are absolute. */
  upload(...paths: readonly string[]): Promise<void> {
    return this.type(paths.join('\n'));
  }

  /** The reference that is sent to the browser. */
  toJSON(): ElementReference {
    return makeReference(this.#id);
  }

  #get(what: string): Promise<any> {
    return this.session.command('GET', `/element/${this.#id}/${what}`);
  }

  #act(what: string, parameters?: object): Promise<any> {
    return this.session.command('POST', `/element/${this.#id}/${what}`, parameters);
  }
}

/** Does what opens another page, and waits for it. */
export async function openNextPage(
  session: Session, action: () => Promise<void>,
): Promise<void> {
  const { openedAt } = await session.run(readPage, []);
  await action();
  await waitForPage(session, openedAt);
}

/**
 * Waits until a page is loaded and has focused its `autofocus` element. The page opened at
 * `previous`, if given, does not count.
 */
export async function waitForPage(session: Session, previous?: number): Promise<void> {
  await waitFor('the next page', async () => {
    const { openedAt, isReady } = await session.run(readPage, []);
    return isReady && openedAt !== previous;
  });
}

/**
 * Runs in the page. The time it was opened identifies it, because no two are opened at once. The
 * browser focuses an `autofocus` element only when it renders the page, which may be after the load
 * event, and never in a page with a fragment (HTML, section 6.6.7).
 */
function readPage() {
  const isFocused = document.activeElement !== document.body || location.hash !== ''
    || document.querySelector('[autofocus]') === null;
  return {
    openedAt: performance.timeOrigin,
    isReady: document.readyState === 'complete' && isFocused,
  };
}
