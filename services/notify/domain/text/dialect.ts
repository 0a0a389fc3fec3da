import { convert, type FormatCallback, type SelectorDefinition } from 'html-to-text';

type Delimiters = readonly [before: string, after: string];

/** Markup of one program for the elements of HTML. Pairs are put before and after the marked text. */
export interface Dialect {
  /** Characters with a meaning in the markup, and their replacements. */
  readonly encode: Readonly<Record<string, string>>;
  /** The same within code. */
  readonly encodeCode: Readonly<Record<string, string>>;
  readonly bold: Delimiters;
  readonly italic: Delimiters;
  readonly strike: Delimiters;
  readonly code: Delimiters;
  readonly block: Delimiters;
  readonly heading: (level: number) => Delimiters;
  readonly item: string;
  /** Number of line breaks between paragraphs. */
  readonly gap: number;
  readonly link: (url: string) => Delimiters;
}

type Element = Parameters<FormatCallback>[0];
const noDelimiters: Delimiters = ['', ''];

/** Maximum nesting depth; deeper elements are omitted. */
const maxDepth = 40;
/** Allowed link addresses; others, such as `javascript:`, lose the link and keep their text. */
const allowedLink = /^(https?:|mailto:|tel:)[^\s<>"|]+$/i;
const levels = [1, 2, 3, 4, 5, 6];

/** Converts HTML to a dialect. Text is escaped; only markup of the dialect is produced. */
export function renderHtml(html: string, dialect: Dialect): string {
  const { gap } = dialect;
  const inline = (getPair: (element: Element) => Delimiters): FormatCallback => {
    return (element, walk, builder) => {
      const [before, after] = getPair(element);
      builder.addLiteral(before);
      walk(element.children, builder);
      builder.addLiteral(after);
    };
  };
  const block = ([before, after]: Delimiters): FormatCallback => {
    return (element, walk, builder) => {
      builder.openBlock({ leadingLineBreaks: gap });
      builder.addLiteral(before);
      walk(element.children, builder);
      builder.addLiteral(after);
      builder.closeBlock({ trailingLineBreaks: gap });
    };
  };
  const literal = (element: Element): string => replaceAll(extractText(element), dialect.encodeCode);
  const formatters: Record<string, FormatCallback> = {
    bold: inline(() => dialect.bold),
    italic: inline(() => dialect.italic),
    strike: inline(() => dialect.strike),
    link: inline(({ attribs }: { attribs?: { href?: string } }) => {
      const url = attribs?.href?.trim() ?? '';
      return allowedLink.test(url) ? dialect.link(url) : noDelimiters;
    }),
    code: (element, _walk, builder) => builder.addLiteral(dialect.code.join(literal(element))),
    pre: (element, _walk, builder) => {
      builder.openBlock({ leadingLineBreaks: gap });
      builder.addLiteral(dialect.block.join(literal(element).trimEnd()));
      builder.closeBlock({ trailingLineBreaks: gap });
    },
    paragraph: block(noDelimiters),
    picture: ({ attribs }: { attribs?: { alt?: string } }, _walk, builder) => builder.addInline(attribs?.alt ?? ''),
    ...Object.fromEntries(levels.map((level) => [`h${level}`, block(dialect.heading(level))])),
  };
  const breaks = { leadingLineBreaks: gap, trailingLineBreaks: gap };
  const selectors: SelectorDefinition[] = [
    ...select('bold', 'b', 'strong'),
    ...select('italic', 'i', 'em'),
    ...select('strike', 's', 'del', 'strike'),
    ...select('code', 'code', 'tt', 'kbd', 'samp'),
    ...select('link', 'a'),
    ...select('paragraph', 'p'),
    ...select('pre', 'pre'),
    ...select('picture', 'img'),
    ...select('skip', 'style', 'script', 'title', 'template', 'noscript', 'head'),
    ...levels.flatMap((level) => select(`h${level}`, `h${level}`)),
    { selector: 'ul', options: { itemPrefix: dialect.item, ...breaks } },
    { selector: 'ol', options: breaks },
    { selector: 'blockquote', options: breaks },
    { selector: 'hr', format: 'lineBreak' },
  ];
  const limits = { maxDepth, ellipsis: '…' };
  const encodeCharacters = { ...dialect.encode };
  return convert(html, { wordwrap: false, encodeCharacters, formatters, selectors, limits }).trim();
}

function select(format: string, ...names: readonly string[]): SelectorDefinition[] {
  return names.map((selector) => ({ selector, format }));
}

function extractText(element: Element, depth = 0): string {
  if (element.type === 'text') return element.data ?? '';
  return depth > maxDepth ? '' : (element.children ?? []).map((child) => extractText(child, depth + 1)).join('');
}

function replaceAll(text: string, marks: Readonly<Record<string, string>>): string {
  return [...text].map((character) => marks[character] ?? character).join('');
}
