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

/**
 * The text of an HTML body as a person would type it: markup gone, one line a block, list items as `- a`. Reads the
 * source once from left to right, so that a hostile one costs no more than its length.
 */
export function htmlToText(html: string): string {
  const lines: string[] = [];
  let line = '';
  const breakLine = (always = false): void => {
    const text = line.trim();
    if (text !== '' || always) lines.push(text);
    line = '';
  };
  let position = 0;
  // Once no ">" is left there is no more tag, and looking again would cost the rest of the text each time.
  let unclosed = false;
  while (position < html.length) {
    const open = html.indexOf('<', position);
    const text = html.slice(position, open === -1 ? undefined : open);
    line += decodeEntities(text.replace(/\s+/g, ' '));
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
    if (hidden.has(name) && !closing) {
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
  breakLine();
  return lines.join('\n').trim();
}
