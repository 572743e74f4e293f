/**
 * Parses the XML 1.0 that workbooks have: elements, attributes, text, CDATA, character references
 * and the five named entities, in UTF-8 or UTF-16. A document type is rejected, so there are no
 * other entities, and nothing is ever fetched. Elements with the prefix of the root are those of
 * the document's own namespace; others keep their prefix, so `x14:c` is never taken for `c`.
 */
import { decodeText } from '../decode.ts';
import { WORKBOOK_NESTING_LIMIT, WORKBOOK_TOKEN_LIMIT_CHARACTERS } from './limits.ts';
import { damaged } from './zip.ts';

export interface XmlHandler {
  /** An element begins in `parent`. Returns `skip` to read nothing before its end tag. */
  open(name: string, parent: string, attributes: string): 'skip' | undefined | void;
  /** An element ends. The text is blank unless it is one of text. */
  close?(name: string, parent: string, text: string): void;
}

/** Nearly all tags. No value has a `=`, so that a name and a `=` can be found as text. */
const TAG = /<(\/?)([\w:.-]+)((?: [\w:.-]+="[^"<=]*")*)(\/?)>/y;
const NAME = String.raw`[^\s<>"'/=!?]+`;
const ATTRIBUTE = String.raw`\s+(${NAME})\s*=\s*(?:"([^<"]*)"|'([^<']*)')`;
const ATTRIBUTES = new RegExp(ATTRIBUTE, 'g');
const OTHER = String.raw`<!--[^]*?-->|<\?[^]*?\?>|<!\[CDATA\[[^]*?\]\]>`;
/** A tag in any form, or a mark that is none. */
const MARK = new RegExp(String.raw`<(/?)(${NAME})((?:${
  ATTRIBUTE.replaceAll(/\((?!\?)/g, '(?:')})*)\s*(/?)>|${OTHER}`, 'y');
const CDATA = '<![CDATA[';
const REFERENCE = /&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos));|&/g;
const ENTITIES = new Map([['amp', '&'], ['lt', '<'], ['gt', '>'], ['quot', '"'], ['apos', "'"]]);

/**
 * Parses a document, and yields after each chunk when the handler has seen its elements.
 * @throws AppError `invalid_data`
 */
export async function* parseXml(
  chunks: AsyncIterable<Uint8Array>, handler: XmlHandler,
): AsyncGenerator<void, void, void> {
  const parser = new XmlParser(handler);
  for await (const text of decodeText(chunks)) {
    if (typeof text !== 'string') throw notXml();
    parser.write(text);
    yield;
  }
  parser.end();
}

/** The value of an attribute, whose name has its prefix. */
export function readAttribute(attributes: string, name: string): string | undefined {
  const start = attributes.indexOf(` ${name}="`);
  if (start < 0) return undefined;
  const from = start + name.length + ' =""'.length - 1;
  return decodeReferences(attributes.slice(from, attributes.indexOf('"', from)));
}

class XmlParser {
  readonly #handler: XmlHandler;
  /** Of open elements, as the handler gets them; the document has none. */
  readonly #names: string[] = [''];
  /** The prefix of the root, with its colon; undefined before it. */
  #prefix: string | undefined;
  #rest = '';
  /** What comes before this end tag is skipped. */
  #skippedTo: string | undefined;
  /** The text of an open element of text. */
  #text: string | undefined;

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  /** A mark that is not complete waits for more text; one that is not valid waits for a limit. */
  write(chunk: string): void {
    const text = this.#rest + chunk;
    let at = 0;
    for (;;) {
      const start = text.indexOf(this.#skippedTo ?? '<', at);
      const mark = start < 0 ? undefined : this.#findMark(text, start);
      if (!mark) {
        // An end tag that has not arrived may have begun.
        const skippedTo = start < 0 ? text.length - (this.#skippedTo?.length ?? 0) : start;
        if (this.#skippedTo !== undefined) at = Math.max(at, skippedTo);
        break;
      }
      if (this.#text !== undefined) this.#addText(text.slice(at, start));
      at = start + (mark[0] ?? '').length;
      this.#take(mark);
    }
    this.#rest = text.slice(at);
    if (this.#rest.length > WORKBOOK_TOKEN_LIMIT_CHARACTERS) throw notXml();
  }

  end(): void {
    const isComplete = this.#prefix !== undefined && this.#names.length === 1;
    if (!isComplete || this.#rest.trim() !== '') throw notXml();
  }

  /** The mark at this place, with attributes in the form of `TAG`. */
  #findMark(text: string, at: number): readonly (string | undefined)[] | null {
    TAG.lastIndex = MARK.lastIndex = at;
    const tag = TAG.exec(text);
    const mark = tag ?? MARK.exec(text);
    if (tag || !mark?.[3]) return mark;
    const [all, slash, name, attributes, empty] = mark;
    const plain = attributes.replace(ATTRIBUTES, (_, key, double?: string, single?: string) => {
      const value = (double ?? single ?? '').replaceAll('"', '&quot;').replaceAll('=', '&#61;');
      return ` ${key}="${value}"`;
    });
    return [all, slash, name, plain, empty];
  }

  #take([mark = '', slash, tag, attributes = '', empty]: readonly (string | undefined)[]): void {
    if (slash === '/') {
      if (attributes + empty !== '' || this.#nameOf(tag) !== this.#names.at(-1)) throw notXml();
      this.#close();
    } else if (tag !== undefined) this.#open(tag, attributes, empty !== '');
    else if (this.#text !== undefined && mark.startsWith(CDATA)) {
      this.#text += mark.slice(CDATA.length, -']]>'.length);
    }
  }

  #open(tag: string, attributes: string, isEmpty: boolean): void {
    const isSecondRoot = this.#prefix !== undefined && this.#names.length === 1;
    const isTooDeep = this.#names.length > WORKBOOK_NESTING_LIMIT;
    if (isSecondRoot || isTooDeep || this.#text !== undefined) throw notXml();
    this.#prefix ??= tag.slice(0, tag.indexOf(':') + 1);
    const name = this.#nameOf(tag);
    const reading = this.#handler.open(name, this.#names.at(-1) ?? '', attributes);
    this.#names.push(name);
    // Those of ECMA-376 part 1 that have values; they have no children.
    if (name === 't' || name === 'v') this.#text = '';
    if (isEmpty) this.#close();
    else if (reading === 'skip') this.#skippedTo = `</${tag}`;
  }

  #nameOf(tag = ''): string {
    const prefix = this.#prefix ?? '';
    return tag.startsWith(prefix) ? tag.slice(prefix.length) : `:${tag}`;
  }

  #close(): void {
    this.#skippedTo = undefined;
    const name = this.#names.pop() ?? '';
    this.#handler.close?.(name, this.#names.at(-1) ?? '', this.#text ?? '');
    this.#text = undefined;
  }

  #addText(text: string): void {
    // Line breaks as they were typed are references, which stay as they are.
    const normal = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    this.#text = (this.#text ?? '') + decodeReferences(normal);
    if (this.#text.length > WORKBOOK_TOKEN_LIMIT_CHARACTERS) throw notXml();
  }
}

function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (_, decimal?: string, hex?: string, name?: string) => {
    const code = decimal === undefined ? parseInt(hex ?? '0', 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    const character = isCharacter ? String.fromCodePoint(code) : ENTITIES.get(name ?? '');
    if (character === undefined) throw notXml();
    return character;
  });
}

function notXml(): Error {
  return damaged('a part of it is not XML in UTF-8');
}
