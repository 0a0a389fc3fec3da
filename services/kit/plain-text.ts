import { Tokenizer } from 'htmlparser2';

/** Elements that begin and end on their own line. */
const blocks = new Set(
  (
    'address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 head header hr ' +
    'html li listing main nav ol p pre section table td textarea th tr ul xmp'
  ).split(' '),
);
/** Elements that preserve the lines of their text. */
const preformatted = new Set(['pre', 'listing', 'textarea', 'xmp']);
const preformattedStyle = /(?:^|;)\s*white-space\s*:\s*(?:pre|break-spaces)/i;
/** Elements whose content is not text. */
const invisible = new Set(['style', 'script', 'title', 'template', 'noscript']);
/** Elements without content, which have no end tag. */
const empty = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

/** Addresses that a user can open; excludes scripts and references to other parts of a mail. */
const openableUrl = /^(?:https?:\/\/|mailto:|tel:)[^\s<>]+$/i;
/** Maximum length of an attribute value; the rest is ignored. */
const maxAttributeLength = 4000;
const maxQuoteDepth = 8;

/** Returns the text to append to a link's text; empty when the link's text is its address. */
function formatAddress(linkText: string, address: string): string {
  const visible = address.replace(/^(?:mailto|tel):/i, '');
  const normalize = (text: string): string => text.trim().replace(/\/$/, '').toLowerCase();
  if (normalize(linkText) === normalize(visible) || normalize(linkText) === normalize(address)) return '';
  return linkText.trim() === '' ? visible : `(${visible})`;
}

/** Collects the lines of a text. */
class LineWriter {
  readonly #lines: string[] = [];
  #line = '';
  #link: { readonly address: string; words: string } | undefined;
  #isVerbatimLine = false;
  #quoteDepth = 0;
  /** Addresses that the text already contains: an image that links to one of them does not repeat it. */
  readonly #addresses = new Set<string>();

  /** `verbatim` preserves the white space at the beginning of the line. */
  add(text: string, { verbatim = false }: { readonly verbatim?: boolean } = {}): void {
    if (verbatim) this.#isVerbatimLine = true;
    this.#line += text;
    if (this.#link !== undefined) this.#link.words += text;
  }

  startItem(): void {
    this.#line = '- ';
  }

  get isInLink(): boolean {
    return this.#link !== undefined;
  }

  /** Ends the line; `always` preserves an empty line, `verbatim` preserves leading white space. */
  breakLine({
    always = false,
    verbatim = false,
  }: { readonly always?: boolean; readonly verbatim?: boolean } = {}): void {
    const text = verbatim || this.#isVerbatimLine ? this.#line.trimEnd() : this.#line.trim();
    const mark = '> '.repeat(Math.min(this.#quoteDepth, maxQuoteDepth));
    if (text !== '' || always) this.#lines.push(`${mark}${text}`.trimEnd());
    this.#line = '';
    this.#isVerbatimLine = false;
  }

  changeQuoteDepth(by: number): void {
    this.#quoteDepth = Math.max(0, this.#quoteDepth + by);
  }

  startLink(address: string): void {
    if (openableUrl.test(address)) this.#link = { address, words: '' };
  }

  endLink(): void {
    if (this.#link === undefined) return;
    const { address, words: linkText } = this.#link;
    this.#link = undefined;
    const addition = formatAddress(linkText, address);
    if (addition !== '' && !(linkText.trim() === '' && this.#addresses.has(address))) {
      // Block elements within the link have already ended its line.
      const isEnded = this.#line.trim() === '' && linkText.trim() !== '' && this.#lines.length > 0;
      const before = isEnded ? (this.#lines.pop() ?? '') : this.#line.trimEnd();
      const after = isEnded || !/\s$/.test(this.#line) ? '' : ' ';
      this.#line = `${before === '' ? '' : `${before} `}${addition}${after}`;
      if (isEnded) this.#lines.push(this.#line);
      if (isEnded) this.#line = '';
    }
    this.#addresses.add(address);
  }

  finish(): string {
    this.endLink();
    this.breakLine();
    return this.#lines.join('\n').replace(/^\n+/, '').trimEnd();
  }
}

interface HtmlOptions {
  /** Appends the address of a link in brackets to its text. */
  readonly links?: boolean;
}

/** Converts the tokens of an HTML source to lines without building a tree, so that the cost is linear in the source. */
class TextReader {
  readonly #html: string;
  readonly #links: boolean;
  readonly #showHidden: boolean;
  readonly #writer = new LineWriter();
  readonly #attributes = new Map<string, string>();
  #attribute = '';
  #value = '';
  #element = '';
  #preDepth = 0;
  /** Element whose style preserves lines, with the number of open elements of the same name. */
  #styled: { readonly name: string; depth: number } | undefined;
  /** A newline right after `<pre>` is not part of its text. */
  #isPreStart = false;
  /** Current hidden element, with the number of open elements of the same name. */
  #hidden: { readonly name: string; depth: number } | undefined;

  constructor(html: string, { links, showHidden }: { readonly links: boolean; readonly showHidden: boolean }) {
    this.#html = html;
    this.#links = links;
    this.#showHidden = showHidden;
  }

  /** Returns the text; `isComplete` is false when a hidden element was never closed. */
  read(): { readonly text: string; readonly isComplete: boolean } {
    const ignore = (): void => undefined;
    const tokenizer = new Tokenizer(
      { decodeEntities: true },
      {
        onattribname: (start, end) => this.#startAttribute(this.#html.slice(start, end)),
        onattribdata: (start, end) => this.#addToAttribute(this.#html.slice(start, end)),
        onattribentity: (code) => this.#addToAttribute(String.fromCodePoint(code)),
        onattribend: () => this.#attributes.set(this.#attribute, this.#value),
        onopentagname: (start, end) => this.#startElement(this.#html.slice(start, end)),
        onopentagend: () => this.#open(),
        onselfclosingtag: () => this.#open(),
        onclosetag: (start, end) => this.#close(this.#html.slice(start, end).toLowerCase()),
        ontext: (start, end) => this.#addText(this.#html.slice(start, end)),
        ontextentity: (code) => this.#addText(String.fromCodePoint(code)),
        oncdata: (start, end, offset) => this.#addText(this.#html.slice(start, end - offset)),
        oncomment: ignore,
        ondeclaration: ignore,
        onprocessinginstruction: ignore,
        onend: ignore,
      },
    );
    tokenizer.write(this.#html);
    tokenizer.end();
    return { text: this.#writer.finish(), isComplete: this.#hidden === undefined || invisible.has(this.#hidden.name) };
  }

  #startElement(name: string): void {
    this.#element = name.toLowerCase();
    this.#attributes.clear();
  }

  #startAttribute(name: string): void {
    this.#attribute = name.toLowerCase();
    this.#value = '';
  }

  #addToAttribute(text: string): void {
    if (this.#value.length < maxAttributeLength) this.#value += text;
  }

  #isHidden(name: string): boolean {
    if (invisible.has(name)) return true;
    if (this.#showHidden || empty.has(name)) return false;
    const style = this.#attributes.get('style') ?? '';
    return this.#attributes.has('hidden') || /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
  }

  #open(): void {
    const name = this.#element;
    if (this.#hidden !== undefined) {
      // A paragraph ends where the next block begins; its end tag may be left out.
      if (this.#hidden.name === 'p' && blocks.has(name)) this.#hidden = undefined;
      else {
        if (this.#hidden.name === name && !invisible.has(name)) this.#hidden.depth += 1;
        return;
      }
    }
    if (this.#isHidden(name)) this.#hidden = { name, depth: 1 };
    else this.#openVisible(name);
  }

  get #isVerbatim(): boolean {
    return this.#preDepth > 0 || this.#styled !== undefined;
  }

  #openStyled(name: string): void {
    if (this.#styled?.name === name) this.#styled.depth += 1;
    else if (
      this.#styled === undefined &&
      !empty.has(name) &&
      preformattedStyle.test(this.#attributes.get('style') ?? '')
    )
      this.#styled = { name, depth: 1 };
  }

  #openVisible(name: string): void {
    const writer = this.#writer;
    this.#openStyled(name);
    if (name === 'a' && this.#links) {
      writer.endLink();
      writer.startLink((this.#attributes.get('href') ?? '').trim());
    } else if (name === 'img') {
      if (writer.isInLink) writer.add((this.#attributes.get('alt') ?? '').trim());
    } else if (name === 'br') writer.breakLine({ always: this.#isVerbatim, verbatim: this.#isVerbatim });
    else if (blocks.has(name)) {
      writer.breakLine();
      if (name === 'li') writer.startItem();
      if (name === 'blockquote') writer.changeQuoteDepth(1);
      if (preformatted.has(name)) this.#preDepth += 1;
      this.#isPreStart = preformatted.has(name);
      if (name === 'hr') {
        writer.add('---');
        writer.breakLine();
      }
    }
  }

  #close(name: string): void {
    if (this.#hidden !== undefined) {
      if (this.#hidden.name === name && (this.#hidden.depth -= 1) === 0) this.#hidden = undefined;
      return;
    }
    if (name === 'a' && this.#links) this.#writer.endLink();
    else if (blocks.has(name) && name !== 'hr') {
      this.#writer.breakLine({ verbatim: this.#isVerbatim });
      if (name === 'blockquote') this.#writer.changeQuoteDepth(-1);
      if (preformatted.has(name)) this.#preDepth = Math.max(0, this.#preDepth - 1);
    }
    if (this.#styled?.name === name && (this.#styled.depth -= 1) === 0) this.#styled = undefined;
  }

  #addText(text: string): void {
    if (this.#hidden !== undefined) return;
    // Soft hyphens and joiners only mark possible line breaks.
    const visible = text.replace(/[\u00ad\u200b\u200c\ufeff]/g, '');
    if (!this.#isVerbatim) return this.#writer.add(visible.replace(/\s+/g, ' '));
    const lines = visible.split(/\r\n|\n|\r/);
    if (this.#isPreStart && lines.length > 1 && lines[0] === '') lines.shift();
    this.#isPreStart = false;
    for (const [index, line] of lines.entries()) {
      if (index > 0) this.#writer.breakLine({ always: true, verbatim: true });
      this.#writer.add(line, { verbatim: true });
    }
  }
}

/** Escapes opening brackets after the last closing one: they do not begin a tag and would hide the remaining text. */
function escapeUnclosed(html: string): string {
  const end = html.lastIndexOf('>') + 1;
  const tail = html.slice(end);
  return !tail.includes('<') || tail.includes('<!--') ? html : html.slice(0, end) + tail.replaceAll('<', '&lt;');
}

/**
 * Converts an HTML body to plain text: one line per block, list items as `- a`, quotations after `> `, preformatted
 * text unchanged. Hidden elements are omitted unless nothing else remains.
 */
export function htmlToText(html: string, { links = false }: HtmlOptions = {}): string {
  const source = escapeUnclosed(html);
  const { text, isComplete } = new TextReader(source, { links, showHidden: false }).read();
  if (isComplete && text !== '') return text;
  return new TextReader(source, { links, showHidden: true }).read().text;
}
