const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  shy: '',
  zwnj: '',
  copy: '©',
  reg: '®',
  euro: '€',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  middot: '·',
  laquo: '«',
  raquo: '»',
  deg: '°',
  times: '×',
  rarr: '→',
  larr: '←',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
};

/** Elements that begin and end a line of their own. */
const blocks = new Set(
  'address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol p pre section table td th tr ul'.split(
    ' ',
  ),
);
/** Elements whose content is not text. */
const hidden = new Set(['style', 'script', 'title', 'template', 'noscript']);

function decodeEntities(text: string): string {
  return text.replace(/&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});/gi, (match, entity: string) => {
    if (!entity.startsWith('#')) return Object.hasOwn(named, entity) ? (named[entity] ?? match) : match;
    const code = /^#x/i.test(entity) ? parseInt(entity.slice(2), 16) : parseInt(entity.slice(1), 10);
    const unusable = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
    return unusable ? '\ufffd' : String.fromCodePoint(code);
  });
}

/** Addresses a person may follow; those of scripts and of parts of a mail lead nowhere. */
const followable = /^(?:https?:\/\/|mailto:|tel:)[^\s<>]+$/i;
/** Characters of a start tag that are looked at for one. */
const longestTag = 4000;

/** An attribute of a start tag; empty where it has none. */
function attributeOf(tag: string, name: string): string {
  const pattern = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i');
  const [, double, single, bare] = pattern.exec(tag) ?? [];
  return decodeEntities(double ?? single ?? bare ?? '').trim();
}

/** What stands behind the words of a link; empty where they name its address themselves. */
function behindWords(words: string, address: string): string {
  const shown = address.replace(/^(?:mailto|tel):/i, '');
  const bare = (text: string): string => text.trim().replace(/\/$/, '').toLowerCase();
  if (bare(words) === bare(shown) || bare(words) === bare(address)) return '';
  return words.trim() === '' ? shown : `(${shown})`;
}

/**
 * The text of an HTML body as a person would type it: markup gone, one line a block, list items as `- a`. With `links` the
 * address of a link stands in brackets behind its words. Reads the source once from left to right, so that a hostile one
 * costs no more than its length.
 */
export function htmlToText(html: string, { links = false }: { readonly links?: boolean } = {}): string {
  const lines: string[] = [];
  let line = '';
  let link: { readonly address: string; words: string } | undefined;
  /** Addresses that stand in the text: a picture that leads to one of them need not name it again. */
  const told = new Set<string>();
  const breakLine = (always = false): void => {
    const text = line.trim();
    if (text !== '' || always) lines.push(text);
    line = '';
  };
  const endLink = (): void => {
    if (link === undefined) return;
    const { address, words } = link;
    link = undefined;
    const behind = behindWords(words, address);
    if (behind !== '' && !(words.trim() === '' && told.has(address))) {
      // Words in blocks of their own have ended their line.
      const isEnded = line.trim() === '' && words.trim() !== '' && lines.length > 0;
      const before = isEnded ? (lines.pop() ?? '') : line.trimEnd();
      const after = isEnded || !/\s$/.test(line) ? '' : ' ';
      line = `${before === '' ? '' : `${before} `}${behind}${after}`;
      if (isEnded) breakLine();
    }
    told.add(address);
  };
  let position = 0;
  // Once no ">" is left there is no more tag, and looking again would cost the rest of the text each time.
  let unclosed = false;
  while (position < html.length) {
    const open = html.indexOf('<', position);
    const text = html.slice(position, open === -1 ? undefined : open);
    const words = decodeEntities(text.replace(/\s+/g, ' '));
    line += words;
    if (link !== undefined) link.words += words;
    if (open === -1) break;
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open + 4);
      position = end === -1 ? html.length : end + 3;
      continue;
    }
    const name = /^<\/?([a-z][a-z0-9]*)/i.exec(html.slice(open, open + 40))?.[1]?.toLowerCase();
    const markup: boolean = !unclosed && (name !== undefined || html[open + 1] === '!');
    const close: number = markup ? html.indexOf('>', open) : -1;
    unclosed ||= markup && close === -1;
    if (close === -1) {
      // No tag, just a "less than".
      line += '<';
      position = open + 1;
      continue;
    }
    position = close + 1;
    if (name === undefined) continue;
    const closing = html[open + 1] === '/';
    if (links && name === 'a') {
      endLink();
      const address = closing ? '' : attributeOf(html.slice(open, close).slice(0, longestTag), 'href');
      if (followable.test(address)) link = { address, words: '' };
    } else if (link !== undefined && name === 'img') {
      const words = attributeOf(html.slice(open, close).slice(0, longestTag), 'alt');
      line += words;
      link.words += words;
    } else if (hidden.has(name) && !closing) {
      const end = new RegExp(`</${name}`, 'gi');
      end.lastIndex = position;
      position = end.exec(html)?.index ?? html.length;
    } else if (name === 'br') {
      breakLine(line.trim() !== '');
    } else if (blocks.has(name)) {
      breakLine();
      if (name === 'li' && !closing) line = '- ';
    }
  }
  endLink();
  breakLine();
  return lines.join('\n').trim();
}
