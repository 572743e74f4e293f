/** Elements of the page: finding them, reading them, and acting on them as a user does. */
import { describeQuery, findInPage, type Query, type TextMatch, toPageQuery } from './query.ts';
import { type ElementReference, makeReference, type Session } from './session.ts';
import { waitFor } from './wait.ts';

/** What elements are looked for in: the whole page, or one element. */
export class Scope {
  readonly session: Session;
  readonly #elementId: string | undefined;

  constructor(session: Session, elementId?: string) {
    this.session = session;
    this.#elementId = elementId;
  }

  /** The one element that matches, as soon as there is one. Throws after 10 s, or for several. */
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

  /** All that match now, in the order of the document; none is no error. */
  findAll(selector: string): Promise<PageElement[]> {
    return this.#search({ by: 'css', selector });
  }

  findAllByRole(role: string, name?: TextMatch): Promise<PageElement[]> {
    return this.#search({ by: 'role', role, name });
  }

  findAllByText(text: TextMatch): Promise<PageElement[]> {
    return this.#search({ by: 'text', text });
  }

  /** Whether anything matches now. */
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

  /** The text as it is rendered; what is hidden is left out. */
  text(): Promise<string> {
    return this.#get('text');
  }

  /** The attribute as it is written in the page; null where there is none. */
  attribute(name: string): Promise<string | null> {
    return this.session.run((element: Element, name: string) => element.getAttribute(name),
      [this, name]);
  }

  /** What a control holds now. */
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
  label(): Promise<string> {
    return this.#get('computedlabel');
  }

  /** A computed style, such as `style('background-color')`. */
  style(property: string): Promise<string> {
    return this.#get(`css/${property}`);
  }

  /** Clicks the middle of the element; what comes of it may take a moment. */
  async click(): Promise<void> {
    // WebDriver takes for in view what lies under a header that stays at the top.
    await this.session.run((element: Element) =>
      element.scrollIntoView({ block: 'nearest', behavior: 'instant' }), [this]);
    await this.#act('click');
  }

  /** Clicks a link or a button, and waits until the page that it leads to is loaded. */
  async follow(): Promise<void> {
    const before = await this.session.run(identifyPage, []);
    await this.click();
    await waitFor('the next page', async () => {
      const now = await this.session.run(identifyPage, []);
      return now.isLoaded && now.openedAt !== before.openedAt;
    });
  }

  /** Types behind what is there. */
  type(text: string): Promise<void> {
    return this.#act('value', { text });
  }

  /** Types in place of what is there. */
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

  /** How it is sent to the browser. */
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

/** Runs in the page. No two pages are opened at the same moment. */
function identifyPage() {
  return { openedAt: performance.timeOrigin, isLoaded: document.readyState === 'complete' };
}
